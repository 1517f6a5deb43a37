// Script of a lesson: input fields for predictions, a button that hides answers again, and frames as high as their
// contents.

const main = document.getElementById("main");
const answers = [...main.querySelectorAll("details:not(.run)")];

/** Who has written a guess down cannot tell themselves afterwards that they knew. Nothing is kept or sent. */
for (const answer of answers) {
  const label = document.createElement("label");
  label.className = "prediction";
  label.append("Your answer, before you look:", document.createElement("textarea"));
  answer.before(label);
}

const hide = document.getElementById("hide");
/** Nothing is to be hidden while no answer is shown. */
const showHide = () => (hide.hidden = answers.every((answer) => !answer.open));
for (const answer of answers) answer.addEventListener("toggle", showHide);
hide.addEventListener("click", () => {
  for (const answer of answers) answer.open = false;
});
showHide();
document.getElementById("print").addEventListener("click", () => window.print());

const contents = document.getElementById("contents");
for (const [at, heading] of [...main.querySelectorAll("h2")].entries()) {
  heading.id ||= `part-${at + 1}`;
  const link = document.createElement("a");
  link.href = `#${heading.id}`;
  link.textContent = heading.textContent;
  const item = document.createElement("li");
  item.append(link);
  contents.append(item);
}

const frames = [...main.querySelectorAll("iframe")];

/** As high as its page, at any width; a page that cannot be measured scrolls in its frame. */
function fit(frame) {
  const inside = frame.contentDocument?.documentElement;
  if (!inside) return;
  const resize = () => {
    if (inside.offsetHeight > 0) frame.style.height = `${inside.offsetHeight + 4}px`;
  };
  new ResizeObserver(resize).observe(inside.querySelector("body"));
  resize();
}

const root = document.documentElement;
const themeButton = document.getElementById("theme");
const systemDark = window.matchMedia("(prefers-color-scheme: dark)");

/** Frames follow the page: they have a switch of their own, of which the page's is the first setting. */
function showTheme() {
  const dark = (root.dataset.theme ?? (systemDark.matches ? "dark" : "light")) === "dark";
  themeButton.setAttribute("aria-pressed", String(dark));
  for (const frame of frames) {
    const button = frame.contentDocument?.getElementById("theme");
    if (button && (button.getAttribute("aria-pressed") === "true") !== dark) button.click();
  }
}
themeButton.addEventListener("click", () => {
  root.dataset.theme = themeButton.getAttribute("aria-pressed") === "true" ? "light" : "dark";
  showTheme();
});
for (const frame of frames) {
  const shown = () => {
    fit(frame);
    showTheme();
  };
  frame.addEventListener("load", shown);
  // The frame may have loaded before this script ran.
  const inside = frame.contentDocument;
  if (inside?.URL === "about:srcdoc" && inside.readyState === "complete") shown();
}
showTheme();
root.dataset.ready = "true";
