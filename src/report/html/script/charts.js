// Charts by Chart.js: axes in human units, bars with their values at the end, lines with markers.

Chart.defaults.animation = false;
Chart.defaults.responsive = true;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.plugins.legend.display = false;
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.font.size = 12;

/** Where the largest value is this many times the smallest, an axis begins logarithmic. */
const kSpreadForLog = 20;

// An axis format: units with their factors, smallest first, and the full text of a value.
const kThousands = (units) => units.map((name, i) => ({ name, factor: 1000 ** i }));
const kKinds = {
  seconds: {
    units: [
      { name: "ns", factor: 1e-9 },
      { name: "µs", factor: 1e-6 },
      { name: "ms", factor: 1e-3 },
      { name: "s", factor: 1 },
      { name: "min", factor: 60 },
      { name: "h", factor: 3600 },
      { name: "days", factor: 86400 },
    ],
    text: humanSeconds,
  },
  bytes: { units: kThousands(["B", "kB", "MB", "GB", "TB", "PB"]), text: humanBytes },
  rate: { units: kThousands(["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"]), text: humanBitRate },
  energy: {
    units: [
      { name: "J", factor: 1 },
      ...kThousands(["Wh", "kWh", "MWh", "GWh"]).map(({ name, factor }) => ({ name, factor: 3600 * factor })),
    ],
    text: humanEnergy,
  },
  share: { units: [{ name: "%", factor: 0.01 }], text: humanPercent },
  count: { units: [{ name: "", factor: 1 }], text: humanCount },
  number: { units: [{ name: "", factor: 1 }], text: (value) => withDigits(value, 4) },
};

/** The largest unit of which there are at least `least`; the smallest if there is none. */
function unitFor(kind, value, least) {
  const units = kKinds[kind].units;
  return units.findLast((unit) => value >= least * unit.factor) ?? units[0];
}

/** 1, 2 or 5 times a power of ten, so that `range` takes about `count` of them. */
function niceStep(range, count) {
  const rough = range / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((f) => f * power).find((step) => step >= rough * 0.999);
}

const inUnit = (value, unit) =>
  value === 0
    ? "0"
    : `${Number((value / unit.factor).toPrecision(6)).toLocaleString("en-US")}${unit.name ? ` ${unit.name}` : ""}`;

/** A linear axis from `low` to `high` (of the data) in one unit. */
function linearAxis({ kind, title, low, high, count }) {
  const unit = unitFor(kind, high, 2);
  const span = (high - low) / unit.factor || 1;
  let step = niceStep(span, count);
  if (kind === "count") step = Math.max(1, step);
  const first = Math.floor(low / unit.factor / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / unit.factor / step - 1e-9));
  const ticks = [];
  for (let i = first; i <= last; ++i) ticks.push({ value: i * step * unit.factor });
  return axis("linear", title, ticks[0].value, ticks[ticks.length - 1].value, ticks, (value) => inUnit(value, unit));
}

/** A logarithmic axis: powers of ten of a unit, with 2 and 5 between where there are few. `low` is above 0. */
function logarithmicAxis({ kind, title, low, high, count }) {
  const [min, max] = [low * 0.8, high * 1.25];
  const candidates = (factors) => {
    const values = [];
    kKinds[kind].units.forEach((unit, i, units) => {
      const end = i + 1 < units.length ? units[i + 1].factor : Infinity;
      const from = i === 0 ? -12 : 0;
      for (let power = from; power < 16; ++power) {
        for (const factor of factors) {
          const value = factor * 10 ** power * unit.factor;
          if (value >= min && value <= max && value < end * 0.999) values.push({ value, unit });
        }
      }
    });
    return values;
  };
  let ticks = candidates([1]);
  if (ticks.length < 3) ticks = candidates([1, 2, 5]);
  const every = Math.ceil(ticks.length / Math.max(2, count));
  ticks = ticks.filter((_, i) => i % every === 0);
  const units = new Map(ticks.map(({ value, unit }) => [value, unit]));
  return axis("logarithmic", title, min, max, ticks, (value) =>
    inUnit(value, units.get(value) ?? unitFor(kind, value, 1)),
  );
}

/** An axis of names, one after the other from 0 on. */
function categoryAxis({ title, labels, count }) {
  const every = Math.max(1, Math.ceil(labels.length / Math.max(2, count)));
  const ticks = labels.map((_, value) => ({ value })).filter(({ value }) => value % every === 0);
  return axis("linear", title, -0.5, labels.length - 0.5, ticks, (value) => shortened(labels[value] ?? "", 14));
}

