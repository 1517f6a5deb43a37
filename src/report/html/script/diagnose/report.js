// The page of a diagnosis, section by section.

function addDiagnosisProvenance(page, section) {
  const { result, about } = page;
  section.append(
    factsList(
      [
        ["Scenario", result.scenario.name],
        ["Measured", `${result.of}, by ${result.source}`],
        ["Verdict", kVerdicts[result.verdict]],
        ["Network model", result.dadsim.network_model],
        ["Versions", `${versionText(result.dadsim.version, about)}, SimGrid ${result.dadsim.simgrid}, Chart.js ${Chart.version}`],
      ].map(([term, text]) => [term, kept(text)]),
    ),
  );
  addSentences(section, "Assumed", wordsOf(result.assumptions));
  addScenarioText(section, about);
}

startPage(
  () => "diagnosis.json",
  (result) => {
    const page = { result, about: aboutScenario() };
    document.getElementById("setting").textContent = kept(`${result.of}: measured ${humanSeconds(meanOf(result.times.map((time) => time.measured)))}`);
    showDescription(page.about);
    addSection(page, "times", addTimes);
    addSection(page, "suspicions", addSuspicions);
    addSection(page, "provenance", addDiagnosisProvenance);
  },
);
