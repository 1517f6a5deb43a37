// The first run, and the table of runs.

/** "bandwidth, 62 % (72 links node-# rail-#_UP)": what the critical path is of most, by kind first. */
function boundText(run) {
  const [cause] = run.causes;
  if (!cause) return kNone;
  const [most] = cause.on;
  return `${causeText(cause.kind)}, ${shareText(cause.share)}${most ? ` (${resourcesText(cause.kind, most)})` : ""}`;
}

const shares = (run) => run.exchange !== null;

/** The time to the target as the answer has it, the mean over the seeds; null where it, or a seed, does not reach it. */
function targetTime(run) {
  if (run.over_seeds) return run.over_seeds.target_seconds?.mean ?? null;
  return run.target_reached ? run.target_seconds : null;
}

/** The runs that share, fastest to the target first, then those that did not reach it, nearest first. */
function ranked(runs) {
  const sharing = runs.filter(shares);
  const reached = sharing.filter((run) => isNumber(targetTime(run)));
  reached.sort((a, b) => targetTime(a) - targetTime(b));
  const others = sharing.filter((run) => !isNumber(targetTime(run)));
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
  if (order.length < 2 || !isNumber(targetTime(order[0]))) return;
  const slowest = Math.max(...order.map((run) => targetTime(run) ?? 0));
  const best = targetTime(order[0]);
  const verdicts = new Map(page.result.answer.ranking.map((place) => [place.run, place.verdict]));
  const entries = order.map((run) => {
    const name = nameOf(page, run);
    const seconds = targetTime(run);
    if (!isNumber(seconds)) {
      const text = `did not reach ${targetText(page.target)}; best ${humanPercent(run.best_accuracy)}`;
      return element("li", {}, name, element("span", { class: "none" }, text));
    }
    const width = slowest > 0 ? (100 * seconds) / slowest : 0;
    return element(
      "li",
      {},
      name,
      element(
        "span",
        { class: "track", "aria-hidden": "true" },
        element("span", { class: "length", style: `width:${width}%` }),
      ),
      element("span", { class: "number" }, humanSeconds(seconds)),
      element(
        "span",
        { class: "number" },
        run === order[0] || best === 0 ? "" : factorText(seconds / best),
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
  add("rounds/h", "rounds_per_hour", withDigits);
  add("take part", "taking_part", withDigits);
}

function addRuns(page, section) {
  const target = `to ${targetText(page.target)}`;
  const columns = [
    { title: "run" },
    { title: "time", number: true, group: target },
    { title: "steps", number: true, group: target },
    { title: "final", number: true, group: "accuracy" },
    { title: "best", number: true, group: "accuracy" },
    { title: `a ${page.turn}`, number: true },
    { title: "up", number: true, group: `bytes per worker and ${page.turn}` },
    { title: "down", number: true, group: `bytes per worker and ${page.turn}` },
    { title: "sent in all", number: true },
    { title: "bound by most" },
  ];
  // With several seeds: means, as in the answer, with their deviations.
  const overSeeds = (run, name, text) => {
    if (!run.over_seeds) return text(run[name]);
    const over = run.over_seeds[name];
    return over ? `${text(over.mean)} ± ${text(over.deviation)}` : kNone;
  };
  const timeText = (run) => {
    if (!run.over_seeds) return secondsWithBand(run.target_seconds, run.band?.target_seconds);
    const { seeds, missed, target_seconds: time } = run.over_seeds;
    return time ? secondsWithBand(time.mean, time) : missed < seeds ? `missed by ${missed} of ${seeds}` : kNone;
  };
  const rows = page.runs.map((run) => [
    nameOf(page, run),
    timeText(run),
    overSeeds(run, "target_step", (steps) => humanCount(isNumber(steps) ? Math.round(steps) : steps)),
    run.diverged ? "diverged" : overSeeds(run, "final_accuracy", humanPercent),
    overSeeds(run, "best_accuracy", humanPercent),
    secondsWithBand(run.step_seconds, run.band?.step_seconds),
    humanBytes(run.bytes_up_per_worker),
    humanBytes(run.bytes_down_per_worker),
    humanBytes(run.total_bytes),
    kept(boundText(run)),
  ]);
  if (page.result.timing_only) addThroughput(page, columns, rows);
  // If nothing was learned, accuracies and times to them are left out.
  const empty = (at) => rows.every((row) => row[at] === kNone);
  const left = columns.map((_, at) => at).filter((at) => !(page.result.timing_only && columns[at].group && empty(at)));
  const [winner] = ranked(page.runs);
  const first = winner && isNumber(targetTime(winner)) ? page.runs.indexOf(winner) : -1;
  section.append(
    table(
      page.runs.some((run) => run.over_seeds)
        ? "Every run, mean ± standard deviation over the seeds; times are simulated, a step is the mean over the run"
        : `Every run; times are simulated, a ${page.turn} is the mean over the run`,
      left.map((at) => columns[at]),
      rows.map((row) => left.map((at) => row[at])),
      first,
    ),
  );
}