function axis(type, title, min, max, ticks, callback) {
  const { soft, grid } = palette();
  return {
    type,
    min,
    max,
    afterBuildTicks: (scale) => {
      scale.ticks = ticks.map(({ value }) => ({ value }));
    },
    title: { display: Boolean(title), text: title, color: soft },
    ticks: { color: soft, callback, maxRotation: 0 },
    grid: { color: grid, borderColor: grid, tickColor: grid },
  };
}

/**
 * An axis for `values`: linear from 0 (or from the least, if `fromLeast`), or logarithmic over what is above 0; with
 * `labels` those, for the values 0, 1 …
 */
function axisFor({ kind, title, values, log = false, fromLeast = false, from = null, most = null, labels = null, count = 6 }) {
  if (labels) return categoryAxis({ title, labels, count });
  const known = values.filter(isNumber);
  const positive = known.filter((value) => value > 0);
  if (log && positive.length > 0) {
    const [low, high] = [Math.min(...positive), Math.max(...positive)];
    return logarithmicAxis({ kind, title, low, high, count });
  }
  const high = most ?? Math.max(...known, 0);
  if (isNumber(from) && from > 0) return linearAxis({ kind, title, low: from, high: Math.max(high, from), count });
  const low = fromLeast && known.length > 0 ? Math.min(...known) : 0;
  return linearAxis({ kind, title, low, high: high > low ? high : low + 1, count });
}

const ticksAcross = (drawing) => Math.max(3, Math.round(drawing.clientWidth / 110));

/** A plugin of Chart.js that calls `paint(chart, context, options)` and leaves the context as it was. */
const painter = (id, when, paint) => ({
  id,
  [when](chart, _, options) {
    chart.ctx.save();
    paint(chart, chart.ctx, options);
    chart.ctx.restore();
  },
});

/** Writes texts behind the ends of bars: options.rows[dataset][row] = {at, text} or null. */
const endLabels = painter("endLabels", "afterDatasetsDraw", (chart, context, options) => {
  context.font = `12px ${Chart.defaults.font.family}`;
  context.textBaseline = "middle";
  context.fillStyle = palette().ink;
  (options.rows ?? []).forEach((row, dataset) => {
    chart.getDatasetMeta(dataset).data.forEach((bar, i) => {
      if (row?.[i]) context.fillText(row[i].text, chart.scales.x.getPixelForValue(row[i].at) + 6, bar.y);
    });
  });
});

/** Draws intervals over bars: options.intervals[dataset][row] = {low, high} or null. */
const whiskers = painter("whiskers", "afterDatasetsDraw", (chart, context, options) => {
  context.strokeStyle = palette().ink;
  context.lineWidth = 1.5;
  (options.intervals ?? []).forEach((row, dataset) => {
    chart.getDatasetMeta(dataset).data.forEach((bar, i) => {
      if (!row[i]) return;
      const [low, high] = [row[i].low, row[i].high].map((value) => chart.scales.x.getPixelForValue(value));
      context.beginPath();
      for (const end of [low, high]) {
        context.moveTo(end, bar.y - 5);
        context.lineTo(end, bar.y + 5);
      }
      context.moveTo(low, bar.y);
      context.lineTo(high, bar.y);
      context.stroke();
    });
  });
});

/** Areas between the low and the high ends of lines, and strokes at points: options.areas[dataset] = [{x, low, high}, …] */
const bands = painter("bands", "beforeDatasetsDraw", (chart, context, options) => {
  const { chartArea: area, scales } = chart;
  context.beginPath();
  context.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
  context.clip();
  const place = (x, y) => [
    scales.x.getPixelForValue(x),
    // On a logarithmic axis, values that are not positive are drawn at its lower end.
    scales.y.type === "logarithmic" && y <= 0 ? area.bottom : scales.y.getPixelForValue(y),
  ];
  (options.areas ?? []).forEach((points, dataset) => {
    if (points.length === 0) return;
    context.fillStyle = context.strokeStyle = chart.data.datasets[dataset].borderColor;
    context.globalAlpha = 0.18;
    context.beginPath();
    for (const point of points) context.lineTo(...place(point.x, point.high));
    for (const point of [...points].reverse()) context.lineTo(...place(point.x, point.low));
    context.closePath();
    if (chart.data.datasets[dataset].showLine) context.fill();
    context.globalAlpha = 0.55;
    context.lineWidth = 1;
    for (const point of points) {
      context.beginPath();
      context.moveTo(...place(point.x, point.low));
      context.lineTo(...place(point.x, point.high));
      context.stroke();
    }
  });
});

