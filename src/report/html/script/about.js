// Parts common to every page: sentences about the result, the scenario, and links to the glossary.

/** What learned and what is timed, in one line. */
function settingText(result, timesAlone) {
  if (timesAlone) return `Timed as ${result.timed_as}; nothing was learned`;
  if (result.learned_on === result.timed_as) return `Learned on and timed as ${result.learned_on}`;
  return `Learned on ${result.learned_on}; timed as ${result.timed_as}`;
}

/** A list of terms and what they are: facts [[term, text], …]. */
function factsList(facts) {
  const terms = facts.flatMap(([term, text]) => [element("dt", {}, term), element("dd", {}, text)]);
  return element("dl", { class: "facts" }, ...terms);
}

/** What is said, in words. */
const wordsOf = (statements) => statements.map(({ words }) => words);

/** Sentences below a heading, if there are any. */
function addSentences(section, title, sentences) {
  if (sentences.length === 0) return;
  section.append(element("h3", {}, title), sentenceList(sentences));
}

/** What a page knows of its scenario beside the result; of a page made without it nothing. */
function aboutScenario() {
  const text = document.getElementById("about")?.textContent;
  const about = text ? JSON.parse(text) : { description: "", scenario: "", set: [], build: "" };
  if (!about.description && about.scenario) {
    const file = new DOMParser().parseFromString(about.scenario, "application/xml");
    about.description = file.querySelector("scenario > description")?.textContent.trim() ?? "";
  }
  return about;
}

/** The scenario's own words below the title. */
function showDescription(about) {
  if (!about.description) return;
  document.getElementById("setting").before(element("p", { id: "description" }, kept(about.description)));
}

/** "dadsim 0.1.0, build 1a2b3c4d5e6f" */
const versionText = (version, about) => `dadsim ${version}${about.build ? `, build ${about.build}` : ""}`;

/** The text of the scenario's file, and what was set beside it. */
function addScenarioText(section, about) {
  if (!about.scenario) return;
  section.append(element("h3", {}, "The scenario"));
  if (about.set.length > 0) {
    const settings = about.set.flatMap((one, i) => [i > 0 ? ", " : "", element("code", {}, one)]);
    section.append(element("p", {}, "Beside its file was set: ", ...settings, "."));
  }
  const summary = element("summary", {}, "Its file, as it was read");
  section.append(element("details", {}, summary, block("The scenario's file", about.scenario)));
}

/** A word that the glossary of this page explains. */
const word = (name, text = name) =>
  element("a", { class: "word", href: `#word-${name.toLowerCase().replaceAll(" ", "-")}` }, text);

/** Opens what an address asks for: the glossary for one of its words, or a section that is closed. */
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const closed = target?.querySelector(":scope > details.closed");
  if (closed) closed.open = true;
  if (!target || !location.hash.startsWith("#word-")) return;
  document.getElementById("glossary").open = true;
  target.scrollIntoView({ block: "center" });
}
