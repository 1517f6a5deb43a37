// Charts that the result has as data (src/report/document/chart.hpp): bars, lines and marks, each with its table.

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

/** Adds a chart to a section, if the result has it: below its heading or title, with its key and its table. */
function addChart(section, name, { heading = null, above = null } = {}) {
  const chart = chartsOfPage()[name];
  if (!chart) return;
  const text = kKinds[kindOf(chart.y)].text;
  const withEnds = ([, value, low, high]) => withInterval({ value, low, high }, text);
  const { names, series } = chart;
  const stacked = chart.kind === "stacked";
  const pointOf = (one, row) => one.points.find(([x]) => x === row);
  const values = series.map((one) => names.map((_, row) => pointOf(one, row)?.[1] ?? null));
  const totals = names.map((_, row) => values.reduce((sum, own) => sum + (own[row] ?? 0), 0));
  const ofShares = chart.y.kind === "share";
  const described =
    chart.kind === "lines"
      ? series.map(({ label, points }) => `${label}: ${points.map((point) => `${point[4]} ${text(point[1])}`).join(", ")}`)
      : names.map((own, row) => {
          const parts = series.map(({ label }, i) => (values[i][row] === null ? "" : `${label} ${text(values[i][row])}`));
          return `${own}: ${parts.filter(Boolean).join(", ")}`;
        });
  const makeTable = () =>
    chart.kind === "lines"
      ? table(
          chart.title,
          [{ title: "" }, { title: "" }, { title: chart.x.title, number: true }, { title: chart.y.title, number: true }],
          series.flatMap(({ label, points }) =>
            points.map((point) => [point[4] || label, label, kKinds[kindOf(chart.x)].text(point[0]), withEnds(point)]),
          ),
        )
      : table(
          chart.title,
          [
            { title: "" },
            ...series.map(({ label }) => ({ title: label, number: true })),
            ...(stacked && !ofShares ? [{ title: "in all", number: true }] : []),
          ],
          names.map((own, row) => [
            own,
            ...series.map((one) => (pointOf(one, row) ? withEnds(pointOf(one, row)) : kNone)),
            ...(stacked && !ofShares ? [text(totals[row])] : []),
          ]),
        );
  let redraw = null;
  const controls = chart.kind === "bars" ? [checkbox("Logarithmic", chart.y.log, (log) => redraw({ log, ends: ends(log) }))] : [];
  const figure = chartFigure(`${chart.title}. ${described.join("; ")}.`, controls, makeTable);
  const parts = series.map((one, i) => ({ label: one.label, part: kParts[one.part] ?? partInTurn(i), values: values[i] }));
  if (heading) section.append(element("h3", {}, heading));
  if (above !== "") section.append(lead(above ?? `${chart.title}.`));
  if (chart.kind === "lines") {
    const entries = series.map((one, i) => element("li", { class: "named" }, markSwatch(markInTurn(i)), one.label));
    section.append(element("ul", { class: "key" }, ...entries), figure.figure);
    lines(figure, {
      lines: series.map((one, i) => ({
        label: one.label,
        mark: markInTurn(i),
        scattered: one.marksOnly,
        points: one.points.map(([x, y, low, high, own]) => ({
          x,
          y,
          low,
          high,
          text: [...(own ? [own] : []), `${kKinds[kindOf(chart.x)].text(x)}, ${withEnds([x, y, low, high])}`],
        })),
      })),
      x: { ...chart.x, kind: kindOf(chart.x) },
      y: { ...chart.y, kind: kindOf(chart.y) },
      limits: chart.limits.map(({ at, words, ofX }) => ({ value: at, text: words, ofX })),
    });
    return;
  }
  if (parts.length > 1) section.append(key(parts));
  section.append(figure.figure);
  // A logarithmic axis has no place for zero, hence no text.
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

/** The charts whose names begin alike, one at a time, with a choice by the end of their titles; at first that of `first`. */
function addOneOfCharts(section, prefix, { first = null, above = null } = {}) {
  const charts = chartsOfPage();
  const names = Object.keys(charts).filter((name) => name.startsWith(prefix));
  if (names.length === 0) return;
  const box = element("div");
  const show = (name) => {
    box.replaceChildren();
    addChart(box, name, { above: "" });
  };
  const options = names.map((name) => ({ value: name, text: name.slice(prefix.length) }));
  const chosen = names.includes(`${prefix}${first}`) ? `${prefix}${first}` : names[0];
  if (above) section.append(lead(above));
  if (names.length > 1) section.append(element("div", { class: "controls" }, selection("Run", options, chosen, show)));
  section.append(box);
  show(chosen);
}
