// The page of a plan, section by section.

startPage(
  () => "plan.json",
  (result) => {
    for (const [path, name] of Object.entries(result.names)) kPathNames.set(path, name);
    const runs = [...new Set(result.answers.map((answer) => answer.run))];
    const page = { result, runs, marks: marks(runs.map(() => true)), quantities: quantitiesOf(result), about: aboutScenario() };
    document.getElementById("setting").textContent = kept(`Goal: ${result.asked.words}`);
    showDescription(page.about);
    addSection(page, "curve", addCurve);
    addSection(page, "choices", (_, section) =>
      addChart(section, "choices", {
        above: "Each mark is a run with a choice, by how surely it meets the goal; strokes are bands, dashed lines are the limits.",
      }),
    );
    addSection(page, "answers", addAnswers);
    addSection(page, "provenance", addPlanProvenance);
  },
);
