// Answers as the sections use them, and the table of all.

/** What a trial can be limited in; `of` gets it from a trial, `low` and `high` what seeds leave open of it. */
function quantitiesOf(result) {
  const money = (value) => moneyText(value, result.currency);
  kKinds.money = { units: [{ name: result.currency ?? "", factor: 1 }], text: money };
  kKinds.carbon = {
    units: [
      { name: "g", factor: 1 },
      { name: "kg", factor: 1000 },
    ],
    text: (grams) => (grams < 1000 ? `${withDigits(grams)} g` : `${withDigits(grams / 1000)} kg`),
  };
  kKinds.rate = { units: [{ name: "1/s", factor: 1 }], text: (rate) => `${withDigits(rate, 4)}/s` };
  const trials = result.answers.flatMap((answer) => [answer.trial, ...answer.tried.map((one) => one.trial)]);
  const until = isNumber(result.goal.accuracy) ? " to the target" : "";
  return [
    { name: "seconds", title: `time${until}`, kind: "seconds" },
    { name: "money", title: `money${until}`, kind: "money" },
    { name: "joules", title: `energy${until}`, kind: "energy" },
    { name: "grams_co2e", title: `CO2 equivalent${until}`, kind: "carbon" },
    { name: "throughput", title: `${trials[0].throughput_of} per second`, kind: "rate" },
  ]
    .map((one) => ({ ...one, text: kKinds[one.kind].text, limit: result.goal[one.name] }))
    .filter(({ name }) => trials.some((trial) => trial.reached && isNumber(trial[name])));
}

/** A quantity of a trial with what seeds leave open, {value, low, high}; what is not known is null. */
function taken(trial, quantity) {
  const value = trial[quantity.name];
  if (!trial.reached || !isNumber(value)) return null;
  if (quantity.name === "throughput") return { value, low: trial.throughput_low, high: trial.throughput_high };
  const end = (name) => (isNumber(trial[name]) && trial.seconds > 0 ? (value * trial[name]) / trial.seconds : null);
  return { value, low: end("low"), high: end("high") };
}

/** "8.3Mbps to 8.9Mbps" */
function bandText(answer) {
  if (!answer.band) return kNone;
  const { may, safe } = answer.band;
  if (!safe) return `from ${may} on`;
  return may === safe ? safe : `${may} to ${safe}`;
}

const missesText = (answer) =>
  answer.misses_again
    .map(({ from, to, to_the_end }) => `${from === to ? from : `${from} to ${to}`}${to_the_end ? " (the end)" : ""}`)
    .join(", ") || kNone;

/** What paths are of, in words. */
const kPathNames = new Map();
const pathName = (path) => kPathNames.get(path) ?? path;

const choicesText = (answer) =>
  Object.entries(answer.changes)
    .map(([path, value]) => `${pathName(path)} ${value}`)
    .join(", ") || "as it is";

function addAnswers(page, section) {
  const { result, quantities } = page;
  const ranged = result.answers.some((answer) => answer.answer);
  const banded = result.answers.some((answer) => answer.band);
  const again = result.answers.some((answer) => answer.misses_again.length > 0);
  const chosen = result.answers.some((answer) => Object.keys(answer.changes).length > 0);
  const rents = result.answers.some((answer) => isNumber(answer.trial.lines_per_month));
  // The deciding column follows the name, where a narrow screen still shows it: the number in the answer, or else the
  // limited quantity.
  const deciding = quantities.find((one) => isNumber(one.limit)) ?? quantities[0];
  const others = quantities.filter((one) => ranged || one !== deciding);
  const divided = result.answers.some((answer) => answer.trial.layout);
  const figure = (answer, one) => withInterval(taken(answer.trial, one), one.text);
  const goalText = ({ met, front, tied, trial }) => {
    if (met) return [trial.standing, front ? "on the front" : "", tied ? "not told apart" : ""].filter(Boolean).join(", ");
    if (trial.infeasible) return `infeasible: ${trial.infeasible}`;
    return trial.reached ? trial.standing : `target never reached: best ${humanPercent(trial.best_accuracy)}`;
  };
  const columns = [
    { title: chosen ? "run, with" : "run" },
    ...(ranged ? [{ title: "answer", number: true }] : deciding ? [{ title: deciding.title, number: true }] : []),
    { title: "goal" },
    ...(banded ? [{ title: "seeds leave open", number: true }] : []),
    ...others.map((one) => ({ title: one.title, number: true })),
    ...(rents ? [{ title: "lines, a month", number: true }] : []),
    ...(again ? [{ title: "missed again", number: true }] : []),
    ...(divided ? [{ title: "divided as" }] : []),
  ];
  const rows = result.answers.map((answer) => [
    element(
      "span",
      { class: "named" },
      markSwatch(page.marks[page.runs.indexOf(answer.run)]),
      element("span", {}, chosen ? `${answer.run}, ${choicesText(answer)}` : answer.run),
    ),
    ...(ranged
      ? [answer.met ? (answer.answer?.value ?? kNone) : kNone]
      : deciding
        ? [figure(answer, deciding)]
        : []),
    goalText(answer),
    ...(banded ? [bandText(answer)] : []),
    ...others.map((one) => figure(answer, one)),
    ...(rents ? [moneyText(answer.trial.lines_per_month, result.currency)] : []),
    ...(again ? [missesText(answer)] : []),
    ...(divided ? [(answer.trial.layout ?? []).map((one) => one.replace("timed-as.", "")).join(", ") || kNone] : []),
  ]);
  section.append(
    lead(
      "Those that meet the goal first, the best first. Where the goal is missed, the figures are of " +
        "the nearest that was tried. A goal is met where all of the band meets it, likely met where what is expected " +
        "does, and missed where nothing of the band does; between these it cannot be said.",
    ),
    table(`Goal: ${result.asked.words}`, columns, rows, result.answers[0].met ? 0 : -1),
  );
}
