// Tests the page of a real search for layouts.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { beforeAll, dadsim, holds, open, openTable, reports, resultOf, root, shows, testLayout } from "./pages.mjs";

beforeAll((folder) => {
  reports.layout = join(folder, "layout.html");
  const few = ["--simulate", "6", "--fix", "recompute=none", "--fix", "interleave=1"];
  dadsim("layout", join(root, "scenarios/questions/gpus.xml"), ...few, "--report", reports.layout, "--quiet");
});

testLayout("layout");

test("layout: the answer stands in words, first in the table, and with the options that have it", async () => {
  const { page, close } = await open("layout");
  const result = await resultOf(page);
  // The headline is the first sentence. All other sentences are a table of facts.
  const [answer, ...facts] = result.answer.statements.map(({ words }) => words);
  await shows(async () => (await page.locator(".verdict").textContent()).replaceAll("\u00a0", " "), answer);
  await shows(async () => (await page.locator("#answer dd").allTextContents()).map((words) => words.replaceAll("\u00a0", " ")), facts);
  const rows = page.locator("#layouts tbody tr");
  await shows(() => rows.count(), result.layouts.length);
  const [best] = result.layouts;
  await holds(async () => (await rows.first().textContent()).includes(`${best.replicas}×${best.tensor}×${best.pipeline}`));
  const set = await page.locator("#tables pre").textContent();
  for (const one of best.set) assert.ok(set.includes(`--set ${one}`), one);
  await openTable(page, "#parts");
  await shows(() => page.locator("#parts details tbody tr").count(), Math.min(10, result.layouts.length));
  await close();
});

test("layout: one slow layout does not flatten the others", async () => {
  const { page, close } = await open("layout");
  const chart = await page.evaluate(() => JSON.parse(document.getElementById("charts").textContent)["time-and-memory"]);
  const seconds = chart.series.flatMap(({ points }) => points.map(([, y]) => y));
  assert.equal(chart.y.log, Math.max(...seconds) >= 20 * Math.min(...seconds));
  const type = await page.evaluate(() => Chart.getChart(document.querySelector("#time-and-memory figure > .drawing > canvas")).options.scales.y.type);
  assert.equal(type, chart.y.log ? "logarithmic" : "linear");
  await close();
});

test("layout: on a phone the time of a step is seen beside the layout", async () => {
  const { page, close } = await open("layout", { width: 390 });
  const cell = await page.locator("#layouts tbody tr").first().locator("td").first().boundingBox();
  assert.ok(cell.x + cell.width <= 390, `ends at ${cell.x + cell.width} px`);
  await close();
});
