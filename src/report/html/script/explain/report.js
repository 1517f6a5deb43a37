// The page of an explanation, section by section.

function addExplainProvenance(page, section) {
  const { result, about } = page;
  section.append(
    factsList([
      ["Scenario", `${result.scenario.name}, seed ${page.seed}`],
      ["Learned on", page.summary.learned ? result.learned_on : "nothing: times alone were asked for"],
      ["Timed as", result.timed_as],
      ...(page.summary.learned ? [["Target", `accuracy ${targetText(page.summary.target)}`]] : []),
      ["Network model", result.dadsim.network_model],
      ["Versions", `${versionText(result.dadsim.version, about)}, SimGrid ${result.dadsim.simgrid}, Chart.js ${Chart.version}`],
    ]),
  );
  const tried = [
    "Every change is a simulation of its own: what was learned is timed again with one thing changed and all else as it is; nothing is learned again.",
  ];
  if (page.summary.runs.some((run) => run.event_driven)) {
    tried.push(
      "Event-driven runs are the exception: they are played again, and learned again as far as the order of events is another; a step is an update of the model.",
    );
  }
  if (result.links_left_out > 0)
    tried.push(`${humanCount(result.links_left_out)} less busy links were changed only together with others.`);
  addSentences(section, "How it was found out", [...tried, ...result.notes.map((note) => `${note}.`)]);
  addSentences(section, "Assumed for every run", wordsOf(result.assumptions));
  addScenarioText(section, about);
}

startPage(
  () => "explanation.json",
  (result, text) => {
    const page = {
      result,
      runs: result.runs,
      summary: JSON.parse(document.getElementById("summary").textContent),
      about: aboutScenario(),
      seed: /"seed":\s*(\d+)/.exec(text)?.[1] ?? String(result.scenario.seed),
    };
    document.getElementById("setting").textContent = settingText(result, !page.summary.learned);
    showDescription(page.about);
    addSection(page, "steps", addSteps);
    addSection(page, "useful", addUseful);
    addSection(page, "causes", addCauses);
    addSection(page, "changes", addChanges);
    addSection(page, "provenance", addExplainProvenance);
  },
);
