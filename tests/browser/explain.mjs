// Tests the page of an explanation, with a hand-made one (sample_reports.cpp) and a real one.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { beforeAll, dadsim, holds, kHostile, open, openAll, reports, resultOf, root, shows, testLayout } from "./pages.mjs";

beforeAll((folder) => {
  reports.explain = join(folder, "explain.html");
  reports.cluster = join(folder, "cluster.html");
  const quick = ["--set", "platform.gpu-cluster.nodes=2", "--set", "workers.worker.hosts=gpu-[0-15]", "--quiet"];
  dadsim("explain", join(root, "scenarios/gpt2-medium.xml"), ...quick, "--report", reports.cluster);
});

testLayout("explain");
testLayout("cluster", { ends: true });

const rowsOf = async (page, heading) => {
  const box = page.locator("#tables .scroll", { has: page.locator("caption", { hasText: heading }) }).first();
  const texts = await box.locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  return texts.map((row) => row.map((text) => text.replaceAll("\u00a0", " ")));
};

test("changes come by what they save, also those without effect", async () => {
  const { page, close } = await open("explain");
  const result = await resultOf(page);
  const rows = await rowsOf(page, `All changes tried for ${result.runs[0].label}`);
  assert.deepEqual(
    rows.map(([words, saving]) => [words.split(" (")[0], saving]),
    [
      ["a network without limits", "saves 80.0 %"],
      ["twice the bandwidth of up", "saves 40.0 %"],
      ["twice the bandwidth of down", "no difference"],
      ["half the latency of all links", "no difference"],
      ["half the batch", "takes 90.0 % longer"],
    ],
  );
  await close();
});

test("the bars of another run are chosen with the keyboard", async () => {
  const { page, close } = await open("explain");
  const result = await resultOf(page);
  const list = page.locator("#left").getByLabel("Run", { exact: true });
  await list.focus();
  await page.keyboard.press("ArrowDown");
  await shows(() => list.inputValue(), result.runs[1].label);
  await close();
});

test("a part says what making it faster saves, or why nothing", async () => {
  const { page, close } = await open("cluster");
  const result = await resultOf(page);
  const parts = (await rowsOf(page, `On the critical path of ${result.runs[0].label}`)).filter(([, , , saving]) => saving !== "");
  assert.ok(parts.length > 0);
  for (const [name, , , saving, why] of parts)
    assert.ok(/^saves/.test(saving) || why.length > 10, `${name}: ${saving} ${why}`);
  await holds(async () => (await page.locator("#step canvas").count()) > 0);
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
  await shows(() => page.locator("script").count(), 7);
  await close();
});
