// Answers as the sections use them, and the table of all of them.

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
  return [
    { name: "seconds", title: "time to the target", kind: "seconds" },
    { name: "money", title: "money to the target", kind: "money" },
    { name: "joules", title: "energy to the target", kind: "energy" },
    { name: "grams_co2e", title: "CO2 equivalent to the target", kind: "carbon" },
    { name: "throughput", title: `${trials[0].throughput_of} per second`, kind: "rate" },
  ]
    .map((one) => ({ ...one, text: kKinds[one.kind].text, limit: result.goal[one.name] }))
    .filter(({ name }) => trials.some((trial) => trial.reached && isNumber(trial[name])));
}

/** A quantity of a trial with what seeds leave open, {value, low, high}; what is not known is null. */
function taken(trial, quantity) {
  const value = trial[quantity.name];
  if (!trial.reached || !isNumber(value)) return null;
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
  const columns = [
    { title: "run" },
    ...(chosen ? [{ title: "with" }] : []),
    { title: "goal" },
    ...(ranged ? [{ title: "answer", number: true }] : []),
    ...(banded ? [{ title: "seeds leave open", number: true }] : []),
    ...quantities.map((one) => ({ title: one.title, number: true })),
    ...(rents ? [{ title: "lines, a month", number: true }] : []),
    ...(again ? [{ title: "missed again", number: true }] : []),
  ];
  const rows = result.answers.map((answer) => [
    element("span", { class: "named" }, markSwatch(page.marks[page.runs.indexOf(answer.run)]), answer.run),
    ...(chosen ? [choicesText(answer)] : []),
    answer.met
      ? answer.front
        ? "met, on the front"
        : "met"
      : answer.trial.infeasible
        ? `infeasible: ${answer.trial.infeasible}`
        : answer.trial.reached
        ? "missed"
        : `target never reached: best ${humanPercent(answer.trial.best_accuracy)}`,
    ...(ranged ? [answer.met ? (answer.answer?.value ?? kNone) : kNone] : []),
    ...(banded ? [bandText(answer)] : []),
    ...quantities.map((one) => withInterval(taken(answer.trial, one), one.text)),
    ...(rents ? [moneyText(answer.trial.lines_per_month, result.currency)] : []),
    ...(again ? [missesText(answer)] : []),
  ]);
  section.append(
    lead(
      "Those that meet the goal first, the best first. Where the goal is missed, the figures are of " +
        "the nearest that was tried.",
    ),
    table(`Goal: ${result.asked.words}`, columns, rows, result.answers[0].met ? 0 : -1),
  );
}
