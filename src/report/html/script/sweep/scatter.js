// Points of a sweep that do not form a grid.

/** Where the quickest are not told apart a point has no colour. */
const kTieMark = { kind: "alone", index: 1, dash: [], marker: "dash" };

/** Points that are no grid: each where its values are, marked by the run that is first. */
function addScatter(sweep, section) {
  const [x, y] = axesForMap(sweep);
  const decided = sweep.figures.find((figure) => figure.decides);
  const state = { x, y, logX: sweep.axes[x].wide, logY: y !== null && sweep.axes[y].wide };
  const one = y === null;
  if (one && !decided) return;
  const reached = sweep.points.filter((point) => quickestOf(point));
  const settings = () => {
    const across = sweep.axes[state.x];
    const upwards = one ? null : sweep.axes[state.y];
    return {
      lines: [...sweep.runs, null]
        .map((run) => ({
          label: run?.label ?? "not told apart",
          mark: run ? sweep.marks[run.index] : kTieMark,
          scattered: true,
          points: reached
            .filter((point) => (winnerOf(point)?.run ?? null) === (run?.index ?? null))
            .map((point) => ({
              x: alongAxis(across, point),
              y: upwards ? alongAxis(upwards, point) : quickestOf(point).seconds,
              text: [placeText(sweep, point.at), outcomeText(sweep, point)],
            })),
        }))
        .filter((line) => line.points.length > 0),
      x: chartAxis(across, state.logX),
      y: upwards ? chartAxis(upwards, state.logY) : { kind: "seconds", title: decided.title, log: state.logY },
    };
  };
  const description = () =>
    `Points of the sweep by ${sweep.axes[state.x].name}${one ? "" : ` and ${sweep.axes[state.y].name}`}, ` +
    `each marked by the run that is first there, or as not told apart.`;
  const axisControl = (label, name, log, set) =>
    selection(
      label,
      axisOptions(sweep.axes),
      state[name],
      set(name, (axis) => (state[log] = sweep.axes[axis].wide)),
    );
  const controls = ({ set }) =>
    [axisControl("Across", "x", "logX", set), one ? null : axisControl("Upwards", "y", "logY", set)].filter(Boolean);
  const makeTable = () =>
    table(
      "Who is first at every point",
      ["point", ...numeric(sweep.axes.map(({ name }) => name)), "first"],
      sweep.points.map((point) => [
        String(point.id),
        ...sweep.axes.map((axis) => axis.texts[point.at[axis.index]]),
        outcomeText(sweep, point),
      ]),
    );
  const above = [lead(leadOfMap(sweep)), legend(sweep, sweep.points, false)];
  steeredLines(section, above, { state, settings, description, controls, makeTable });
}
