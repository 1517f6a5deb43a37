// Tests the pages of lessons as the command writes them for a teacher, opened from a file and without a network.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { ARTEFACTS, beforeAll, dadsim, holds, isNoWiderThanTheWindow, open, reports, shows } from "./pages.mjs";

const kLessons = [5]; // one suffices, as the same code writes all; tests/cli/lessons_test.cpp tests their numbers
const kLargestPage = 5e6; // bytes of a page that embeds a run's page for each command

beforeAll((folder) => {
  for (const number of kLessons) {
    reports[`lesson-${number}`] = join(folder, `lesson-${number}.html`);
    dadsim("lesson", String(number), "--quiet", "--out", reports[`lesson-${number}`]);
  }
});

for (const number of kLessons) {
  const name = `lesson-${number}`;

  test(`${name} opens without a network, and keeps its answers until they are asked for`, async () => {
    assert.ok(statSync(reports[name]).size < kLargestPage);
    const { page, close } = await open(name, { offline: true });
    const answers = page.locator("main details:not(.run)");
    await holds(async () => (await answers.count()) >= 4);
    const first = answers.first();
    const hide = page.getByRole("button", { name: "Hide all answers" });
    await shows(() => hide.isVisible(), false, "there is nothing to hide");
    await shows(() => page.locator("main pre:not([tabindex='0'])").count(), 0, "code scrolls by keyboard");
    await shows(() => first.locator("p").first().isVisible(), false);
    await first.locator("summary").focus();
    await page.keyboard.press("Enter");
    await shows(() => first.locator("p").first().isVisible(), true);
    await hide.click();
    await shows(() => first.locator("p").first().isVisible(), false);
    await shows(() => hide.isVisible(), false);
    const questions = await answers.count();
    await shows(() => page.getByLabel("Your answer, before you look:").count(), questions);
    await shows(async () => (await page.locator("main").innerText()).includes("<!--"), false);
    await close();
  });

  test(`${name} shows the result of each run as the run's own page`, async () => {
    const { page, close } = await open(name, { offline: true });
    const runs = page.locator("main details.run");
    await holds(async () => (await runs.count()) >= 1);
    await runs.first().locator("summary").click();
    const inside = page.frameLocator("details.run iframe").first();
    await inside.locator("html[data-ready='true']").waitFor();
    await inside.locator("#accuracy canvas").first().waitFor();
    const frame = await (await runs.first().locator("iframe").elementHandle()).contentFrame();
    const result = await frame.evaluate(() => JSON.parse(document.getElementById("result").textContent));
    assert.ok(result.runs.length >= 2);
    // The frame has the height of its content, so the page scrolls and not the frame.
    await page.waitForFunction(() => {
      const frame = document.querySelector("details.run iframe");
      return frame.clientHeight >= frame.contentDocument.documentElement.offsetHeight;
    });
    if (process.env.DADSIM_ARTEFACTS !== undefined)
      await page.screenshot({ path: join(ARTEFACTS, `${name}.png`), fullPage: true });
    await close();
  });
}

test("lessons are as wide as the page, light and dark", async () => {
  for (const [width, colorScheme] of [
    [390, "light"],
    [768, "dark"],
    [1280, "dark"],
  ]) {
    const { page, close } = await open("lesson-5", { width, colorScheme });
    for (const summary of await page.locator("main summary").all()) await summary.click();
    await isNoWiderThanTheWindow(page, width);
    if (process.env.DADSIM_ARTEFACTS !== undefined)
      await page.screenshot({ path: join(ARTEFACTS, `lesson-5-${width}-${colorScheme}.png`), fullPage: true });
    await close();
  }
});

test("the frames follow the page into the dark", async () => {
  const { page, close } = await open("lesson-5");
  await page.locator("details.run summary").first().click();
  const inside = page.frameLocator("details.run iframe").first();
  await inside.locator("html[data-ready='true']").waitFor();
  await page.locator("#theme").click();
  await inside.locator("html[data-theme='dark']").waitFor();
  await close();
});

test("nothing in a page names another", () => {
  for (const number of kLessons) {
    const html = readFileSync(reports[`lesson-${number}`], "utf8");
    assert.equal(/(src|srcset|data)=["']?(https?:)?\/\//.test(html), false);
    for (const [, target] of html.matchAll(/<a href="([^"]*)"/g))
      assert.match(target, /^(#|lesson-\d\.(html|xml)$)/, target);
  }
});
