// The winning run at each point: a map over two axes of a grid, or the points themselves if they form no grid.

const kSvg = "http://www.w3.org/2000/svg";
function svgElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

const kCellHeight = 36;
const kLeastCell = 11; // minimum width of a cell in pixels; if cells get narrower, the map is wider than the page and
                       // scrolls
const kCellForLetter = 13;
const kCellForTime = 58;
const kCellForLead = 74;
const kTextWidth = 6.6; // approximate width of a letter, pixels

/** Black or white, whichever is read better on a colour. */
function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const c = parseInt(colour.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return luminance > 0.179 ? "#000000" : "#ffffff"; // luminance of equal contrast to black and white (WCAG 2.2, 1.4.3)
}

/** Lines or dots of a part, to be laid over its colour; faint, for there is text on it. */
function overlay(id, part) {
  const ink = palette().paper;
  const { filling: name } = part;
  const marks = kFillingLines[name].map(([x1, y1, x2, y2]) =>
    svgElement("line", { x1, y1, x2, y2, stroke: ink, "stroke-width": kLineWidth }),
  );
  if (name === "dots") marks.push(svgElement("circle", { cx: 4, cy: 4, r: kDotRadius, fill: ink }));
  return svgElement(
    "pattern",
    { id, width: 8, height: 8, patternUnits: "userSpaceOnUse" },
    svgElement("g", { opacity: 0.4 }, ...marks),
  );
}

/** How clearly a run is first, by how many times as long the second takes: each with its share of the run's colour. */
const kShades = [
  { below: 1.1, share: 0.3, text: "under 1.1 times" },
  { below: 1.5, share: 0.6, text: "1.1 to 1.5 times" },
  { below: Infinity, share: 1, text: "1.5 times and more, or no other reaches the target" },
];
const shadeOf = (lead) => kShades.find(({ below }) => (lead?.value ?? Infinity) < below) ?? kShades[kShades.length - 1];

/** What a cell shows: {letter, run or null, seconds, lead}. */
function cellOf(sweep, point) {
  const quickest = quickestOf(point);
  if (quickest && isOpen(point)) return { letter: "=", run: null, open: true, seconds: quickest.seconds, lead: null };
  if (quickest)
    return { letter: sweep.runs[quickest.run].letter, run: quickest.run, seconds: quickest.seconds, lead: leadOf(point) };
  if (!point || (point.ranked.length === 0 && !sweep.failed.has(point.id))) return { letter: "", run: null };
  return { letter: sweep.failed.has(point.id) ? "×" : "–", run: null };
}

/** How many of the points each run wins, as a key; `all` adds how many there are in the whole sweep. */
function legend(sweep, points, all) {
  const count = (among, run) => among.filter((point) => winnerOf(point)?.run === run).length;
  const entries = sweep.runs
    .filter((run) => sweep.points.some((point) => point.ranked.some(([ranked]) => ranked === run.index)))
    .map((run) => {
      const filled = sample(14, (context) => filling(context, partInTurn(run.index)));
      const here = humanCount(count(points, run.index));
      const text = all
        ? `${run.label}: ${here} here, ${humanCount(count(sweep.points, run.index))} in all`
        : `${run.label}: ${here}`;
      return element("li", { class: "named" }, filled, element("strong", {}, run.letter), element("span", {}, text));
    });
  const others = [
    ["=", "equal, or not told apart", points.filter((point) => quickestOf(point) && isOpen(point)).length],
    ["–", "no run reaches the target", points.filter((point) => point.ranked.length > 0 && !quickestOf(point)).length],
    ["×", "infeasible", points.filter((point) => sweep.infeasible.has(point.id)).length],
    [
      "×",
      "failed",
      points.filter((point) => sweep.failed.has(point.id) && !sweep.infeasible.has(point.id)).length,
    ],
  ].filter(([, , number]) => number > 0);
  for (const [sign, text, number] of others)
    entries.push(element("li", { class: "named" }, element("strong", {}, sign), `${text}: ${humanCount(number)}`));
  return element("ul", { class: "key" }, ...entries);
}

