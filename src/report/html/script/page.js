// The common script of pages: reads the result, fills its sections, and activates its buttons.

/** Fills a section; one with nothing to say goes. */
function addSection(page, id, fill) {
  const section = document.getElementById(id);
  fill(page, section);
  if (section.children.length < 2) section.remove();
}

/** A section of details is closed: `fill` adds what is below its `title` when it is first opened. */
function addClosedSection(page, id, has, title, fill) {
  const section = document.getElementById(id);
  if (!has) return section.remove();
  const details = closedDetails(title, () => fill(page, details), { class: "closed" });
  details.append(...[...section.children].slice(1));
  section.append(details);
}

const kMostContents = 5;
/** A longer answer is written smaller, so that three lines of a tablet hold it. */
const kLongAnswer = 180;

/** Links to the sections: five items, of which the last holds all from the fifth on where there are more. */
function addContents() {
  const list = document.getElementById("contents");
  const links = [...document.querySelectorAll("main section > h2")].map((heading) =>
    element(
      "li",
      {},
      element("a", { href: `#${heading.parentElement.id}` }, heading.dataset.short ?? heading.textContent),
    ),
  );
  if (links.length <= kMostContents) return list.append(...links);
  const more = element(
    "details",
    {},
    element("summary", {}, "More"),
    element("ul", {}, ...links.slice(kMostContents - 1)),
  );
  list.append(...links.slice(0, kMostContents - 1), element("li", {}, more));
}

/** `fill(result, text)` draws the page of a result (and the text it was read from); it is saved as `fileName(result)`. */
function startPage(fileName, fill) {
  try {
    const text = document.getElementById("result").textContent;
    const result = JSON.parse(text);
    const answer = document.querySelector(".verdict");
    answer.textContent = kept(answer.textContent);
    answer.classList.toggle("small", answer.textContent.length > kLongAnswer);
    fill(result, text);
    addContents();
    openTarget();
    window.addEventListener("hashchange", openTarget);
    followTheme(document.getElementById("theme"));
    document.getElementById("print").addEventListener("click", () => window.print());
    document.getElementById("save").addEventListener("click", () => {
      const address = URL.createObjectURL(new Blob([text.trimStart()], { type: "application/json" }));
      element("a", { href: address, download: fileName(result) }).click();
      setTimeout(() => URL.revokeObjectURL(address), 1000);
    });
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    const failure = document.getElementById("failure");
    failure.textContent = `Not all of this page could be drawn (${error.message}); the result is in its source as JSON.`;
    failure.hidden = false;
    throw error;
  }
}
