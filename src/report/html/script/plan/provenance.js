// The sources of learning and timing, and the assumptions.

function addPlanProvenance(page, section) {
  const { result, about } = page;
  const { seeds } = result.answers[0].trial;
  const facts = [
    ["Scenario", result.scenario.name],
    ["Goal", result.asked.words],
    isNumber(result.goal.accuracy)
      ? ["Learned", `${humanCount(result.learned_runs)} ${result.learned_runs === 1 ? "run" : "runs"} on ${result.learned_on}`]
      : ["Learned", "nothing: times alone were asked for"],
    [
      "Timed",
      result.timing_runs === 0
        ? "nothing: learning does not reach the target"
        : `${humanCount(result.timing_runs)} times in full, as ${result.timed_as}`,
    ],
    [
      "Seeds",
      seeds > 1
        ? `${humanCount(seeds)}, of which the first is timed; an interval is one of 95 % of their mean`
        : "one: how seeds scatter is not measured, but assumed",
    ],
    ["Network model", result.dadsim.network_model],
    [
      "Versions",
      `${versionText(result.dadsim.version, about)}, SimGrid ${result.dadsim.simgrid}, Chart.js ${Chart.version}`,
    ],
  ];
  section.append(factsList(facts.map(([term, text]) => [term, kept(text)])));
  addSentences(section, "Assumed", wordsOf(result.assumptions));
  addScenarioText(section, about);
}
