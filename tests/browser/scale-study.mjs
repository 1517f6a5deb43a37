// Tests the page of a real but small scale study.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { beforeAll, dadsim, open, openTable, pixels, reports, resultOf, root, shows, showsOther, testLayout } from "./pages.mjs";

beforeAll((folder) => {
  reports["scale-study"] = join(folder, "scale-study.html");
  const quick = ["--set", "data.digits.train=1000", "--set", "training.target-accuracy=0.5", "--set", "training.seeds=2"];
  dadsim("scale-study", join(root, "scenarios/scale-study.xml"), ...quick, "--report", reports["scale-study"], "--quiet");
});

testLayout("scale-study");

test("scale-study: the answer stands in words, and every run and rung in its table", async () => {
  const { page, close } = await open("scale-study");
  const result = await resultOf(page);
  await shows(async () => (await page.locator(".verdict").textContent()).replaceAll("\u00a0", " "), result.verdict);
  await shows(() => page.locator("#runs tbody tr").count(), result.runs.length);
  await shows(() => page.locator("#rungs tbody tr").count(), result.rungs.length);
  assert.ok(result.rungs.at(-1).held_out);
  await openTable(page, "#ladder");
  const drawn = result.runs.find((run) => !run.as_many_by_definition);
  const seen = drawn.rungs.filter((rung) => rung.relative_steps).length;
  await shows(() => page.locator("#ladder details tbody tr", { hasText: /learned|left out/ }).count(), seen);
  await close();
});

test("scale-study: another run is drawn anew", async () => {
  const { page, close } = await open("scale-study");
  const result = await resultOf(page);
  const chart = "#ladder figure > .drawing > canvas";
  const first = await pixels(page, chart);
  await page.locator("#ladder select").first().selectOption(result.runs.at(-1).label);
  await showsOther(() => pixels(page, chart), first);
  await close();
});
