// Draws the charts that the result has as data (src/report/document/chart.hpp): bars, lines and marks, each with its
// table.

const chartsOfPage = () => JSON.parse(document.getElementById("charts")?.textContent ?? "{}");

/** The kind of an axis; plain numbers with a unit of their own get a kind of their own. */
function kindOf(axis) {
  if (!axis.suffix) return axis.kind;
  const kind = `in ${axis.suffix}`;
  kKinds[kind] ??= {
    units: [{ name: axis.suffix, factor: 1 }],
    text: (value) => `${withDigits(value, 4)} ${axis.suffix}`,
  };
  return kind;
}

const markInTurn = (i) => ({ kind: "runs", index: i % 6, dash: kDashes[i % 6], marker: kMarkers[i % 6] });

/** Adds a chart to a section, if the result has it, below `above` (by default its title; "": nothing). */
function addChart(section, name, { above = null } = {}) {
  const chart = chartsOfPage()[name];
  if (!chart) return;
  const introduction = above === "" ? [] : [lead(above ?? `${chart.title}.`)];
  (chart.kind === "lines" ? addLinesOf : addBarsOf)(section, chart, introduction);
}

function addLinesOf(section, chart, above) {
  const [along, up] = [chart.x, chart.y].map((axis) => kKinds[kindOf(axis)].text);
  const withEnds = ([, value, low, high]) => withInterval({ value, low, high }, up);
  const state = { logX: chart.x.log, logY: chart.y.log };
  const shown = new Set(chart.series);
  const settings = () => ({
    lines: chart.series
      .map((one, i) => ({ one, mark: markInTurn(i) }))
      .filter(({ one }) => shown.has(one))
      .map(({ one, mark }) => ({
        label: one.label,
        mark,
        scattered: one.marksOnly,
        points: one.points.map(([x, y, low, high, own]) => {
          const text = [...(own ? [own] : []), `${along(x)}, ${withEnds([x, y, low, high])}`];
          return { x, y, low, high, text };
        }),
      })),
    x: { ...chart.x, kind: kindOf(chart.x), log: state.logX },
    y: { ...chart.y, kind: kindOf(chart.y), log: state.logY },
    limits: chart.limits.map(({ at, words, ofX }) => ({ value: at, text: words, ofX })),
  });
  const description = () => {
    const ends = (points) => (points.length > 2 ? [points[0], points[points.length - 1]] : points);
    const words = ([x, y, , , own]) => `${up(y)} at ${along(x)}${own ? ` (${own})` : ""}`;
    const each = [...shown].map(({ label, points }) => `${label}: ${ends(points).map(words).join(" … ")}`);
    return `${chart.title}. ${each.join("; ")}.`;
  };
  const controls = ({ set, change }) => [
    logarithmic(checkbox("along", state.logX, set("logX")), checkbox("upwards", state.logY, set("logY"))),
    checkboxes(
      "Shown",
      chart.series.map((one, i) => ({ value: one, label: marked(markInTurn(i), one.label) })),
      shown,
      change,
    ),
  ];
  const makeTable = () =>
    table(
      chart.title,
      ["line", ...numeric([chart.y.title, chart.x.title]), "point"],
      [...shown].flatMap(({ label, points }) =>
        points.map((point) => [label, withEnds(point), along(point[0]), point[4]]),
      ),
    );
  steeredLines(section, above, { state, settings, description, controls, makeTable, says: true });
}

function addBarsOf(section, chart, above) {
  const text = kKinds[kindOf(chart.y)].text;
  const { names, series } = chart;
  const stacked = chart.kind === "stacked";
  const ofShares = chart.y.kind === "share";
  const pointOf = (one, row) => one.points.find(([x]) => x === row);
  const values = series.map((one) => names.map((_, row) => pointOf(one, row)?.[1] ?? null));
  const totals = names.map((_, row) => values.reduce((sum, own) => sum + (own[row] ?? 0), 0));
  const described = names.map((own, row) => {
    const parts = series.map(({ label }, i) => (values[i][row] === null ? "" : `${label} ${text(values[i][row])}`));
    return `${own}: ${parts.filter(Boolean).join(", ")}`;
  });
  const cell = (one, row) => {
    const [, value, low, high] = pointOf(one, row) ?? [];
    return withInterval({ value, low, high }, text);
  };
  const makeTable = () =>
    table(
      chart.title,
      [
        "bar",
        ...numeric(series.map(({ label }) => label)),
        ...(stacked && !ofShares ? numeric(["in all"]) : []),
      ],
      names.map((own, row) => [
        own,
        ...series.map((one) => cell(one, row)),
        ...(stacked && !ofShares ? [text(totals[row])] : []),
      ]),
    );
  let redraw = null;
  const controls = stacked ? [] : [checkbox("Logarithmic", chart.y.log, (log) => redraw({ log, ends: ends(log) }))];
  const figure = chartFigure(`${chart.title}. ${described.join("; ")}.`, controls, makeTable);
  const parts = series.map((one, i) => ({ label: one.label, part: kParts[one.part] ?? partInTurn(i), values: values[i] }));
  section.append(...above, ...(parts.length > 1 ? [key(parts)] : []), figure.figure);
  // A logarithmic axis cannot show values that are not positive, so their bars have no labels.
  const ends = (log) =>
    stacked
      ? parts.map((_, i) =>
          i + 1 < parts.length || ofShares ? null : totals.map((total) => ({ at: total, text: text(total) })),
        )
      : series.map((one) =>
          names.map((_, row) => {
            const [, value, , high] = pointOf(one, row) ?? [];
            if (!isNumber(value) || (log && value <= 0)) return null;
            return { at: Math.max(value, high ?? value), text: text(value) };
          }),
        );
  redraw = bars(figure, {
    labels: names,
    parts,
    stacked,
    kind: kindOf(chart.y),
    title: chart.y.title,
    log: chart.y.log,
    most: stacked && ofShares ? 1 : null,
    intervals: series.map((one) =>
      names.map((_, row) => {
        const [, , low, high] = pointOf(one, row) ?? [];
        return isNumber(low) && isNumber(high) ? { low, high } : null;
      }),
    ),
    ends: ends(chart.y.log),
  });
}

/** Charts that are named alike, one at a time: "PREFIX-FIGURE" or "PREFIX-FIGURE, with CHOICE". */
function addOneOfCharts(section, prefix, { title, above }) {
  const names = Object.keys(chartsOfPage()).filter((name) => name.startsWith(`${prefix}-`));
  if (names.length === 0) return;
  const split = names.map((name) => name.slice(prefix.length + 1).split(", with "));
  const chosen = [...split[0]];
  const box = element("div");
  const show = () => {
    box.replaceChildren();
    addChart(box, `${prefix}-${chosen.join(", with ")}`, { above: "" });
  };
  const controls = [title, "With"].map((label, at) => {
    const options = [...new Set(split.map((parts) => parts[at]))].map((value) => ({ value, text: value }));
    const choose = (value) => {
      chosen[at] = value;
      show();
    };
    return options.length > 1 ? selection(label, options, chosen[at], choose) : null;
  });
  section.append(lead(above), element("div", { class: "controls" }, ...controls), box);
  show();
}
