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
  addOneOfCharts(section, "ladder", {
    title: "Run",
    above:
      "Marks are means over the seeds; the line is the fit of all rungs, and the band holds " +
      `${withDigits(100 * page.result.level)} of 100 new networks of this family. A workload is none of this family: its other ` +
      "layers, data and schedule are in no band.",
  });
}

function seenText(at) {
  if (at.relative_steps) return withInterval(at.relative_steps, ratioText);
  const why = at.why_not?.words ?? "";
  return isNumber(at.more_than) ? `more than ${ratioText(at.more_than)}: ${why}` : `${kNone} ${why}`;
}
