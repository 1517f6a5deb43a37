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
  addSentences(section, "How it was found out", wordsOf(result.notes));
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
