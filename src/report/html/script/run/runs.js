// Who is first, and the table of runs.

/** "bandwidth, 62 % (72 links node-# rail-#_UP)": what the critical path is of most, by kind first. */
function boundText(run) {
  const [cause] = run.causes;
  if (!cause) return kNone;
  return `${causeText(cause.kind)}, ${shareText(cause.share)} (${resourcesText(cause.kind, cause.on[0])})`;
}

const shares = (run) => run.exchange !== null;

/** The runs that share, fastest to the target first, then those that did not reach it, nearest first. */
function ranked(runs) {
  const sharing = runs.filter(shares);
  const reached = sharing.filter((run) => run.target_reached);
  reached.sort((a, b) => a.target_seconds - b.target_seconds);
  const others = sharing.filter((run) => !run.target_reached);
  others.sort((a, b) => (b.best_accuracy ?? 0) - (a.best_accuracy ?? 0));
  return [...reached, ...others];
}

function nameOf(page, run) {
  return element(
    "span",
    { class: "named" },
    markSwatch(page.marks[page.runs.indexOf(run)]),
    element("span", {}, run.label),
  );
}

function addRanking(page, section) {
  const order = ranked(page.runs);
  if (order.length < 2 || !order[0].target_reached) return;
  const slowest = Math.max(...order.filter((run) => run.target_reached).map((run) => run.target_seconds));
  const best = order[0].target_seconds;
  const verdicts = new Map(page.result.answer.ranking.map((place) => [place.run, place.verdict]));
  const entries = order.map((run) => {
    const name = nameOf(page, run);
    if (!run.target_reached) {
      const text = `did not reach ${targetText(page.target)}; best ${humanPercent(run.best_accuracy)}`;
      return element("li", {}, name, element("span", { class: "none" }, text));
    }
    const width = slowest > 0 ? (100 * run.target_seconds) / slowest : 0;
    return element(
      "li",
      {},
      name,
      element(
        "span",
        { class: "track", "aria-hidden": "true" },
        element("span", { class: "length", style: `width:${width}%` }),
      ),
      element("span", { class: "number" }, humanSeconds(run.target_seconds)),
      element(
        "span",
        { class: "number" },
        run === order[0] || best === 0 ? "" : factorText(run.target_seconds / best),
        { equal: ", equal", undecided: ", not told apart" }[verdicts.get(run.label)] ?? "",
      ),
    );
  });
  section.append(
    element("ol", { class: "ranking", "aria-label": "Runs that share, by time to the target" }, ...entries),
  );
}

/** What a run gets done, where that is all that was asked for. */
function addThroughput(page, columns, rows) {
  const done = page.runs;
  const add = (title, name, text) => {
    if (!done.some((one) => isNumber(one[name]))) return;
    columns.splice(-1, 0, { title, number: true });
    rows.forEach((row, i) => row.splice(-1, 0, isNumber(done[i][name]) ? text(done[i][name]) : kNone));
  };
  add("samples/s", "samples_per_second", humanCount);
  add("tokens/s", "tokens_per_second", humanCount);
  add("of the peak", "model_flops_utilisation", humanPercent);
  add("scaling efficiency", "scaling_efficiency", humanPercent);
}

function addRuns(page, section) {
  const target = `to ${targetText(page.target)}`;
  const columns = [
    { title: "run" },
    { title: "time", number: true, group: target },
    { title: "steps", number: true, group: target },
    { title: "final", number: true, group: "accuracy" },
    { title: "best", number: true, group: "accuracy" },
    { title: "a step", number: true },
    { title: "up", number: true, group: "bytes per worker and step" },
    { title: "down", number: true, group: "bytes per worker and step" },
    { title: "sent in all", number: true },
    { title: "bound by most" },
  ];
  const rows = page.runs.map((run) => [
    nameOf(page, run),
    secondsWithBand(run.target_seconds, run.band?.target_seconds),
    humanCount(run.target_step),
    run.diverged ? "diverged" : humanPercent(run.final_accuracy),
    humanPercent(run.best_accuracy),
    secondsWithBand(run.step_seconds, run.band?.step_seconds),
    humanBytes(run.bytes_up_per_worker),
    humanBytes(run.bytes_down_per_worker),
    humanBytes(run.total_bytes),
    kept(boundText(run)),
  ]);
  if (page.result.timing_only) addThroughput(page, columns, rows);
  // Where nothing was learned there is nothing to say of accuracies and of times to them.
  const empty = (at) => rows.every((row) => row[at] === kNone);
  const left = columns.map((_, at) => at).filter((at) => !(page.result.timing_only && columns[at].group && empty(at)));
  const [winner] = ranked(page.runs);
  const first = winner?.target_reached ? page.runs.indexOf(winner) : -1;
  section.append(
    table(
      "Every run; times are simulated, a step is the mean over the run",
      left.map((at) => columns[at]),
      rows.map((row) => left.map((at) => row[at])),
      first,
    ),
  );
}
