// Texts of an explanation that several sections share.

/** Of the time: a change by less than this says nothing. */
const kLeastSaving = 0.001;

/** "saves 23.2 %", "takes 4.0 % longer", "makes no difference" */
function savingText(saving) {
  if (!isNumber(saving)) return kNone;
  if (saving < -kLeastSaving) return `takes ${humanPercent(-saving)} longer`;
  return saving < kLeastSaving ? "no difference" : `saves ${humanPercent(saving)}`;
}

/** A choice of the run that a section is of, and what is drawn of it: `fill(run)` gives its nodes. */
function addByRun(page, section, fill) {
  const shown = page.runs.filter((run) => run.what_if.length > 0);
  if (shown.length === 0) return;
  const box = element("div");
  const show = (index) => box.replaceChildren(...fill(page.runs[index]));
  const first = Math.max(0, shown.includes(page.runs[page.summary.first]) ? page.summary.first : page.runs.indexOf(shown[0]));
  const options = shown.map((run) => ({ value: page.runs.indexOf(run), text: run.label }));
  if (shown.length > 1)
    section.append(element("div", { class: "controls" }, selection("Run", options, first, (index) => show(index))));
  section.append(box);
  show(first);
}
