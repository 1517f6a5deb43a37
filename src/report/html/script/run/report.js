// The report of a run, section by section.

startPage(
  (result) => `${result.scenario.hash}.json`,
  (result, text) => {
    const page = {
      result,
      runs: result.runs,
      marks: marks(result.runs.map(shares)),
      target: result.runs[0]?.target.accuracy ?? null,
      // Up to 2^64, where a number of JavaScript is no longer whole: the digits as they are written.
      seed: /"seed":\s*(\d+)/.exec(text)?.[1] ?? String(result.scenario.seed),
    };
    const same = result.learned_on === result.timed_as;
    document.getElementById("setting").textContent = same
      ? `Learned on and timed as ${result.learned_on}`
      : `Learned on ${result.learned_on}; timed as ${result.timed_as}`;

    addSection(page, "answer", addRanking);
    addSection(page, "runs", addRuns);
    addSection(page, "accuracy", addCurves);
    addSection(page, "step", addStepTimes);
    addSection(page, "bytes", addStepBytes);
    addSection(page, "bounds", addBounds);
    addSection(page, "plays", addPlays);
    addSection(page, "shifts", addShifts);
    addSection(page, "scale", addScale);
    addSection(page, "costs", addCosts);
    addSection(page, "ranks", addRanks);
    addSection(page, "network", addNetwork);
    addSection(page, "memory", addMemory);
    addSection(page, "provenance", addProvenance);
  },
);
