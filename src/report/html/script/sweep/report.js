// The page of a sweep, section by section.

startPage(
  (result) => `sweep-${result.scenario.hash}.json`,
  (result) => {
    const sweep = sweepOf(result);
    const varied = sweep.axes.map((axis) => `${axis.name} (${humanCount(axis.texts.length)})`).join(", ");
    const count = humanCount(sweep.points.length);
    document.getElementById("setting").textContent =
      `${count} ${sweep.points.length === 1 ? "point" : "points"} over ${varied}; ` +
      `${humanCount(sweep.runs.length)} ${sweep.runs.length === 1 ? "run" : "runs"} at each`;

    showDescription(aboutScenario());
    addSection(sweep, "map", addMap);
    addSection(sweep, "lines", addLines);
    addSection(sweep, "front", addFront);
    addSection(sweep, "failures", addFailures);
    addSection(sweep, "provenance", addSweepProvenance);
  },
);
