// Tests the page of a real plan.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import {
  background,
  beforeAll,
  dadsim,
  holds,
  open,
  openTable,
  pixels,
  reports,
  resultOf,
  root,
  shows,
  showsOther,
  testLayout,
} from "./pages.mjs";

beforeAll((folder) => {
  reports.plan = join(folder, "plan.html");
  const quick = ["--set", "data.digits.train=1000", "--set", "training.target-accuracy=0.6", "--set", "training.seeds=2"];
  const question = ["--set", "goal.within=20s", "--set", "goal.allow.to=100"];
  dadsim("plan", join(root, "scenarios/hospitals-plan.xml"), ...quick, ...question, "--report", reports.plan, "--quiet");
  reports.choices = join(folder, "choices.html");
  dadsim("new", "cheapest", join(folder, "cheapest.xml"), "--quiet");
  dadsim("plan", join(folder, "cheapest.xml"), "--report", reports.choices, "--quiet");
});

testLayout("plan");
testLayout("choices", { sibling: true });

test("plan: choices are drawn by time and money, with the limits", async () => {
  const { page, close } = await open("choices");
  const result = await resultOf(page);
  const reached = result.answers.filter(({ trial }) => trial.reached);
  assert.ok(reached.length >= 3);
  await openTable(page, "#choices");
  await shows(() => page.locator("#choices details tbody tr").count(), reached.length);
  const limits = await page.evaluate(() => Chart.getChart(document.querySelector("#choices figure > .drawing > canvas")).options.plugins.limitLines.limits);
  assert.deepEqual(limits.map(({ value, ofX }) => [value, ofX]), [[result.goal.seconds, true], [result.goal.money, false]]);
  await close();
});

const chart = "#curve figure > .drawing > canvas";

test("plan: the answer stands in words, in the table and at the limit", async () => {
  const { page, close } = await open("plan");
  const result = await resultOf(page);
  const answer = result.answer.statements.map(({ words }) => words).join(" ");
  await shows(async () => (await page.locator(".verdict").textContent()).replaceAll("\u00a0", " "), answer);
  const rows = page.locator("#answers tbody tr");
  await shows(() => rows.count(), result.answers.length);
  const best = result.answers[0];
  assert.ok(best.met, answer);
  await holds(async () => (await rows.first().textContent()).includes(best.answer.value));
  await holds(async () => (await page.locator("#curve .readout").textContent()).includes(`${best.answer.value} is enough`));
  await openTable(page, "#curve");
  const tried = result.answers.reduce((sum, answer) => sum + answer.tried.length, 0);
  await shows(() => page.locator("#curve details tbody tr", { hasText: "goal:" }).count(), tried);
  await close();
});

test("plan: another figure and other runs are drawn anew", async () => {
  const { page, close } = await open("plan");
  const seconds = await pixels(page, chart);
  await page.locator("#curve select").first().selectOption("money to the target");
  const money = await showsOther(() => pixels(page, chart), seconds);
  await page.locator("#curve").getByRole("checkbox", { name: "gradient-sharing", exact: true }).uncheck();
  await showsOther(() => pixels(page, chart), money);
  const light = await background(page);
  await page.locator("#theme").click();
  await showsOther(() => background(page), light);
  await close();
});
