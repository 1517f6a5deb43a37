// A figure along one axis, run by run, with bands over the seeds.

function addLines(sweep, section) {
  if (sweep.figures.length === 0 || sweep.axes.length === 0) return;
  const grid = sweep.result.sweep.grid;
  const place = middle(sweep);
  const valuesOf = (point, run) => sweep.figure(point, run.index, state.figure.name);
  const shown = new Set(sweep.runs);
  const logFor = (figure) => {
    const values = sweep.points.flatMap((point) =>
      sweep.runs.map((run) => sweep.figure(point, run.index, figure.name)?.value).filter((value) => value > 0),
    );
    return figure.kind !== "share" && values.length > 0 && Math.max(...values) / Math.min(...values) >= kSpreadForLog;
  };
  const state = {
    figure: sweep.figures.find((figure) => figure.decides) ?? sweep.figures[0],
    axis: axesForMap(sweep)[0],
  };
  state.logX = sweep.axes[state.axis].wide;
  state.logY = logFor(state.figure);

  /** The points that are drawn, along the axis. */
  const chosen = () => {
    const axis = sweep.axes[state.axis];
    if (!grid) return [...sweep.points].sort((a, b) => a.at[axis.index] - b.at[axis.index]);
    return axis.texts.map((_, i) => sweep.at(Object.assign([...place], { [axis.index]: i }))).filter(Boolean);
  };
  const settings = () => {
    const axis = sweep.axes[state.axis];
    return {
      lines: sweep.runs
        .filter((run) => shown.has(run))
        .map((run) => ({
          label: run.label,
          mark: sweep.marks[run.index],
          scattered: !grid || !axis.numeric,
          points: chosen()
            .map((point) => ({ point, estimate: valuesOf(point, run) }))
            .filter(({ estimate }) => estimate)
            .map(({ point, estimate }) => ({
              x: alongAxis(axis, point),
              y: estimate.value,
              low: grid ? estimate.low : null,
              high: grid ? estimate.high : null,
              text: [placeText(sweep, point.at), `${state.figure.title} ${withInterval(estimate, state.figure.text)}`],
            })),
        })),
      x: chartAxis(axis, state.logX),
      y: {
        kind: state.figure.kind,
        title: state.figure.title,
        log: state.logY,
        fromLeast: state.figure.kind === "share",
        most: state.figure.kind === "share" ? 1 : null,
      },
    };
  };
  const description = () => {
    const axis = sweep.axes[state.axis];
    const points = chosen();
    const ends = sweep.runs
      .filter((run) => shown.has(run))
      .map((run) => {
        const values = points.map((point) => valuesOf(point, run)?.value).filter(isNumber);
        return values.length === 0
          ? `${run.label} has none`
          : `${run.label} from ${state.figure.text(values[0])} to ${state.figure.text(values[values.length - 1])}`;
      });
    return `Lines: ${state.figure.title} along ${axis.name}. ${ends.join("; ")}.`;
  };

  const controls = ({ set, change }) => {
    const logs = {
      logX: checkbox("along", state.logX, set("logX")),
      logY: checkbox("upwards", state.logY, set("logY")),
    };
    const showLogs = () => {
      for (const name of Object.keys(logs)) logs[name].querySelector("input").checked = state[name];
      logs.logX.hidden = !sweep.axes[state.axis].numeric;
    };
    const places = element("span", { class: "controls" });
    const showSliders = () => places.replaceChildren(...(grid ? sliders(sweep, [state.axis], place, change) : []));
    const ofFigure = (figure) => {
      state.logY = logFor(figure);
      showLogs();
    };
    const ofAxis = (axis) => {
      state.logX = sweep.axes[axis].wide;
      showLogs();
      showSliders();
    };
    showLogs();
    showSliders();
    return [
      selection(
        "Figure",
        sweep.figures.map((one) => ({ value: one, text: one.title })),
        state.figure,
        set("figure", ofFigure),
      ),
      selection("Along", axisOptions(sweep.axes), state.axis, set("axis", ofAxis)),
      places,
      logarithmic(logs.logX, logs.logY),
      checkboxes(
        "Runs",
        sweep.runs.map((run) => ({ value: run, label: runName(sweep, run) })),
        shown,
        change,
      ),
    ];
  };
  const makeTable = () => {
    const axis = sweep.axes[state.axis];
    const others = sweep.axes.filter((one) => one !== axis && (!grid || one.texts.length > 1));
    const runs = sweep.runs.filter((run) => shown.has(run));
    const where = grid && others.length > 0 ? `, with ${placeText(sweep, place, others)}` : "";
    return table(
      `${state.figure.title}${sweep.result.sweep.seeds > 1 ? ", mean (95 % interval)" : ""} along ${axis.name}${where}`,
      [
        axis.name,
        ...numeric([...(grid ? [] : others.map(({ name }) => name)), ...runs.map(({ label }) => label)]),
      ],
      chosen().map((point) => [
        axis.texts[point.at[axis.index]],
        ...(grid ? [] : others.map((one) => one.texts[point.at[one.index]])),
        ...runs.map((run) => withInterval(valuesOf(point, run), state.figure.text)),
      ]),
    );
  };
  const seeds = sweep.result.sweep.seeds;
  const bands =
    seeds > 1
      ? `Means over ${humanCount(seeds)} seeds; bands are 95 % intervals (Student's t). A run has no point where a seed has no figure.`
      : "One seed, and so no interval. A run has no point where it has no figure.";
  steeredLines(section, [lead(bands)], { state, settings, description, controls, makeTable });
}
