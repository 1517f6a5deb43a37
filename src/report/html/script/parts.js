// Draws the tables and sentences that the result contains in words.

const partsOfPage = () => JSON.parse(document.getElementById("document").textContent);

/** A box that a part of the page can be found by. */
const namedBox = (name) => element("div", { id: name && !document.getElementById(name) ? name : null });

/** Adds all parts; `page.nameOf(text)` gives the node for a head of a row that is the name of a run. */
function addParts(page, section) {
  for (const { sentences, set, name, heading, columns, rows, first } of page.parts) {
    if (sentences) section.append(...sentences.map((words) => lead(words)));
    else if (set) section.append(element("h3", {}, "To use it"), block("Options of dadsim", set.map((one) => `--set ${one}`).join(" \\\n")));
    else if (rows.length > 0) {
      const box = namedBox(name);
      const numbers = (i) => rows.every((row) => /^[^\p{L}]*\d|^(–|never)?$/u.test(row[i]));
      const column = (title, i) => ({ title: title.slice(title.indexOf(": ") + 1).trim(), group: title.split(": ").slice(0, -1).join(": "), number: numbers(i) });
      box.append(table(heading, columns.map(column), rows.map(([head, ...cells]) => [page.nameOf?.(head) ?? head, ...cells]), first));
      section.append(box);
    }
  }
}
