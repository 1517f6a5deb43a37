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
  const described = result.times.map(
    (time, i) => `${labels[i]}: expected ${secondsWithBand(time.expected, time)}, measured ${humanSeconds(time.measured)}`,
  );
  const figure = chartFigure(`Bars: ${described.join("; ")}.`, [], makeTable);
  const parts = [
    { label: "expected", part: kParts.compute, values: result.times.map(({ expected }) => expected) },
    { label: "measured", part: kParts.bandwidth, values: result.times.map(({ measured }) => measured) },
  ];
  section.append(
    lead("The stroke is the band of nine of ten measurements, by those that predictions of its kind were held against."),
    key(parts),
    figure.figure,
  );
  const most = Math.max(...result.times.flatMap(({ measured, expected }) => [measured, expected]));
  const leastTime = Math.min(...result.times.flatMap(({ measured, expected }) => [measured, expected]));
  bars(figure, {
    labels,
    parts,
    stacked: false,
    kind: "seconds",
    title: "",
    log: most / leastTime >= kSpreadForLog,
    intervals: result.times.map(({ low, high }) => ({ low, high })),
    ends: [
      result.times.map(({ expected, high }) => ({ at: Math.max(expected, high), text: humanSeconds(expected) })),
      result.times.map(({ measured }) => ({ at: measured, text: humanSeconds(measured) })),
    ],
  });
  addSentences(section, "By the profile", wordsOf(result.evidence));
}
