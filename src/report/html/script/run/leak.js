// The samples that messages reveal, next to the time and accuracy gained.

/** What is as it should be: no other run is better or equal in all of time, accuracy and what is revealed, and better in one. */
function runsOnFront(runs) {
  const losses = (run) => [
    isNumber(run.target_seconds) ? run.target_seconds : Infinity,
    -(run.best_accuracy ?? 0),
    run.span_excess,
    run.samples_handed_over,
  ];
  const beats = (a, b) => a.every((value, i) => value <= b[i]) && a.some((value, i) => value < b[i]);
  const all = runs.map(losses);
  return runs.map((_, i) => !all.some((other) => beats(other, all[i])));
}

const kAdversaries = {
  aggregator: "aggregator",
  site: "another site",
  line: "listener on a line that is not encrypted",
  "secure-aggregator": "aggregator, secure aggregation",
};

/** One front for all runs: the quicker, the more accurate and the less revealing. */
function leakFront(page, runs) {
  const measured = runs.filter((run) => isNumber(run.span_excess));
  const onFront = runsOnFront(measured);
  const columns = [
    "run", ...numeric([`to ${targetText(page.target)}`, "best accuracy"]),
    ...numeric(["samples handed over", "batch revealed"], "the adversary that knows most"), "on the front",
  ];
  const rows = measured.map((run, i) => [
    nameOf(page, run),
    humanSeconds(run.target_seconds),
    humanPercent(run.best_accuracy),
    humanPercent(run.samples_handed_over),
    humanPercent(run.span_excess),
    onFront[i] ? "yes" : "no",
  ]);
  return table("On the front: no other run is as quick, as accurate and as discreet, and more so in one", columns, rows);
}

function leakOfAdversaries(page, runs) {
  const columns = columnsOf([
    "run", "who reads", ...numeric(["samples handed over"]), ...numeric(["of the batch", "of others"], "spanned"),
    ...numeric(["batch revealed", "best sample", "labels told", "ε"]),
  ]);
  const rows = runs.flatMap((run) =>
    run.leak.map((one) => [
      nameOf(page, run),
      kAdversaries[one.adversary] ?? one.adversary,
      ...[one.samples_handed_over, one.span_in, one.span_out, one.span_excess, one.best_sample_excess, one.labels].map(humanPercent),
      isNumber(one.epsilon) ? withDigits(one.epsilon) : "none",
    ]),
  );
  // Values common to all rows are written once, above the table.
  const text = (cell) => (typeof cell === "string" ? cell : cell.textContent);
  const shared = columns.map((_, at) => rows.length > 1 && rows.every((row) => text(row[at]) === text(rows[0][at])));
  const facts = columns
    .map((column, at) => [[column.group, column.title].filter(Boolean).join(" "), text(rows[0][at]), at])
    .filter(([, , at]) => shared[at] && at > 0)
    .map(([title, value]) => `${title}: ${value === kNone ? "not measured" : value}`);
  const left = columns.map((_, at) => at).filter((at) => !shared[at] || at === 0);
  const made = table("Who can read what (– was not measured)", left.map((at) => columns[at]), rows.map((row) => left.map((at) => row[at])));
  if (facts.length === 0) return made;
  return element("div", {}, lead(`The same in every row: ${facts.join("; ")}.`), made);
}

/** Grey levels or colours of an image, drawn pixel by pixel. */
function picture(image, levels, label) {
  const canvas = element("canvas", {
    class: "image",
    width: image.width,
    height: image.height,
    role: "img",
    "aria-label": label,
  });
  const context = canvas.getContext("2d");
  const drawn = context.createImageData(image.width, image.height);
  for (let pixel = 0; pixel < image.width * image.height; ++pixel) {
    for (let colour = 0; colour < 3; ++colour) {
      drawn.data[4 * pixel + colour] = levels[image.channels * pixel + (image.channels === 3 ? colour : 0)];
    }
    drawn.data[4 * pixel + 3] = 255;
  }
  context.putImageData(drawn, 0, 0);
  return canvas;
}

/** Per run the image that messages show best, beside its original. */
function leakPictures(page) {
  const figures = page.pictures.map((image) => {
    const run = page.runs[image.run];
    const reader = kAdversaries[image.adversary] ?? image.adversary;
    return element(
      "figure",
      {},
      picture(image, image.original, `${run.label}: the original`),
      picture(image, image.shown, `${run.label}: as messages show it`),
      element(
        "figcaption",
        {},
        nameOf(page, run),
        ` ${humanPercent(image.share)} shown to: ${reader} (sample ${image.sample} of site ${image.site + 1}, step ${image.step})`,
      ),
    );
  });
  return element(
    "div",
    {},
    element("h3", {}, "The sample that is shown best: as it is, and as messages show it"),
    element("div", { class: "pictures" }, ...figures),
  );
}

function addLeak(page, section) {
  const runs = page.runs.filter((run) => run.leak?.length > 0);
  if (runs.length === 0) return;
  const adversaries = element("details", {}, element("summary", {}, "Who can read what, run by run"), leakOfAdversaries(page, runs));
  section.append(leakFront(page, runs), adversaries);
  if (page.pictures?.length > 0) section.append(leakPictures(page));
  // A reason common to several rows is written once.
  const by = new Map();
  for (const run of runs)
    for (const one of run.leak.filter(({ not_measured: why }) => why))
      by.set(one.not_measured.words, [...(by.get(one.not_measured.words) ?? []), `${run.label}, ${kAdversaries[one.adversary] ?? one.adversary}`]);
  const reasons = [...by].map(([why, who]) => `${who.join("; ")}: ${why}.`);
  if (reasons.length > 0) section.append(sentenceList(reasons));
}