/** What the shades of cells mean, in words; in the colour of the first run, whichever that is. */
function shadesLegend() {
  const entry = ({ share, text }) =>
    element("li", { class: "named" }, sample(14, () => shaded(palette().runs[0], share)), element("span", {}, text));
  return element("ul", { class: "key shades" }, element("li", {}, "The fainter, the nearer the second, which takes"), ...kShades.map(entry));
}

/** Two numeric axes with the most values, else the first ones. */
function axesForMap(sweep) {
  const order = [...sweep.axes].sort(
    (a, b) => Number(b.numeric) - Number(a.numeric) || b.texts.length - a.texts.length || b.index - a.index,
  );
  return [order[0].index, order.length > 1 ? order[1].index : null];
}

const axisOptions = (axes) => axes.map((axis) => ({ value: axis.index, text: axis.name }));

function addMap(sweep, section) {
  if (sweep.points.length === 0 || sweep.axes.length === 0) return;
  if (!sweep.result.sweep.grid) return addScatter(sweep, section);
  const [x, y] = axesForMap(sweep);
  const state = { x, y, place: middle(sweep) };
  const one = state.y === null;

  const drawing = element("div", { class: "map scroll", tabindex: "-1" });
  const readout = element("p", { class: "readout", "aria-live": "polite" });
  const legendBox = element("div");
  const controls = element("div", { class: "controls" });
  let cells = []; // by row from the top, then by column from the left
  let figure = null;

  const columns = () => sweep.axes[state.x].texts.map((_, i) => i);
  const rows = () => {
    if (one) return [null];
    const indices = sweep.axes[state.y].texts.map((_, i) => i);
    return sweep.axes[state.y].numeric ? indices.reverse() : indices; // larger values at the top
  };
  const placeOf = (column, row) => {
    const place = [...state.place];
    place[state.x] = column;
    if (row !== null) place[state.y] = row;
    return place;
  };
  const shownAxes = () => (one ? [state.x] : [state.x, state.y]);

  const say = (cell) => {
    const { place } = cell;
    const point = sweep.at(place);
    readout.textContent = kept(`${placeText(sweep, place)}: ${outcomeText(sweep, point)}.`);
  };
  const hint = () => {
    readout.textContent = "Point at a cell, or go through them with the arrow keys, for its times.";
  };

  const draw = () => {
    const across = sweep.axes[state.x];
    const upwards = one ? null : sweep.axes[state.y];
    const [down, along] = [rows(), columns()];
    const labels = upwards ? upwards.texts.map((text) => shortened(text, 16)) : [];
    const left = upwards ? Math.max(...labels.map((text) => text.length)) * kTextWidth + 30 : 4;
    const available = Math.max(200, drawing.clientWidth - left - 8);
    const width = Math.max(kLeastCell, Math.min(110, available / along.length));
    const height =
      down.length > 40 ? Math.max(kLeastCell, 1440 / down.length) : Math.min(kCellHeight, Math.max(20, width));
    const longest = Math.max(...across.texts.map((text) => shortened(text, 16).length)) * kTextWidth + 10;
    const everyColumn = Math.max(1, Math.ceil(longest / width));
    const everyRow = Math.max(1, Math.ceil(14 / height));
    const [totalWidth, totalHeight] = [left + width * along.length + 12, height * down.length + 44];
    const [ink, soft, nobody] = ["var(--ink)", "var(--soft)", "var(--panel)"];

    const used = [...new Set(sweep.points.map((point) => winnerOf(point)?.run).filter(isNumber))];
    const colour = (run) => palette().runs[partInTurn(run).colour];
    const definitions = used.map((run) => overlay(`part-${run}`, partInTurn(run)));
    const texts = [];
    const label = (text, at, options) =>
      texts.push(svgElement("text", { x: at[0], y: at[1], fill: soft, "aria-hidden": "true", ...options }, text));
    if (upwards) {
      down.forEach((row, i) => {
        const fromBelow = down.length - 1 - i;
        if (fromBelow % everyRow === 0)
          label(labels[row], [left - 6, (i + 0.5) * height + 4], { "text-anchor": "end" });
      });
      const centre = (height * down.length) / 2;
      label(upwards.name, [11, centre], { "text-anchor": "middle", transform: `rotate(-90 11 ${centre})` });
    }
    along.forEach((column) => {
      if (column % everyColumn !== 0) return;
      const text = shortened(across.texts[column], 16);
      const half = (text.length * kTextWidth) / 2;
      const centre = Math.min(Math.max(left + (column + 0.5) * width, half), totalWidth - half);
      label(text, [centre, height * down.length + 17], { "text-anchor": "middle" });
    });
    label(across.name, [left + (width * along.length) / 2, totalHeight - 6], { "text-anchor": "middle" });

    cells = down.map((row, i) =>
      along.map((column, j) => {
        const place = placeOf(column, row);
        const point = sweep.at(place);
        const { letter, run, open, seconds, lead } = cellOf(sweep, point);
        const ground = run === null ? null : shaded(colour(run), shadeOf(lead).share);
        const box = { x: left + j * width, y: i * height, width: width - 1, height: height - 1 };
        const parts = [svgElement("rect", { ...box, fill: ground ?? nobody })];
        if (open) parts.push(svgElement("rect", { ...box, fill: "none", stroke: "var(--soft)", "stroke-dasharray": "3 2" }));
        if (run !== null) parts.push(svgElement("rect", { ...box, fill: `url(#part-${run})` }));
        const textInk = ground === null ? ink : inkOn(ground);
        const shown = [];
        const write = (text, dy, size, weight) => {
          shown.push(text);
          return svgElement(
            "text",
            {
              x: box.x + box.width / 2,
              y: box.y + box.height / 2 + dy,
              "text-anchor": "middle",
              "font-size": size,
              "font-weight": weight,
              fill: textInk,
              stroke: ground ?? "none",
              "stroke-width": 3,
              "paint-order": "stroke",
            },
            ` ${text}`,
          );
        };
        const withTime = width >= kCellForTime && height >= 30 && isNumber(seconds);
        const withLead = withTime && width >= kCellForLead && lead;
        if (width >= kCellForLetter && height >= kCellForLetter)
          parts.push(write(withLead ? `${letter} ${factorText(lead.value)}` : letter, withTime ? -2 : 4.5, 13, 700));
        if (withTime) parts.push(write(amountText(sweep, seconds), 12, 11, 400));
        const node = svgElement(
          "g",
          {
            class: "cell",
            role: "gridcell",
            tabindex: -1,
            "data-run": run === null ? "" : sweep.runs[run].label,
            "data-point": point?.id ?? "",
            "data-shade": run === null ? "" : String(shadeOf(lead).share),
            // The visible text comes first in the name, so that speech input finds the element.
            "aria-label": `${shown.join(" ")}${shown.length > 0 ? ", " : ""}${placeText(
              sweep,
              place,
              shownAxes().map((axis) => sweep.axes[axis]),
            )}: ${outcomeText(sweep, point)}`,
          },
          ...parts,
        );
        return { node, place };
      }),
    );
    const svg = svgElement(
      "svg",
      {
        role: "grid",
        "aria-label": `Which run is first, by ${shownAxes()
          .map((axis) => sweep.axes[axis].name)
          .join(" and ")}`,
        width: totalWidth,
        height: totalHeight,
        viewBox: `0 0 ${totalWidth} ${totalHeight}`,
        "font-size": 12,
      },
      svgElement("defs", {}, ...definitions),
      ...texts,
      ...cells.map((row) => svgElement("g", { role: "row" }, ...row.map((cell) => cell.node))),
    );
    drawing.replaceChildren(svg);
    cells[down.length - 1][0].node.setAttribute("tabindex", "0");
    hint();
  };

  const found = (event) => {
    const node = event.target.closest?.(".cell");
    return node && cells.flat().find((cell) => cell.node === node);
  };
  drawing.addEventListener("pointerover", (event) => {
    const cell = found(event);
    if (cell) say(cell);
  });
  drawing.addEventListener("focusin", (event) => {
    const cell = found(event);
    if (!cell) return;
    for (const one of cells.flat()) one.node.setAttribute("tabindex", one === cell ? "0" : "-1");
    say(cell);
  });
  drawing.addEventListener("keydown", (event) => {
    const cell = found(event);
    if (!cell) return;
    const i = cells.findIndex((row) => row.includes(cell));
    const j = cells[i].indexOf(cell);
    const [down, right] = {
      ArrowUp: [i - 1, j],
      ArrowDown: [i + 1, j],
      ArrowLeft: [i, j - 1],
      ArrowRight: [i, j + 1],
      Home: [i, 0],
      End: [i, cells[i].length - 1],
    }[event.key] ?? [-1, -1];
    const next = cells[down]?.[right];
    if (!next) return;
    event.preventDefault();
    next.node.focus();
  });

  const change = () => {
    draw();
    const points = rows().flatMap((row) => columns().map((column) => sweep.at(placeOf(column, row))));
    legendBox.replaceChildren(legend(sweep, points.filter(Boolean), points.length < sweep.result.sweep.points));
    figure?.refreshTable();
  };
  const setAxis = (name, other) => (axis) => {
    if (state[other] === axis) state[other] = state[name]; // swaps the two axes
    state[name] = axis;
    showControls(name);
    change();
  };
  const showControls = (focused = null) => {
    const choices = one
      ? []
      : [
          selection("Across", axisOptions(sweep.axes), state.x, setAxis("x", "y")),
          selection("Upwards", axisOptions(sweep.axes), state.y, setAxis("y", "x")),
        ];
    controls.replaceChildren(...choices, ...sliders(sweep, shownAxes(), state.place, change));
    if (focused) choices[focused === "x" ? 0 : 1].querySelector("select").focus();
  };
  const makeTable = () => {
    const fixed = sweep.axes.filter((axis) => !shownAxes().includes(axis.index));
    const where = fixed.length > 0 ? `, with ${placeText(sweep, state.place, fixed)}` : "";
    const across = sweep.axes[state.x];
    const text = (point) => {
      const { letter, seconds, lead } = cellOf(sweep, point);
      const time = isNumber(seconds) ? ` ${amountText(sweep, seconds)}` : "";
      return `${letter}${time}${lead ? `, ${factorText(lead.value)}` : ""}` || kNone;
    };
    return table(
      `Who is first, after what time, and how many times as long the second takes, by ${across.name}${one ? "" : ` (across) and ${sweep.axes[state.y].name} (down)`}${where}`,
      [
        one ? across.name : sweep.axes[state.y].name,
        ...numeric(columns().map((column) => across.texts[column])),
      ],
      rows().map((row) => [
        row === null ? "first" : sweep.axes[state.y].texts[row],
        ...columns().map((column) => text(sweep.at(placeOf(column, row)))),
      ]),
    );
  };
  figure = figureOf(element("div", {}, controls, legendBox, drawing, readout), [], makeTable);
  section.append(lead(leadOfMap(sweep)), shadesLegend(), figure.figure);
  showControls();
  change();
  drawings.push(draw);
  let width = drawing.clientWidth;
  new ResizeObserver(() => {
    if (drawing.clientWidth === width) return;
    width = drawing.clientWidth;
    draw();
  }).observe(drawing);
}

function leadOfMap(sweep) {
  const { at_scale: atScale, metric, seeds, rate_unit: unit } = sweep.result.sweep;
  const time = atScale
    ? "the time to accuracy at scale"
    : metric === "time-per-step" || metric === "time-per-round"
      ? `the time of a ${metric.slice("time-per-".length)}`
      : "the simulated time to the target accuracy";
  const what = unit || time;
  const mean = seeds > 1 ? `, mean over ${humanCount(seeds)} seeds` : "";
  return `The run that is first by ${what}${mean}; “=” where it is not told apart from others.`;
}
