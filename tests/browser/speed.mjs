// Measures how fast pages load and how many frames per second they play. Run it by hand, on an idle machine:
//   tests/browser/run speed.mjs build/release/src/dadsim build/release/tests/browser/write_sample_reports build/browser build
import { join } from "node:path";
import test from "node:test";
import { beforeAll, dadsim, open, recordDates, reports, root } from "./pages.mjs";

beforeAll((folder) => {
  reports["sweep-large"] = join(folder, "sweep-large.html");
  reports.hospitals = join(folder, "hospitals.html");
  const scenario = join(root, "scenarios/hospitals.xml");
  dadsim(scenario, "--set", "training.epochs=2", "--quiet", "--report", reports.hospitals);
});

test("the first paint of a run's page (at most 1000 ms are wanted)", async () => {
  for (let i = 0; i < 3; ++i) {
    const { page, close } = await open("hospitals");
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
    console.log(`${paint.toFixed(0)} ms`);
    await close();
  }
});

test("the page of a sweep of a thousand points (at most 3000 ms are wanted)", async () => {
  const { page, close } = await open("sweep-large");
  const ready = await page.evaluate(() => performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd);
  console.log(`${ready.toFixed(0)} ms`);
  await close();
});

test("frames of a step that is played (at least 30 a second are wanted)", async () => {
  const { page, close } = await open("hospitals");
  const section = page.locator("#played-step");
  await section.getByLabel("Played in", { exact: true }).selectOption({ label: "4 s" });
  await recordDates(page);
  await section.getByRole("button", { name: "Play" }).click();
  await page.waitForTimeout(1500);
  await section.getByRole("button", { name: "Pause" }).click();
  const rate = await page.evaluate(() => (1000 * (window.dates.length - 1)) / (window.dates.at(-1).at - window.dates[0].at));
  console.log(`${rate.toFixed(1)} frames/s`);
  await close();
});