/** Dashed lines across at limits of y, or of x: options.limits = [{value, text, ofX}, …] */
const limitLines = painter("limitLines", "afterDatasetsDraw", (chart, context, options) => {
  const { left, right, top, bottom } = chart.chartArea;
  context.strokeStyle = context.fillStyle = palette().soft;
  context.setLineDash([6, 4]);
  context.font = `12px ${Chart.defaults.font.family}`;
  context.textAlign = "right";
  for (const { value, text, ofX } of options.limits ?? []) {
    const at = chart.scales[ofX ? "x" : "y"].getPixelForValue(value);
    if (ofX ? at < left || at > right : at < top || at > bottom) continue;
    context.beginPath();
    context.moveTo(ofX ? at : left, ofX ? top : at);
    context.lineTo(ofX ? at : right, ofX ? bottom : at);
    context.stroke();
    context.textBaseline = !ofX && at - top < 18 ? "top" : "bottom";
    if (!ofX) context.fillText(text, right - 4, at + (at - top < 18 ? 3 : -2));
    else {
      context.textAlign = at - left < 160 ? "left" : "right";
      context.fillText(text, at + (at - left < 160 ? 4 : -4), bottom - 4);
      context.textAlign = "right";
    }
  }
});

function tooltip(label) {
  const { ink, paper } = palette();
  return {
    backgroundColor: ink,
    titleColor: paper,
    bodyColor: paper,
    padding: 9,
    displayColors: false,
    callbacks: { label },
  };
}

const kMostLabelLines = 3;

/** Lines of at most `most` characters, broken at spaces; what three lines cannot hold ends in "…". */
function labelLines(text, most) {
  const lines = [""];
  for (const part of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last && last.length + part.length + 1 > most) lines.push(part);
    else lines[lines.length - 1] = last ? `${last} ${part}` : part;
  }
  const kept = lines.slice(0, kMostLabelLines).map((line) => shortened(line, most));
  if (lines.length > kMostLabelLines) kept[kMostLabelLines - 1] = shortened(`${kept[kMostLabelLines - 1]} …`, most);
  return kept;
}

const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Draws the chart that `made(settings)` returns. Returns a function that draws it anew with other settings. */
function redrawn(initial, made) {
  let chart = null;
  let settings = initial;
  const draw = () => {
    chart?.destroy();
    chart = made(settings);
  };
  drawn(draw);
  return (changed) => {
    settings = { ...settings, ...changed };
    draw();
  };
}

/**
 * Horizontal bars, one row a label. parts: [{label, part, values}], stacked or side by side; `ends` as for endLabels;
 * `intervals` as for whiskers. Returns a function that draws it anew with other settings.
 */
function bars(figure, initial) {
  return redrawn(initial, (settings) => {
    const { labels, parts, stacked, kind, title, ends = [], intervals = null, log = false, most: end = null } = settings;
    const { drawing, canvas } = figure;
    const most = drawing.clientWidth < 480 ? 18 : 32;
    const rows = Math.max(...labels.map((label) => labelLines(label, most).length));
    const perRow = Math.max(stacked ? 30 : 20 * parts.length + 10, 15 * rows + 6);
    drawing.style.height = `${labels.length * perRow + (title ? 60 : 40)}px`;
    const context = canvas.getContext("2d");
    const totals = stacked ? labels.map((_, i) => parts.reduce((sum, part) => sum + (part.values[i] ?? 0), 0)) : [];
    const values = [...(stacked ? totals : parts.flatMap((part) => part.values))];
    for (const interval of (intervals ?? []).flat()) if (interval) values.push(interval.low, interval.high);
    context.font = `12px ${Chart.defaults.font.family}`; // same font as in endLabels
    const widest = Math.max(0, ...ends.flatMap((row) => (row ?? []).map((end) => (end ? context.measureText(end.text).width : 0))));
    const { ink } = palette();
    return new Chart(context, {
      type: "bar",
      plugins: [endLabels, whiskers],
      data: {
        labels,
        datasets: parts.map((part) => ({
          label: part.label,
          data: part.values,
          backgroundColor: filling(context, part.part),
          barPercentage: stacked ? 0.7 : 0.9,
          categoryPercentage: stacked ? 1 : 0.8,
        })),
      },
      options: {
        indexAxis: "y",
        layout: { padding: { right: widest + 12 } },
        interaction: { mode: "y", intersect: false },
        scales: {
          x: { ...axisFor({ kind, title, values, log, most: end, count: ticksAcross(drawing) - 2 }), stacked },
          y: {
            stacked,
            ticks: {
              color: ink,
              autoSkip: false,
              callback(value) {
                return labelLines(this.getLabelForValue(value), this.chart.width < 480 ? 18 : 32);
              },
            },
            grid: { display: false, drawBorder: false },
          },
        },
        plugins: {
          endLabels: { rows: ends },
          whiskers: { intervals },
          tooltip: tooltip((item) => `${item.dataset.label}: ${kKinds[kind].text(item.raw)}`),
        },
      },
    });
  });
}

