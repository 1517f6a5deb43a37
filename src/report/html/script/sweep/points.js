// Data of a sweep for the page's sections: axes with values in words, points by position, figures over the seeds.

/** The kinds in which figures of these units are written; of no unit it is a count. */
const kFigureKinds = { s: "seconds", B: "bytes", J: "energy", share: "share", currency: "money" };

/** What is known of a run at a point. `decides` of what points are decided by. */
function figuresOf(result) {
  const time =
    { "time-at-scale": "scale_seconds", "time-per-step": "step_seconds", "time-per-round": "step_seconds" }[
      result.sweep.metric
    ] ?? "target_seconds";
  const money = (value) => moneyText(value, result.sweep.currency);
  kKinds.money = { units: [{ name: result.sweep.currency, factor: 1 }], text: money };
  return result.figures.about.map((figure) => {
    const kind = kFigureKinds[figure.unit] ?? "count";
    return { ...figure, kind, text: kKinds[kind].text, decides: figure.name === time };
  });
}

/** Numbers of these units read as in the rest of the page, others as the sweep has them. */
const kUnitKinds = { "bit/s": "rate", s: "seconds", B: "bytes" };

function axisOf(axis, index) {
  const numeric = axis.values.length > 0 && axis.values.every((value) => isNumber(value.number));
  const numbers = axis.values.map((value) => value.number);
  let kind = kUnitKinds[axis.unit];
  let texts = axis.values.map((value) => value.text);
  if (kind) {
    const human = numbers.map(kKinds[kind].text);
    if (new Set(human).size === human.length) texts = human;
  } else {
    kind = `axis-${index}`;
    const name = axis.unit;
    kKinds[kind] = {
      units: [{ name, factor: 1 }],
      text: (value) => `${withDigits(value, 4)}${name ? ` ${name}` : ""}`,
    };
  }
  const wide = numeric && numbers[0] > 0 && numbers[numbers.length - 1] / numbers[0] >= kSpreadForLog;
  return { ...axis, index, numeric, numbers, texts, kind, wide };
}

/** Mean over the seeds with its 95 % interval (Student's); null unless every seed has a value. */
function meanOf(values, student) {
  if (values.length === 0 || !values.every(isNumber)) return null;
  const n = values.length;
  const value = values.reduce((sum, one) => sum + one, 0) / n;
  if (n < 2) return { value, low: null, high: null };
  const variance = values.reduce((sum, one) => sum + (one - value) ** 2, 0) / (n - 1);
  const half = student[n - 2] * Math.sqrt(variance / n);
  return { value, low: Math.max(0, value - half), high: value + half };
}

function sweepOf(result) {
  const field = Object.fromEntries(result.figures.fields.map((name, i) => [name, i]));
  const points = result.points.map((point) => ({ ...point, rows: result.runs.map(() => []) }));
  for (const row of result.figures.rows) points[row[field.point]].rows[row[field.run]].push(row);
  const places = new Map(points.map((point) => [point.at.join(), point]));
  const nobodyShares = !result.runs.some((run) => run.communicates);
  const about = figuresOf(result);
  const decides = about.find((one) => one.decides)?.name;
  // The time that decides a point comes from the answer, with its whole uncertainty.
  const ranked = (point, run) => point.ranked.find((one) => one[0] === run && one.length > 1);
  const figure = (point, run, name) => {
    const place = name === decides && !result.sweep.rate_unit ? ranked(point, run) : null;
    if (place) return { value: place[1], low: place[2], high: place[3] };
    return meanOf(
      point.rows[run].map((row) => row[field[name]]),
      result.student_t,
    );
  };
  const figures = about.filter(({ name }) => result.figures.rows.some((row) => isNumber(row[field[name]])));
  return {
    result,
    axes: result.axes.map(axisOf),
    points,
    runs: result.runs.map((run, index) => ({ ...run, index, letter: letterOf(index) })),
    marks: marks(result.runs.map((run) => run.communicates || nobodyShares)),
    figures,
    /** {value, low, high} over the seeds, or null. */
    figure,
    /** The point with these values of the axes, if the sweep has it. */
    at: (place) => places.get(place.join()),
    failed: new Set(result.failures.map((failure) => failure.point)),
    infeasible: new Set(result.failures.filter((failure) => failure.infeasible).map((failure) => failure.point)),
  };
}

/** a … z, then a1 … z1, a2 … */
const letterOf = (index) => String.fromCharCode(97 + (index % 26)) + (index < 26 ? "" : Math.floor(index / 26));

