// The page of a scale study, section by section.

function addStudyProvenance(page, section) {
  const { result, about } = page;
  const facts = [
    ["Scenario", result.scenario.name],
    ["Learned", `${humanCount(result.rungs.length)} networks, ${humanCount(result.seeds)} seeds each`],
    ["Target", targetText(result.target_accuracy)],
    ["Versions", `${versionText(result.dadsim.version, about)}, Chart.js ${Chart.version}`],
  ];
  section.append(factsList(facts.map(([term, text]) => [term, kept(text)])));
  addSentences(section, "Assumed", wordsOf(result.assumptions));
  addScenarioText(section, about);
}

startPage(
  () => "scale-study.json",
  (result) => {
    const kind = result.against[0].replaceAll("-", "_");
    const page = {
      result,
      kind,
      marks: marks(result.runs.map(() => true)),
      workloadSize: result.workload ? sizeOf(result.workload.size, kind) : null,
      about: aboutScenario(),
    };
    document.getElementById("setting").textContent = kept(
      `Relative steps to ${targetText(result.target_accuracy)} against ${kSizeWords[kind]}`,
    );
    showDescription(page.about);
    addSection(page, "runs", addStudiedRuns);
    addSection(page, "ladder", addLadder);
    addSection(page, "rungs", addRungs);
    addSection(page, "provenance", addStudyProvenance);
  },
);
