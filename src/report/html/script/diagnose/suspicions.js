// Possible faults, the nearest first, with the check for each.

/** Of several times their geometric mean. */
const meanOf = (seconds) => Math.exp(seconds.reduce((sum, one) => sum + Math.log(one), 0) / seconds.length);

function addSuspicions(page, section) {
  const { result } = page;
  const measured = meanOf(result.times.map((time) => time.measured));
  const normal = result.verdict === "as-expected";
  if (result.suspicions.length > 0) {
    const several = result.times.length > 1;
    const against = (seconds, than) => {
      const off = 100 * (seconds / than - 1);
      return `${off < 0 ? "−" : "+"}${Math.abs(off).toFixed(0)} %`;
    };
    // Columns that determine the ranking.
    const columns = result.times.map((time, i) => ({
      title: several ? `of measured, ${timeLabel(time)}` : "of measured",
      of: (one) => against(one.seconds[i], time.measured),
    }));
    if (isNumber(result.computing))
      columns.push({ title: "computing", of: (one) => (isNumber(one.computing) ? against(one.computing, result.computing) : "–") });
    if (columns.length > 1) columns.push({ title: "distance", of: (one) => one.distance.toFixed(2) });
    const rows = result.suspicions.map((one) => [
      one.cause.words,
      ...columns.map(({ of }) => of(one)),
      one.explains ? "yes" : "no",
      humanSeconds(meanOf(one.seconds)),
      one.check.words.replace(/^Check: /, ""),
    ]);
    section.append(
      lead(
        normal
          ? "All is normal. These would leave the time within its band, and cannot be told from it by the time alone."
          : "Each was simulated, the nearest to what was measured first. Where several explain it the time alone does not tell " +
              "them apart: the check does. Two at once are found as neither.",
      ),
      table(
        `Measured: ${humanSeconds(measured)}`,
        [
          { title: "cause" },
          ...columns.map(({ title }) => ({ title, number: true })),
          { title: normal ? "within its band" : "explains it" },
          { title: "would take", number: true },
          { title: "check" },
        ],
        rows,
        !normal && result.suspicions[0].explains ? 0 : -1,
      ),
    );
  }
  addSentences(section, "What could take any time", wordsOf(result.free));
}
