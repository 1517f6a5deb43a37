// The origin of the result, and its assumptions.

function addProvenance(page, section) {
  const { result, runs, about } = page;
  const facts = [
    ["Scenario", `${result.scenario.name}, seed ${page.seed}, hash ${result.scenario.hash}`],
    ["Learned on", result.timing_only ? "nothing: only times were requested" : result.learned_on],
    ["Timed as", result.timed_as],
    ...(result.timing_only ? [] : [["Target", `accuracy ${targetText(page.target)}`]]),
    ["Network model", result.dadsim.network_model],
    ["Simulated by", [...new Set(runs.map((run) => `${run.network.fidelity} fidelity`))].join(", ")],
    ["Versions", `${versionText(result.dadsim.version, about)}, SimGrid ${result.dadsim.simgrid}, Chart.js ${Chart.version}`],
    [
      "Wall clock",
      `learning ${humanSeconds(result.wall_clock.learning_seconds)}, ` +
        `timing ${humanSeconds(result.wall_clock.timing_seconds)}`,
    ],
  ];
  section.append(factsList(facts));
  addSentences(section, "Assumed for every run", wordsOf(result.assumptions));
  const notes = runs.flatMap((run) => wordsOf(run.notes).map((note) => `${run.label}: ${note}`));
  for (const run of runs) {
    for (const words of wordsOf(run.network.fidelity_notes ?? [])) notes.push(`${run.label}: ${words}`);
    const sampling = run.network.sampling;
    if (sampling) {
      notes.push(
        `${run.label}: of ${humanCount(sampling.steps)} different steps, ${humanCount(sampling.simulated)} were ` +
          "simulated and the others interpolated by their bytes. The error is " +
          `${(100 * sampling.step_error).toPrecision(2)} % for a single step (root mean square) and ` +
          `${(100 * run.sampling_error).toPrecision(2)} % for the mean step (standard error)`,
      );
    }
  }
  addSentences(section, "Notes on single runs", notes);

  const rows = runs.map((run) => [
    run.label,
    run.algorithm,
    run.exchange ?? "none",
    humanCount(run.workers),
    humanCount(run.steps),
    humanCount(run.steps_per_epoch),
    Object.entries(run.parameters)
      .map(([name, value]) => `${name} = ${value}`)
      .join(", ") || kNone,
  ]);
  section.append(
    element("h3", {}, "Settings of the runs"),
    table(
      "As they were run, with every default filled in",
      ["run", "algorithm", "exchange", ...numeric(["workers", "steps", "steps per epoch"]), "parameters"],
      rows,
    ),
  );
  addScenarioText(section, about);
}
