// Tests the page of two real diagnoses: a normal step and a slow one.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { beforeAll, dadsim, holds, open, openTable, reports, resultOf, root, shows, testLayout } from "./pages.mjs";

beforeAll((folder) => {
  const scenario = join(root, "scenarios/questions/gpus.xml");
  reports.slower = join(folder, "slower.html");
  dadsim("diagnose", scenario, "--step", "8:150ms", "--step", "16:900ms", "--report", reports.slower, "--quiet");
  reports.normal = join(folder, "normal.html");
  dadsim("diagnose", scenario, "--bus-bandwidth", "3GBps", "--report", reports.normal, "--quiet");
});

testLayout("slower");
testLayout("normal", { sibling: true });

test("diagnose: each size and each cause stands in a table with its check", async () => {
  const { page, close } = await open("slower");
  const result = await resultOf(page);
  const answer = result.answer.statements.map(({ words }) => words).join(" ");
  await shows(async () => (await page.locator(".verdict").textContent()).replaceAll("\u00a0", " "), answer);
  assert.deepEqual(result.times.map(({ devices }) => devices), [8, 16]);
  await shows(() => page.locator("#times tbody tr").count(), 2);
  await openTable(page, "#causes");
  // The first two bars are the measured and the expected time; each cause has a further bar.
  await shows(() => page.locator("#causes details tbody tr").count(), 2 + Math.min(6, result.suspicions.length));
  const rows = page.locator("#suspicions tbody tr");
  await shows(() => rows.count(), result.suspicions.length);
  await holds(async () => (await rows.first().textContent()).includes(result.suspicions[0].cause.words));
  await close();
});

test("diagnose: on a phone how far a cause is off is seen beside it", async () => {
  const { page, close } = await open("slower", { width: 390 });
  const cell = await page.locator("#suspicions tbody tr").first().locator("td").first().boundingBox();
  assert.ok(cell.x + cell.width <= 390, `ends at ${cell.x + cell.width} px`);
  await close();
});
