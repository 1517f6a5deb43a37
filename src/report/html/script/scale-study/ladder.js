// Relative steps of every run against size: observations, the fit with its interval, and the prediction.

const kSizeWords = {
  parameters: "parameters",
  rows_per_width: "rows ÷ width",
  batch_per_critical: "batch ÷ critical batch",
};

/** A size in its own unit, of a rung or of the workload; null where it is not known. */
function sizeOf(size, kind) {
  if (kind !== "batch_per_critical") return size[kind];
  return isNumber(size.critical_batch) ? size.batch / size.critical_batch : null;
}

const ratioText = (value) => withDigits(value, 3);

function trendText(run) {
  if (run.as_many_by_definition) return "1 by definition";
  if (!run.fit) return `no fit: ${run.why_no_fit?.words ?? ""}`;
  const shown = run.fit.slopes.filter((slope) => slope.shown);
  if (shown.length === 0) return "none shown";
  const change = (slope) => {
    const percent = Math.round(100 * Math.expm1(slope.per_decade));
    return `${percent < 0 ? "" : "+"}${percent} % per decade of ${kSizeWords[slope.against.replaceAll("-", "_")]}`;
  };
  return shown.map(change).join(", ");
}

function addLadder(page, section) {
  const { result, kind } = page;
  const drawn = result.runs.filter((run) => !run.as_many_by_definition);
  const state = { run: drawn[0]?.label };
  if (drawn.length === 0) return;
  const chosen = () => drawn.find((run) => run.label === state.run);
  const seenOf = (run, heldOut) =>
    run.rungs
      .map((at, i) => ({ at, rung: result.rungs[i], x: sizeOf(result.rungs[i].size, kind) }))
      .filter(({ at, rung, x }) => at.relative_steps && isNumber(x) && rung.held_out === heldOut)
      .map(({ at, rung, x }) => ({
        x,
        y: at.relative_steps.value,
        low: at.relative_steps.low,
        high: at.relative_steps.high,
        text: [rung.learned_on, `${ratioText(at.relative_steps.value)} times the steps`],
      }));
  const settings = () => {
    const run = chosen();
    const mark = page.marks[result.runs.indexOf(run)];
    const along = (run.fit?.along ?? []).map(({ size, value, low, high }) => ({
      x: size,
      y: value,
      low,
      high,
      text: [`fit: ${ratioText(value)} (${ratioText(low)} … ${ratioText(high)})`],
    }));
    const single = (marker, index) => ({ kind: "alone", index, dash: [], marker });
    const points = [
      { label: "left out", mark: single("rectRot", 1), scattered: true, points: seenOf(run, true) },
      { label: "learned", mark: single("circle", 0), scattered: true, points: seenOf(run, false) },
      { label: `${run.label}: fit`, mark, points: along },
    ];
    if (run.workload && isNumber(page.workloadSize)) {
      const { value, low, high } = run.workload;
      points.unshift({
        label: result.workload.name,
        mark: single("triangle", 2),
        scattered: true,
        points: [{ x: page.workloadSize, y: value, low, high, text: [`expected of ${result.workload.name}: ${ratioText(value)}`] }],
      });
    }
    return {
      lines: points.filter((line) => line.points.length > 0),
      x: { kind: "number", title: kSizeWords[kind], log: true },
      y: { kind: "number", title: "relative steps", log: true },
    };
  };
  const description = () => {
    const run = chosen();
    const expected = run.workload ? ` Expected of ${result.workload.name}: ${withInterval(run.workload, ratioText)}.` : "";
    return `Relative steps of ${run.label} against ${kSizeWords[kind]}: ${trendText(run)}.${expected}`;
  };
  const controls = ({ set }) =>
    drawn.length > 1
      ? [selection("Run", drawn.map(({ label }) => ({ value: label, text: label })), state.run, set("run"))]
      : [];
  const makeTable = () =>
    table(
      `Relative steps of ${state.run}`,
      [{ title: "network" }, { title: kSizeWords[kind], number: true }, { title: "relative steps", number: true }],
      result.rungs.map((rung, i) => [
        `${rung.learned_on}${rung.held_out ? " (left out)" : ""}`,
        ratioText(sizeOf(rung.size, kind)),
        seenText(chosen().rungs[i]),
      ]),
    );
  const above = [
    lead(
      "Marks are means over the seeds; the line is the fit of all rungs, and the band holds " +
        `${withDigits(100 * result.level)} of 100 new networks of this family. A workload is none of this family: its other ` +
        "layers, data and schedule are in no band.",
    ),
  ];
  steeredLines(section, above, { state, settings, description, controls, makeTable, says: true });
}

function seenText(at) {
  if (at.relative_steps) return withInterval(at.relative_steps, ratioText);
  const why = at.why_not?.words ?? "";
  return isNumber(at.more_than) ? `more than ${ratioText(at.more_than)}: ${why}` : `${kNone} ${why}`;
}
