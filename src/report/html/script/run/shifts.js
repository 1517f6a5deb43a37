// The last models of event-driven runs on shifted data of sites, with corrections and without.

function shiftedData(row) {
  const values = row.severity > 0 ? `${row.corruption} ${row.severity}` : "as they are";
  return isNumber(row.label_alpha) ? `${values}, classes ~ Dir(${withDigits(row.label_alpha)})` : values;
}

/** Where a correction is worse than none, and where by the most. */
function harmSentence(run, arm) {
  const { arms, rows } = run.evaluation;
  const lost = (row) => row.accuracies[0] - row.accuracies[arm];
  const worse = rows.filter((row) => lost(row) > 0);
  if (worse.length === 0) return `${run.label}: ${arms[arm]} is nowhere worse than the model as it is.`;
  const worst = worse.reduce((most, row) => (lost(row) > lost(most) ? row : most));
  return (
    `${run.label}: ${arms[arm]} hurts in ${worse.length} of ${rows.length} rows, most by ` +
    `${(100 * lost(worst)).toFixed(1)} points: ${shiftedData(worst)}, batches of ${humanCount(worst.batch)}.`
  );
}

function addShifts(page, section) {
  for (const run of page.runs.filter((one) => one.evaluation)) {
    const { arms, rows, quantiles, quantile_bytes: bytes, samples } = run.evaluation;
    const columns = [
      { title: "held-back data" },
      { title: "batch", number: true },
      ...arms.map((title) => ({ title, number: true })),
    ];
    const cells = rows.map((row) => [
      shiftedData(row),
      humanCount(row.batch),
      ...row.accuracies.map((accuracy, arm) => {
        const mark = arms[arm] === row.best ? " *" : row.below_source.includes(arms[arm]) ? " ↓" : "";
        return `${humanPercent(accuracy)}${mark}`;
      }),
    ]);
    section.append(table(`${run.label}: accuracy of its last model; * best, ↓ below source`, columns, cells));
    const norms = bytes.norms > 0 ? `, ${humanBytes(bytes.norms)} for what batch norms read` : "";
    const each =
      samples.fewest === samples.most
        ? humanCount(samples.most)
        : `${humanCount(samples.fewest)} to ${humanCount(samples.most)}`;
    const sentences = [
      ...arms.slice(1).map((_, i) => harmSentence(run, i + 1)),
      `${quantiles} quantiles of each unit of training would be sent with the model: ` +
        `${humanBytes(bytes.inputs)} for the inputs${norms}. Each site corrects its own test batches; it has ${each} of ` +
        `${humanCount(samples.all)} held-back samples, and a larger batch holds all of them.`,
    ];
    section.append(
      element("ul", { class: "sentences" }, ...sentences.map((sentence) => element("li", {}, kept(sentence)))),
    );
  }
}
