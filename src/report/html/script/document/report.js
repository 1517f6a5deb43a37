// The page of a document without scripts of its own: its charts, tables and sentences.

/** Each chart, or of those that are named alike one at a time. */
function addCharts(page, section) {
  const seen = new Set();
  for (const [name, { choice, above }] of Object.entries(chartsOfPage())) {
    const own = choice ? name.slice(0, name.indexOf("-")) : name;
    if (seen.has(own)) continue;
    seen.add(own);
    const box = namedBox(own);
    section.append(box);
    if (choice) addOneOfCharts(box, own, { title: choice, above });
    else addChart(box, name, { above: above || null });
  }
}

function addDocumentProvenance(page, section) {
  const { result, about } = page;
  const { version, simgrid, network_model } = result.dadsim;
  const facts = [
    ["Scenario", result.scenario?.name],
    ...page.facts,
    ["Network model", network_model],
    ["Versions", [versionText(version, about), ...(simgrid ? [`SimGrid ${simgrid}`] : []), `Chart.js ${Chart.version}`].join(", ")],
  ];
  section.append(factsList(facts.filter(([, text]) => text).map(([term, text]) => [term, kept(text)])));
  addSentences(section, "Assumed", wordsOf(result.assumptions ?? []));
  addScenarioText(section, about);
}

startPage(
  () => `${document.querySelector(".kind").textContent.split(" ")[1] ?? "result"}.json`,
  (result) => {
    const page = { result, about: aboutScenario(), ...partsOfPage() };
    document.getElementById("setting").textContent = kept(page.setting);
    showDescription(page.about);
    const facts = JSON.parse(document.getElementById("facts")?.textContent ?? "[]");
    if (facts.length > 0) document.querySelector(".verdict").after(factsList(facts.map(({ about, words }) => [about, kept(words)])));
    addSection(page, "drawings", addCharts);
    addSection(page, "tables", addParts);
    addSection(page, "provenance", addDocumentProvenance);
  },
);
