// The causes of each run's step, and helpful changes.

function addSteps(page, section) {
  addChart(section, "step", { above: "The critical path of a step by cause, run by run." });
  const sentences = page.runs
    .map((run, i) => [run, page.summary.runs[i].words])
    .filter(([, words]) => words)
    .map(([run, words]) => element("li", {}, element("strong", {}, `${run.label}: `), kept(words)));
  if (sentences.length > 0) section.append(element("ul", { class: "advice" }, ...sentences));
}

/** Per run the three best, with what its time becomes. */
function addUseful(page, section) {
  const entries = page.runs
    .filter((run) => run.what_if.length > 0)
    .map((run) => {
      const useful = run.most_useful.map((index) => {
        const change = run.what_if[index];
        const target = isNumber(run.target_seconds) && isNumber(change.target_seconds);
        const [before, after] = target
          ? [run.target_seconds, change.target_seconds]
          : [run.step_seconds, change.step_seconds];
        const assumption = change.assumption ? `, ${change.assumption.words}` : "";
        return element(
          "li",
          {},
          kept(
            `${change.change.words}: ${target ? "time to the target" : "a step"} ${humanSeconds(before)} → ` +
              `${humanSeconds(after)} (${savingText(change.saving)})${assumption}`,
          ),
        );
      });
      const what =
        useful.length > 0
          ? element("ol", {}, ...useful)
          : element("p", {}, "Nothing that was tried saves a hundredth of its time.");
      return element("li", {}, element("strong", {}, run.label), what);
    });
  if (entries.length === 0) return;
  section.append(
    lead("The changes that save the most, each simulated; of links only the best kind is named."),
    element("ul", { class: "advice" }, ...entries),
  );
}
