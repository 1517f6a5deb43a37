// The page of a search for layouts, section by section.

function addLayoutProvenance(page, section) {
  const { result, about } = page;
  const facts = [
    ["Scenario", result.scenario.name],
    ["Timed", `${result.workload}, ${humanCount(result.global_batch)} samples a step`],
    ["Devices", `${humanCount(result.devices)} ${result.device}`],
    [
      "Looked at",
      `${humanCount(result.divisible)} layouts that divide evenly, of which ${humanCount(result.fitting)} fit and ` +
        `${humanCount(result.layouts.length)} were simulated`,
    ],
    ...(result.failed.length > 0 ? [["Not simulated", `${humanCount(result.failed.length)}: ${result.failed[0].why}`]] : []),
    ["Network model", result.dadsim.network_model],
    ["Versions", `${versionText(result.dadsim.version, about)}, SimGrid ${result.dadsim.simgrid}, Chart.js ${Chart.version}`],
  ];
  section.append(factsList(facts.map(([term, text]) => [term, kept(text)])));
  addSentences(section, "Assumed", wordsOf(result.assumptions));
  addScenarioText(section, about);
}

startPage(
  () => "layout.json",
  (result) => {
    const page = { result, about: aboutScenario() };
    document.getElementById("setting").textContent = kept(
      `${result.workload} on ${humanCount(result.devices)} ${result.device}, ${humanCount(result.global_batch)} samples a step`,
    );
    showDescription(page.about);
    const facts = JSON.parse(document.getElementById("facts")?.textContent ?? "[]");
    if (facts.length > 0) document.querySelector(".verdict").after(factsList(facts.map(({ about, words }) => [about, kept(words)])));
    addSection(page, "layouts", addLayouts);
    addSection(page, "parts", addParts);
    addSection(page, "front", addFront);
    addSection(page, "provenance", addLayoutProvenance);
  },
);