/**
 * Lines: [{label, mark, points: [{x, y, text, low, high}]}], axes x and y: {kind, title, log, fromLeast, most, labels},
 * `limits` as for limitLines. `text` is what hovering over a point shows; between `low` and `high`, where a point has
 * them, is a band. A line with `scattered` has its points only, one with `bare` has none, one with `stepped` goes down in steps, one with
 * `pale` is faded. Returns a
 * function that draws it anew with other settings.
 */
function lines(figure, initial) {
  const kMarkersPerLine = 12;
  return redrawn(initial, (settings) => {
    const { drawing, canvas } = figure;
    const { x, y } = settings;
    const limits = settings.limits ?? [];
    const limitsOf = (ofX) => limits.filter((one) => Boolean(one.ofX) === ofX).map(({ value }) => value);
    drawing.style.height = `${Math.min(420, Math.max(280, drawing.clientWidth * 0.5))}px`;
    const shown = settings.lines.map((line) => ({
      ...line,
      // Logarithmic axes cannot show values that are not positive.
      points: line.points.filter((p) => isNumber(p.x) && isNumber(p.y) && !(x.log && p.x <= 0) && !(y.log && p.y <= 0)),
    }));
    const values = (name) => shown.flatMap((line) => line.points.map((point) => point[name]));
    const areas = shown.map((line) => line.points.filter((point) => isNumber(point.low) && isNumber(point.high)));
    const ends = areas.flatMap((points) => points.flatMap((point) => [point.low, point.high]));
    return new Chart(canvas.getContext("2d"), {
      type: "line",
      plugins: [bands, limitLines],
      data: {
        datasets: shown.map((line, place) => {
          const every = line.scattered ? 1 : Math.max(1, Math.ceil(line.points.length / kMarkersPerLine));
          const first = every > 1 ? place % every : 0; // overlapping lines show their markers at alternating points
          const colour = line.pale ? faded(colourOf(line.mark)) : colourOf(line.mark);
          const radius = line.bare ? 0 : 4;
          return {
            label: line.label,
            data: line.points,
            borderColor: colour,
            backgroundColor: colour,
            borderDash: line.mark.dash,
            borderWidth: line.bare ? 1 : 2,
            showLine: !line.scattered,
            stepped: line.stepped ?? false,
            clip: 8, // draws markers on the border whole
            pointStyle: line.mark.marker,
            pointRadius: line.points.map((_, i) => (i % every === first || line.points.length === 1 ? radius : 0)),
            pointBorderWidth: 2,
            pointHoverRadius: line.bare ? 0 : 6,
          };
        }),
      },
      options: {
        parsing: false,
        interaction: { mode: "nearest", axis: "xy", intersect: false },
        scales: {
          x: axisFor({ ...x, values: [...values("x"), ...limitsOf(true)], count: ticksAcross(drawing) }),
          y: axisFor({ ...y, values: [...values("y"), ...ends, ...limitsOf(false)], count: 6 }),
        },
        plugins: {
          bands: { areas },
          limitLines: { limits },
          tooltip: {
            ...tooltip((item) => item.raw.text),
            callbacks: {
              title: (items) => (items.length > 0 ? items[0].dataset.label : ""),
              label: (item) => item.raw.text,
            },
          },
        },
      },
    });
  });
}

/**
 * Lines at the end of a section, below `above`, that follow their controls: `settings()` (as for lines) and
 * `description()` say after every change what is drawn and what it shows. `controls({set, change})` makes what changes it:
 * `change()` draws anew, and `set(name, also)` is for a control's value, which becomes `state[name]`; `also(value)` does
 * what follows from it. With `says` the description stands below the drawing, too.
 */
function steeredLines(section, above, { state, settings, description, controls, makeTable, says = false }) {
  let redraw = null;
  const said = element("p", { class: "readout" }, kept(description()));
  const change = () => {
    figure.canvas.setAttribute("aria-label", description());
    said.textContent = kept(description());
    redraw(settings());
    figure.refreshTable();
  };
  const set = (name, also) => (value) => {
    state[name] = value;
    also?.(value);
    change();
  };
  const figure = chartFigure(description(), controls({ set, change }), makeTable);
  section.append(...above, figure.figure);
  if (says) figure.drawing.after(said);
  redraw = lines(figure, settings());
  return { change };
}
