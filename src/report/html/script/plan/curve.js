// The result of every number of the range that was tried, with the limit and the answer.

function addCurve(page, section) {
  const { seeds } = page.result.answers[0].trial;
  addOneOfCharts(section, "curve", {
    title: "Figure",
    above:
      "Each marked number was timed in full; the line between is drawn for the eye, and the last mark of the key is the answer. " +
      (seeds > 1
        ? `Means over ${humanCount(seeds)} seeds; bands are what seeds, evaluations and the errors of times leave open.`
        : "Bands are what the errors of times leave open, and one seed, if seeds scatter as is assumed of them."),
  });
}
