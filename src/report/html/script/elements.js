// Creates the elements of the page. Text of the result is only inserted as text, never as HTML.

/** An element with attributes (functions become listeners, false and null are left out) and children, text or nodes. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") {
      made.addEventListener(name, value);
    } else {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

let idsGiven = 0;
const newId = (what) => `${what}-${++idsGiven}`;

/** Few words stay on one line, and many do not become a narrow column. */
function classOfWords(cell) {
  const kShort = 24; // largest number of characters in a short cell
  const text = typeof cell === "string" ? cell : (cell?.textContent ?? "");
  return text.length > kShort ? "long" : "short";
}

/** Columns of numbers; `group` is their common title. */
const numeric = (titles, group = null) => titles.map((title) => ({ title, group, number: true }));
const columnsOf = (columns) => columns.map((column) => (typeof column === "string" ? { title: column } : column));

/**
 * A table in a box of its own that scrolls sideways where it must.
 * titled: titles, or [{title, number: right-aligned, group: title over neighbours that share it}];
 * rows: lists of cells (text or nodes), of which the first names the row; `first` is the row to stress, if any.
 */
function table(caption, titled, rows, first = -1) {
  const columns = columnsOf(titled);
  const head = [];
  if (columns.some((column) => column.group)) {
    const groups = element("tr");
    for (let i = 0; i < columns.length;) {
      let end = i + 1;
      while (end < columns.length && columns[i].group && columns[end].group === columns[i].group) ++end;
      const text = columns[i].group ?? "";
      groups.append(
        text
          ? element("th", { colspan: end - i, scope: "colgroup", class: "group" }, text)
          : element("td", { colspan: end - i }),
      );
      i = end;
    }
    head.push(groups);
  }
  const titles = columns.map((c) => element("th", { scope: "col", class: c.number ? "number" : null }, c.title));
  head.push(element("tr", {}, ...titles));
  const body = rows.map((row, index) => {
    const cells = row.map((cell, i) =>
      i === 0
        ? element("th", { scope: "row" }, typeof cell === "string" ? element("span", { class: "named" }, cell) : cell)
        : element("td", { class: columns[i].number ? "number" : classOfWords(cell) }, cell),
    );
    return element("tr", { class: index === first ? "first" : null }, ...cells);
  });
  return element(
    "div",
    { class: "scroll", role: "region", "aria-label": caption || columns.map(({ title }) => title).join(", "), tabindex: "0" },
    element(
      "table",
      {},
      caption ? element("caption", {}, element("span", {}, caption)) : null,
      element("thead", {}, ...head),
      element("tbody", {}, ...body),
    ),
  );
}

/** Radio buttons: options [{value, text}]; `change` gets the value chosen. */
function choice(legend, options, chosen, change) {
  const name = newId("choice");
  const labels = options.map(({ value, text }) =>
    element(
      "label",
      { class: "choice" },
      element("input", { type: "radio", name, value, checked: value === chosen, change: () => change(value) }),
      text,
    ),
  );
  return element("fieldset", {}, element("legend", {}, legend), ...labels);
}

/** One checkbox; `change` gets whether it is checked. */
function checkbox(text, checked, change) {
  const input = element("input", { type: "checkbox", checked, change: () => change(input.checked) });
  return element("label", { class: "choice" }, input, text);
}

/** Checkboxes: options [{value, label: text or node}]; `change` gets the set of values checked. */
function checkboxes(legend, options, checked, change) {
  const boxes = options.map(({ value, label }) =>
    checkbox(label, checked.has(value), (on) => {
      if (on) checked.add(value);
      else checked.delete(value);
      change(checked);
    }),
  );
  return element("fieldset", {}, element("legend", {}, legend), ...boxes);
}

/** A list to choose one from: options [{value, text}]. */
function selection(label, options, chosen, change) {
  const id = newId("selection");
  const list = element(
    "select",
    { id, change: () => change(options[list.selectedIndex].value) },
    ...options.map(({ value, text }) => element("option", { selected: value === chosen }, text)),
  );
  return element("span", { class: "choice" }, element("label", { for: id }, label), list);
}

/** A scale to choose one of `texts` from; `change` gets its index. */
function slider(label, texts, chosen, change) {
  const id = newId("slider");
  const said = element("output", { for: id }, texts[chosen]);
  const input = element("input", {
    id,
    type: "range",
    min: 0,
    max: texts.length - 1,
    step: 1,
    value: chosen,
    "aria-valuetext": texts[chosen],
    input: () => {
      const index = Number(input.value);
      said.textContent = texts[index];
      input.setAttribute("aria-valuetext", texts[index]);
      change(index);
    },
  });
  return element("span", { class: "choice slider" }, element("label", { for: id }, label), input, said);
}

/**
 * A drawing with what belongs to it: controls above, and the same numbers as a table below, made when it is first
 * opened. Returns {figure, refreshTable}.
 */
function figureOf(drawing, controls, makeTable) {
  const details = element("details", {}, element("summary", {}, "The numbers as a table"));
  let shown = null;
  const show = () => {
    if (!details.open) return;
    const made = makeTable();
    if (shown) shown.replaceWith(made);
    else details.append(made);
    shown = made;
  };
  details.addEventListener("toggle", show);
  const above = controls.length > 0 ? element("div", { class: "controls" }, ...controls) : null;
  const figure = element("figure", {}, ...[above, drawing, details].filter(Boolean));
  return { figure, refreshTable: show };
}

/** The same of a chart: {figure, drawing, canvas, refreshTable}; the canvas gets its height from `drawing`. */
function chartFigure(description, controls, makeTable) {
  const canvas = element("canvas", { role: "img", "aria-label": description });
  const drawing = element("div", { class: "drawing" }, canvas);
  return { ...figureOf(drawing, controls, makeTable), drawing, canvas };
}

/** A summary that shows what `fill(details)` adds when it is first opened. */
function closedDetails(summary, fill, attributes = {}) {
  const details = element("details", attributes, element("summary", {}, summary));
  details.addEventListener("toggle", () => fill(details), { once: true });
  return details;
}

/** Text that scrolls where it must. */
const block = (label, text) => element("pre", { tabindex: "0", role: "region", "aria-label": label }, text);

/** Sentences as a list. */
const sentenceList = (sentences) =>
  element("ul", { class: "sentences" }, ...sentences.map((text) => element("li", {}, kept(text))));

/** Boxes that switch axes to logarithmic. */
const logarithmic = (...boxes) => element("fieldset", {}, element("legend", {}, "Logarithmic"), ...boxes);

const lead = (text) => element("p", { class: "lead" }, kept(text));