/** "sites.up 100 Mbit/s, sites.latency 1.00 ms" */
const placeText = (sweep, at, axes = sweep.axes) =>
  axes.map((axis) => `${axis.name} ${axis.texts[at[axis.index]]}`).join(", ");

/** Who is quickest at a point: {run, seconds, low, high}, or null. It has won only where it is told apart from all. */
function quickestOf(point) {
  if (!point || point.ranked.length === 0 || point.ranked[0].length < 2) return null;
  const [run, seconds, low, high] = point.ranked[0];
  return { run, seconds, low, high };
}

const isOpen = (point) => (point?.beside?.length ?? 0) > 0;

/** Who is first at a point, told apart from all others, or null. */
const winnerOf = (point) => (isOpen(point) ? null : quickestOf(point));

/** How many times as long the second takes: {value, low, high}, or null where there is none or it never gets there. */
function leadOf(point) {
  const [value, low, high] = point?.of_first?.[0] ?? [];
  if (isNumber(value)) return { value, low, high };
  const [first, second] = point?.ranked ?? [];
  return first?.[1] > 0 && isNumber(second?.[1]) ? { value: second[1] / first[1], low: null, high: null } : null;
}

/** What points go by: a time, or, where a price of work stands in its place, a rate: "2.63 M tokens/s". */
function amountText(sweep, value) {
  const { metric, rate_unit: unit } = sweep.result.sweep;
  if (!unit) return humanSeconds(value);
  const rate = (metric === "per-kwh" ? 3.6e6 : 1) / value;
  const scale = [
    [1e9, " G"],
    [1e6, " M"],
    [1, ""],
  ].find(([least]) => rate >= least) ?? [1, ""];
  return `${withDigits(rate / scale[0])}${scale[1]} ${unit}`;
}

/** "dad first, after 12.3 s; then power-sgd, × 1.31" */
function outcomeText(sweep, point) {
  if (!point) return "not part of these results";
  if (sweep.infeasible.has(point.id)) return "infeasible";
  if (sweep.failed.has(point.id)) return "failed";
  if (point.ranked.length === 0) return "no result yet";
  const winner = quickestOf(point);
  if (!winner) return "no run reaches the target";
  const lead = leadOf(point);
  const amount = (value) => amountText(sweep, value);
  const rates = sweep.result.sweep.rate_unit;
  const by = rates ? "with" : "after";
  const estimate = ({ seconds, low, high }) => ({ value: seconds, low: rates ? high : low, high: rates ? low : high });
  if (isOpen(point)) {
    const names = listText([winner.run, ...point.beside].map((run) => sweep.runs[run].label));
    const apart = lead ? `: the second takes ${withInterval(lead, factorText)} as long` : "";
    return `${names} equal or not told apart, ${by} ${withInterval(estimate(winner), amount)}${apart}`;
  }
  const text = `${sweep.runs[winner.run].label} first, ${by} ${withInterval(estimate(winner), amount)}`;
  const next = point.ranked[1];
  if (!next || next.length < 2) return `${text}; no other run reaches the target`;
  return lead
    ? `${text}; then ${sweep.runs[next[0]].label}, ${withInterval(lead, factorText)}`
    : `${text}; then ${sweep.runs[next[0]].label}, ${amount(next[1])}`;
}

const runName = (sweep, run) => marked(sweep.marks[run.index], run.label);

/**
 * Sliders for all axes but those in `shown`, each with its values; with `all`, "all" comes before them and is null.
 * `place` has an index or null per axis; `change` is called when one is moved.
 */
function sliders(sweep, shown, place, change, all = false) {
  return sweep.axes
    .filter((axis) => !shown.includes(axis.index) && axis.texts.length > 1)
    .map((axis) =>
      slider(
        axis.name,
        all ? ["all", ...axis.texts] : axis.texts,
        all ? (place[axis.index] ?? -1) + 1 : place[axis.index],
        (index) => {
          place[axis.index] = all ? (index === 0 ? null : index - 1) : index;
          change();
        },
      ),
    );
}

/** In the middle of every axis. */
const middle = (sweep) => sweep.axes.map((axis) => Math.floor((axis.texts.length - 1) / 2));

/** For `axisFor`: along an axis of the sweep, logarithmic or not. */
const chartAxis = (axis, log) =>
  axis.numeric ? { kind: axis.kind, title: axis.name, log, fromLeast: true } : { title: axis.name, labels: axis.texts };
/** Where a point is along it. */
const alongAxis = (axis, point) => (axis.numeric ? axis.numbers[point.at[axis.index]] : point.at[axis.index]);
