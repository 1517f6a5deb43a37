// The runs in the order of their times.

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

const nameOf = (page, run) => marked(page.marks[page.runs.indexOf(run)], run.label);

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
