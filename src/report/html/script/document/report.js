// The page of a document without scripts of its own: its tables and sentences.

function addParts(page, section) {
  for (const { sentences, heading, columns, rows } of page.parts) {
    if (sentences) section.append(...sentences.map((words) => lead(words)));
    else section.append(table(heading, columns.map((title) => ({ title })), rows));
  }
}

function addDocumentProvenance(page, section) {
  const { result, about } = page;
  section.append(factsList([["Versions", kept(`${versionText(result.dadsim.version, about)}, SimGrid ${result.dadsim.simgrid}`)]]));
  addSentences(section, "Assumed", wordsOf(result.assumptions));
  addScenarioText(section, about);
}

startPage(
  () => "result.json",
  (result) => {
    const page = { result, about: aboutScenario(), parts: JSON.parse(document.getElementById("parts").textContent) };
    showDescription(page.about);
    addSection(page, "tables", addParts);
    addSection(page, "provenance", addDocumentProvenance);
  },
);
