// Every run with its trend, test and prediction; every rung.

function addStudiedRuns(page, section) {
  const { result } = page;
  const tested = (run) =>
    run.rungs
      .filter((at) => at.predicted)
      .map((at) => {
        const verdict = at.held === null ? "cannot be told" : at.held ? "in it" : "missed";
        return `${withInterval(at.predicted, ratioText)}; ${seenText(at)}: ${verdict}`;
      })
      .join("; ") || kNone;
  const columns = [
    { title: "run" },
    { title: "trend" },
    { title: "predicted of what was left out; seen" },
    ...(result.workload ? [{ title: `expected of ${result.workload.name}`, number: true }] : []),
  ];
  const rows = result.runs.map((run, i) => [
    element("span", { class: "named" }, markSwatch(page.marks[i]), run.label),
    trendText(run),
    tested(run),
    ...(result.workload ? [run.workload ? withInterval(run.workload, ratioText) : (run.why_no_workload?.words ?? kNone)] : []),
  ]);
  section.append(
    lead(
      `${humanCount(result.held_out.held)} of ${humanCount(result.held_out.cases)} predictions of the largest, which a first ` +
        `fit left out, lie in their intervals of ${withDigits(100 * result.level)} %.`,
    ),
    table(`Relative steps to ${targetText(result.target_accuracy)} against size`, columns, rows),
  );
}

function addRungs(page, section) {
  const { result } = page;
  const mean = (steps) => (steps.every(isNumber) ? steps.reduce((sum, one) => sum + one, 0) / steps.length : null);
  const columns = [
    { title: "network" },
    { title: "parameters", number: true },
    { title: "rows ÷ width", number: true },
    { title: "batch", number: true },
    { title: "critical batch", number: true },
    { title: "gradient sharing", number: true },
    ...result.runs.map(({ label }) => ({ title: `× ${label}`, number: true })),
  ];
  const rows = result.rungs.map((rung, i) => [
    `${rung.learned_on}${rung.held_out ? " (left out)" : ""}`,
    humanCount(rung.size.parameters),
    ratioText(rung.size.rows_per_width),
    humanCount(rung.size.batch),
    humanCount(rung.size.critical_batch),
    humanCount(mean(rung.gradient_sharing_steps)),
    ...result.runs.map((run) => (run.rungs[i].relative_steps ? ratioText(run.rungs[i].relative_steps.value) : kNone)),
  ]);
  section.append(table("Every network that was learned: steps of gradient sharing, and relative steps", columns, rows));
}
