// Measured times next to expected ones, and findings of a profile.

const timeLabel = (time) => (isNumber(time.bytes) ? humanBytes(time.bytes) : `${humanCount(time.devices)} devices`);

const kVerdicts = { slower: "not normal", quicker: "quicker than explained", "as-expected": "normal" };

/** By its own band: of one time that is the verdict on all. */
function verdictOn(time) {
  if (time.measured > time.high) return kVerdicts.slower;
  return time.measured < time.low ? kVerdicts.quicker : kVerdicts["as-expected"];
}

function addTimes(page, section) {
  const { result } = page;
  const labels = result.times.map((time) => timeLabel(time));
  const makeTable = () =>
    table(
      result.of,
      [
        { title: isNumber(result.times[0].bytes) ? "size" : "devices" },
        { title: "÷ expected", number: true },
        { title: "by its band" },
        { title: "measured", number: true },
        { title: "expected", number: true },
        { title: "nine of ten", number: true },
      ],
      result.times.map((time, i) => [
        labels[i],
        (time.measured / time.expected).toFixed(2),
        verdictOn(time),
        humanSeconds(time.measured),
        humanSeconds(time.expected),
        `${humanSeconds(time.low)} … ${humanSeconds(time.high)}`,
      ]),
    );
  addChart(section, "causes", {
    above:
      "The stroke is the band of nine of ten measurements, by those that predictions of its kind were held against. Below it stands " +
      "what each cause would take: ✓ explains what was measured.",
  });
  section.append(makeTable());
  addSentences(section, "By the profile", wordsOf(result.evidence));
}
