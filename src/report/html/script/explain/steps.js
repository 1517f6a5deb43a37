// The causes of each run's step, and helpful changes.

const kCauseKinds = ["bandwidth", "queueing", "latency", "compute"];

function addSteps(page, section) {
  const runs = page.runs.filter((run) => run.causes.length > 0);
  const names = [...new Set([...kCauseKinds, ...runs.flatMap((run) => run.causes.map(({ kind }) => kind))])];
  const parts = names
    .map((name, i) => ({
      label: causeText(name),
      part: kParts[name] ?? partInTurn(i),
      values: runs.map((run) => run.causes.find(({ kind }) => kind === name)?.share ?? 0),
    }))
    .filter((part) => part.values.some((value) => value > 0));
  if (parts.length > 0) {
    const described = runs.map(
      (run) => `${run.label}: ${run.causes.map(({ kind, share }) => `${causeText(kind)} ${shareText(share)}`).join(", ")}`,
    );
    const makeTable = () =>
      table(
        "Parts of a step, by what they go into",
        [
          { title: "run" },
          ...parts.map(({ label }) => ({ title: label, number: true })),
          { title: "step", number: true },
        ],
        runs.map((run, i) => [
          run.label,
          ...parts.map((part) => humanSeconds(part.values[i] * run.step_seconds)),
          humanSeconds(run.step_seconds),
        ]),
      );
    const figure = chartFigure(`Stacked bars of shares of a step. ${described.join("; ")}.`, [], makeTable);
    section.append(
      element(
        "p",
        { class: "lead" },
        "The ",
        word("critical path"),
        " of a step by kind, in shares of the step; behind each bar what a step takes.",
      ),
      key(parts),
      figure.figure,
    );
    const ends = parts.map(() => null);
    ends[ends.length - 1] = runs.map((run, i) => ({
      at: parts.reduce((sum, part) => sum + part.values[i], 0),
      text: humanSeconds(run.step_seconds),
    }));
    bars(figure, { labels: runs.map((run) => run.label), parts, stacked: true, kind: "share", title: "", most: 1, ends });
  }
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
