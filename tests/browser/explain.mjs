// The page of an explanation: of a hand-made one (sample_reports.cpp) and of a real one.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { beforeAll, dadsim, holds, kHostile, open, openAll, reports, resultOf, root, shows, testLayout, until } from "./pages.mjs";

beforeAll((folder) => {
  reports.explain = join(folder, "explain.html");
  reports.cluster = join(folder, "cluster.html");
  const quick = ["--set", "platform.gpu-cluster.nodes=2", "--set", "workers.worker.hosts=gpu-[0-15]", "--quiet"];
  dadsim("explain", join(root, "scenarios/gpt2-medium.xml"), ...quick, "--report", reports.cluster);
});

testLayout("explain");
testLayout("cluster", { ends: true });

const shown = (page) =>
  page.locator("#changes .changes li").evaluateAll((all) =>
    all.map((li) => ({
      words: li.querySelector(".change").textContent.replaceAll("\u00a0", " "),
      width: parseFloat(li.querySelector(".length").style.width),
      longer: li.querySelector(".length").classList.contains("longer"),
    })),
  );

test("changes come by what they save, those that say nothing behind a switch", async () => {
  const { page, close } = await open("explain");
  await shows(
    async () => (await shown(page)).map(({ words, width, longer }) => [words.split(" (")[0], Math.round(width), longer]),
    [
      ["a network without limits", 80, false],
      ["twice the bandwidth of up", 40, false],
      ["half the batch", 90, true],
    ],
  );
  const idle = page.locator("#changes > div > details");
  await shows(() => idle.locator("summary").textContent(), "2 changes with less than 0.1 % difference");
  await idle.locator("summary").click();
  await holds(async () => (await idle.textContent()).includes("half the latency of all links"));
  await close();
});

test("another run is chosen with the keyboard, and everything is of that one then", async () => {
  const { page, close } = await open("explain");
  const result = await resultOf(page);
  for (const section of ["#causes", "#changes"]) {
    const list = page.locator(section).getByLabel("Run", { exact: true });
    await list.focus();
    await page.keyboard.press("ArrowDown");
    await shows(() => list.inputValue(), result.runs[1].label);
  }
  await holds(async () => (await page.locator("#causes caption").textContent()).includes(kHostile));
  await page.locator("#causes").getByLabel("Run", { exact: true }).selectOption({ label: result.runs[2].label });
  await shows(() => page.locator("#causes table").count(), 0, "an event-driven run has no critical path");
  await holds(async () => (await page.locator("#causes > div").last().textContent()).length > 20, "but words");
  await close();
});

test("a part says what making it faster saves, or why nothing", async () => {
  const { page, close } = await open("cluster");
  const result = await resultOf(page);
  const withSavings = () =>
    page
      .locator("#causes tbody tr")
      .evaluateAll((all) =>
        all
          .map((row) => [...row.children].map((cell) => cell.textContent.replaceAll("\u00a0", " ")))
          .filter(([, , , saving]) => saving !== ""),
      );
  const parts = await until(withSavings, (now) => assert.ok(now.length > 0));
  for (const [name, , , saving, why] of parts)
    assert.ok(/^saves/.test(saving) || why.length > 10, `${name}: ${saving} ${why}`);
  await holds(async () => (await page.locator("#steps canvas").count()) > 1);
  await holds(async () => (await page.locator(".verdict").textContent()).includes("What helps most is") || result.runs.length === 0);
  await holds(async () => (await page.locator("#provenance").textContent()).includes("platform.gpu-cluster.nodes=2"));
  await close();
});

test("names that would be markup stay text", async () => {
  const { page, close } = await open("explain");
  await shows(() => page.locator("h1").textContent(), kHostile);
  await openAll(page);
  await shows(() => page.locator("pre").textContent(), kHostile);
  await shows(() => page.locator("#description").textContent(), kHostile);
  await shows(() => page.locator("img").count(), 0);
  await shows(() => page.locator("script").count(), 6);
  await close();
});

test("a word leads into the glossary with the keyboard", async () => {
  const { page, close } = await open("explain");
  await page.locator("#causes .word").focus();
  await page.keyboard.press("Enter");
  await page.locator("#word-critical-path").waitFor({ state: "visible" });
  await shows(() => page.evaluate(() => document.getElementById("glossary").open), true);
  await close();
});
