// Time against money, energy or bytes. Points that no other point beats in both form the Pareto front; all others are
// pale.

/** Of points {x, y}, those with no other that is at most as far in both and less in one; by x. */
function paretoFront(points) {
  const front = [];
  for (const point of [...points].sort((a, b) => a.x - b.x || a.y - b.y)) {
    const last = front[front.length - 1];
    if (!last || point.y < last.y || (point.x === last.x && point.y === last.y)) front.push(point);
  }
  return front;
}

function addFront(sweep, section) {
  const time = sweep.figures.find((figure) => figure.decides);
  const until = time?.name === "scale_seconds" ? "at_scale" : "to_target";
  const takes = [`money_${until}`, `joules_${until}`, "total_bytes"]
    .map((name) => sweep.figures.find((figure) => figure.name === name))
    .filter(Boolean);
  if (!time || takes.length === 0) return;
  const state = { takes: takes[0], logX: true, logY: true };
  const place = sweep.axes.map(() => null);

  const candidates = () =>
    sweep.points
      .filter((point) => sweep.axes.every(({ index }) => place[index] === null || place[index] === point.at[index]))
      .flatMap((point) =>
        sweep.runs
          .filter((run) => run.communicates || !sweep.runs.some((one) => one.communicates))
          .map((run) => ({
            run,
            point,
            x: sweep.figure(point, run.index, time.name)?.value,
            y: sweep.figure(point, run.index, state.takes.name)?.value,
          })),
      )
      .filter(({ x, y }) => isNumber(x) && isNumber(y))
      .map((one) => ({
        ...one,
        text: [
          placeText(sweep, one.point.at),
          `${time.title} ${time.text(one.x)}, ${state.takes.title} ${state.takes.text(one.y)}`,
        ],
      }));
  const settings = () => {
    const all = candidates();
    const order = paretoFront(all);
    const front = new Set(order);
    const scatter = (pale) =>
      sweep.runs
        .map((run) => ({
          label: run.label,
          mark: sweep.marks[run.index],
          scattered: true,
          pale,
          points: all.filter((one) => one.run === run && front.has(one) !== pale),
        }))
        .filter((line) => line.points.length > 0);
    return {
      // Draws earlier lines over later ones.
      lines: [
        ...scatter(false),
        {
          label: "front",
          mark: { kind: "alone", index: 1, dash: [], marker: "circle" },
          points: order,
          stepped: true,
          bare: true,
        },
        ...scatter(true),
      ],
      x: { kind: time.kind, title: time.title, log: state.logX },
      y: { kind: state.takes.kind, title: state.takes.title, log: state.logY },
    };
  };
  const description = () => {
    const all = candidates();
    const front = paretoFront(all);
    const [first, last] = [front[0], front[front.length - 1]];
    if (!first) return "Nothing here has both.";
    const words = ({ run, x, y }) => `${run.label} (${time.text(x)}, ${state.takes.text(y)})`;
    const ends = first.x === last.x && first.y === last.y ? words(first) : `from ${words(first)} to ${words(last)}`;
    return `On the front of ${time.title} against ${state.takes.title}: ${humanCount(front.length)} of ${humanCount(all.length)}, ${ends}.`;
  };
  const controls = ({ set, change }) => [
    takes.length > 1
      ? selection(
          "Against",
          takes.map((one) => ({ value: one, text: one.title })),
          state.takes,
          set("takes"),
        )
      : null,
    ...sliders(sweep, [], place, change, true),
    logarithmic(checkbox("time", true, set("logX")), checkbox("upwards", true, set("logY"))),
  ].filter(Boolean);
  const makeTable = () =>
    table(
      "The front: what nothing beats in both, quickest first",
      [
        "run",
        ...numeric(sweep.axes.map(({ name }) => name)),
        ...numeric([time.title, state.takes.title]),
      ],
      paretoFront(candidates()).map(({ run, point, x, y }) => [
        runName(sweep, run),
        ...sweep.axes.map((axis) => axis.texts[point.at[axis.index]]),
        time.text(x),
        state.takes.text(y),
      ]),
    );
  const above = [
    lead(
      `Every run at every point, or at those chosen. Full colour: nothing else here is both quicker and takes less ` +
        `(the Pareto front). Pale: something is.`,
    ),
    element(
      "ul",
      { class: "key" },
      ...sweep.runs
        .filter((run) => run.communicates || !sweep.runs.some((one) => one.communicates))
        .map((run) => element("li", {}, runName(sweep, run))),
    ),
  ];
  steeredLines(section, above, { state, settings, description, controls, makeTable, says: true });
}
