// The report of a run, section by section.

startPage(
  (result) => `${result.scenario.hash}.json`,
  (result, text) => {
    const more = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");
    const page = {
      result,
      about: aboutScenario(),
      parts: partsOfPage().parts,
      retiming: more("retiming"),
      timelines: more("timelines"),
      pictures: more("pictures"),
      follow: [], // functions that redraw when a slider moves
      runs: result.runs,
      marks: marks(result.runs.map(shares)),
      target: result.scenario.target_accuracy,
      // Name of the repeated unit: "round" if nothing is learned and all communicating runs are event-driven, otherwise
      // "step".
      turn: result.timing_only && result.runs.every((run) => run.event_run || !shares(run)) ? "round" : "step",
      // Seeds go up to 2^64, beyond JavaScript's exact integers, so their digits are read from the text.
      seed: /"seed":\s*(\d+)/.exec(text)?.[1] ?? String(result.scenario.seed),
    };
    page.nameOf = (label) => {
      const run = page.runs.find((one) => one.label === label);
      return run && nameOf(page, run);
    };
    document.getElementById("setting").textContent = settingText(result, result.timing_only);

    for (const id of ["step", "bytes"]) {
      const heading = document.getElementById(`${id}-heading`);
      heading.textContent = heading.textContent.replace("step", page.turn);
    }
    showDescription(page.about);
    addSection(page, "answer", addRanking);
    addSection(page, "runs", addParts);
    addSection(page, "retimed", addRetiming);
    addSection(page, "accuracy", addCurves);
    addSection(page, "step", addSteps);
    addSection(page, "bytes", (_, section) => addChart(section, "bytes"));
    addSection(page, "played-step", addPlayedStep);
    addSection(page, "participation", addParticipation);
    addSection(page, "leak", addLeak);
    addSection(page, "scale", (_, section) => addChart(section, "scale"));
    const hasRanks = Object.keys(chartsOfPage()).some((name) => name.startsWith("ranks-"));
    addClosedSection(page, "ranks", hasRanks, "Components that the gradients of a layer needed", (_, section) => addOneOfCharts(section, "ranks", { title: "Run", above: "Components that the gradients of a layer needed, mean over the steps of an epoch." }));
    addClosedSection(page, "data", page.about.classes, "Samples of each class at each site", addData);
    addClosedSection(page, "network", hasNetwork(page), "Drawing, how busy links are, and collectives", addNetwork);
    addSection(page, "memory", addMemory);
    addClosedSection(page, "provenance", true, "Versions, assumptions, settings of the runs, and the scenario", addProvenance);
  },
);
