// Tests the reports of runs, with hand-made results (sample_reports.cpp) and a real run.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import vm from "node:vm";
import {
  ARTEFACTS,
  background,
  beforeAll,
  dadsim,
  kHostile,
  holds,
  open,
  openAll,
  openSections,
  openTable,
  pixels,
  recordDates,
  reports,
  resultOf,
  root,
  shows,
  showsOther,
  testLayout,
  until,
} from "./pages.mjs";

const kTurned = [
  [1, -0.5, 0.75, 0],
  [-0.75, 1, -0.5, 0],
]; // base-2 logarithms of the factors of the sliders

const kQuick = ["--set", "data.digits.train=2500", "--set", "training.epochs=1", "--set", "training.target-accuracy=0.4"];
const kLargestPage = 1.5e6; // bytes of a page

beforeAll((folder) => {
  reports.everything = join(folder, "everything.html");
  reports.nothing = join(folder, "nothing.html");
  reports.more = join(folder, "more.html");
  writeFileSync(reports.more, withMore(readFileSync(reports.everything, "utf8")));
  reports.hospitals = join(folder, "hospitals.html");
  const scenario = join(root, "scenarios/hospitals.xml");
  dadsim(scenario, ...kQuick, "--quiet", "--report", reports.hospitals);
  for (const at of kTurned) {
    reports[`turned ${at}`] = join(folder, `turned-${at}.json`);
    dadsim(turned(folder, scenario, at), ...kQuick, "--quiet", "--json", reports[`turned ${at}`]);
  }
});

/** The hospitals with their lines changed by factors of 2 to the power `at`: down, up, all latencies. */
function turned(folder, scenario, [down, up, latency]) {
  const change = (link, what, log) => `<change link="${link}" ${what}-factor="${2 ** log}"/>`;
  const path = join(folder, `turned${down}${up}${latency}.xml`);
  const text = readFileSync(scenario, "utf8").replace(
    /<platform file="[^"]*" transport="tcp"\/>/,
    `<platform file="${join(root, "platforms/hospitals.xml")}" transport="tcp">` +
      change("hospital-*-down", "bandwidth", down) +
      change("hospital-*-up", "bandwidth", up) +
      change("*", "latency", latency) +
      "</platform>",
  );
  assert.match(text, /<change/);
  writeFileSync(path, text);
  return path;
}

/** A report whose result has the parts that only some results have: use of links, and more parts of a step. */
function withMore(html) {
  return html.replace(/(id="result">)([^<]*)(<\/script)/, (_, before, json, after) => {
    const result = JSON.parse(json);
    const [run] = result.runs;
    run.link_use = [
      {
        link: kHostile,
        class: "wan",
        bytes_per_second: 1.25e7,
        latency_seconds: 0.005,
        bytes_per_step: 2e6,
        busy_share: 0.75,
      },
      { link: "b", class: "", bytes_per_second: 1e9, latency_seconds: 1e-6, bytes_per_step: 1e6, busy_share: 1.25 },
    ];
    run.compression_seconds = 0.25;
    run.waiting_seconds = 0.125;
    return before + JSON.stringify(result).replaceAll("<", "\\u003c") + after;
  });
}

test("numbers read as those of the table", () => {
  // The page has its own copy of these functions, which must meet the expectations of tests/support/human_test.cpp.
  const context = vm.createContext({});
  vm.runInContext(readFileSync(join(root, "src/report/html/script/format.js"), "utf8"), context);
  const text = readFileSync(join(root, "tests/support/human_test.cpp"), "utf8");
  const names = {
    human_seconds: "humanSeconds",
    human_bytes: "humanBytes",
    human_percent: "humanPercent",
    human_count: "humanCount",
    human_energy: "humanEnergy",
  };
  let checked = 0;
  for (const [, name, argument, expected] of text.matchAll(/EXPECT_EQ\((human_\w+)\(([-+*/.\de ]+)\), "([^"]*)"\)/g)) {
    assert.equal(vm.runInContext(`${names[name]}(${argument})`, context), expected, `${name}(${argument})`);
    ++checked;
  }
  assert.ok(checked > 15, `only ${checked} expectations found`);
  assert.equal(vm.runInContext("humanSeconds(null) + humanBytes(null) + humanPercent(null)", context), "–––");
});

testLayout("more"); // all sections, including rare ones
testLayout("nothing", { sibling: true });
testLayout("hospitals", { ends: true });

test("text keeps its contrast in the light and in the dark", async () => {
  // Contrast is tested by WCAG 2.2, 1.4.3 and 1.4.11.
  for (const colorScheme of ["light", "dark"]) {
    const { page, close } = await open("everything", { colorScheme });
    const ratios = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      const luminance = (name) => {
        const hex = style.getPropertyValue(name).trim();
        const [r, g, b] = [1, 3, 5].map((at) => {
          const c = parseInt(hex.slice(at, at + 2), 16) / 255;
          return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const ratio = (a, b) =>
        (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
      const texts = ["--ink", "--soft", "--accent"];
      return texts.flatMap((text) =>
        ["--paper", "--panel", "--winner"].map((ground) => [text, ground, ratio(text, ground)]),
      );
    });
    for (const [text, ground, ratio] of ratios)
      assert.ok(ratio >= 4.5, `${text} on ${ground}: ${ratio} (${colorScheme})`);
    await close();
  }
});

test("names that would be markup stay text", async () => {
  const { page, close } = await open("everything");
  await openAll(page);
  await shows(() => page.locator("h1").textContent(), kHostile);
  await shows(() => page.title(), `${kHostile} – dadsim`);
  await shows(() => page.locator("#runs tbody th").first().textContent(), kHostile);
  await shows(async () => (await page.locator(".verdict").textContent()).startsWith(kHostile), true);
  await holds(async () => (await page.locator("#provenance").textContent()).includes(kHostile));
  await until(
    async () => (await page.locator("#provenance").textContent()).replaceAll("\u00a0", " "),
    (said) => assert.ok(said.includes("of 750 different steps, 32 were simulated"), said),
  );
  for (const details of await page.locator("figure details, #data details details").all())
    await details.locator("table").waitFor();
  await shows(() => page.locator("pre").textContent(), kHostile);
  await shows(() => page.locator("#data details details tbody th").first().textContent(), kHostile);
  await shows(() => page.locator("img").count(), 0);
  await shows(() => page.locator("script").count(), 6);
  await close();
});

test("the sections are those that the result has something for", async () => {
  const sections = (page) => page.locator("main section").evaluateAll((all) => all.map((section) => section.id));
  const all = await open("everything");
  for (const id of [
    "answer",
    "runs",
    "accuracy",
    "step",
    "bytes",
    "scale",
    "ranks",
    "network",
    "memory",
    "provenance",
  ]) {
    await holds(async () => (await sections(all.page)).includes(id), id);
  }
  await shows(() => all.page.locator("#platform svg").count(), 1);
  await all.close();
  const few = await open("nothing");
  await shows(() => sections(few.page), ["answer", "runs", "accuracy", "data", "provenance", "words"]);
  await shows(() => few.page.locator("#platform").count(), 0);
  await openSections(few.page, "provenance");
  await holds(async () => (await few.page.locator("#provenance").textContent()).includes("18446744073709551615"), "the seed is whole");
  await few.close();
});

test("tables show the numbers of the result", async () => {
  const { page, close } = await open("everything");
  const cells = (table, row) => page.locator("#runs table").nth(table).locator(`tbody tr:nth-child(${row}) td`).allTextContents();
  const runs = await cells(0, 1);
  for (const text of ["94.0", "96.0", "2", "6.50 s (5.48 … 9.57)", "500 ms", "1.00 kB", "1.67 kB", "16.0 kB"])
    assert.ok(runs.includes(text), `${text} in ${runs}`);
  await shows(async () => (await cells(1, 1)).slice(0, 3), ["1,000", "1.5 (1.2 … 2)", "500 ms"]);
  await shows(() => cells(2, 1), ["30, 60"]);
  await openTable(page, "#memory");
  const memory = page.locator("#memory tbody tr:nth-child(1) td");
  await shows(() => memory.allTextContents(), ["4.00 MB", "2.00 MB", "8.00 MB", "4.00 MB", "30.0 MB", "1.00 MB", "49.0 MB"]);
  await holds(async () => (await page.locator("#memory tbody tr:nth-child(1) th").textContent()).endsWith(" (of 24.0 GB)"));
  await openSections(page, "ranks");
  await openTable(page, "#ranks");
  await shows(() => page.locator("#ranks tbody tr").count(), 8, "two layers, per site and merged, in two epochs");
  await close();
});

test("who took part in an event-driven run is drawn and told", async () => {
  const { page, close } = await open("everything");
  const cells = page.locator("#participation > .scroll tbody td");
  await shows(() => cells.allTextContents(), ["3", "6", "4", "1", "1", "0.5", "20 %", "70 %", "10 %", "1.50 s", "1.00 kB", "1"]);
  await until(() => page.locator("#participation canvas[role=img]").first().getAttribute("aria-label"), (now) => assert.match(now, /of 6 parts 4 went/));
  const timeline = page.locator("#participation figure").first();
  await timeline.locator("summary").click();
  const rows = timeline.locator("tbody tr");
  await shows(() => rows.nth(1).locator("td").allTextContents(), [
    "1",
    "1",
    "1",
    "3.00 s",
    "6.00 s",
    "1.00 kB",
    "1.00 kB",
  ]);
  const stale = page.locator("#participation figure").nth(1);
  await stale.locator("summary").click();
  await shows(() => stale.locator("tbody tr").nth(2).locator("th, td").allTextContents(), ["2", "1"]);
  await until(() => page.locator("#step .advice").textContent(), (now) => assert.match(now, /simulated: what its workers' time went into/));
  await close();
});

test("costs, the use of links and the finer parts of a step are shown where the result has them", async () => {
  const { page, close } = await open("more");
  await holds(async () => (await page.locator("#runs table").last().textContent()).includes("12.50 EUR"), "costs");
  await openSections(page, "network");
  await page.locator("#network summary", { hasText: "All links" }).click();
  await shows(async () => (await page.locator("#network details details tbody tr").last().locator("td").allTextContents()).slice(1), [
    "wan",
    "100 Mbit/s",
    "5.00 ms",
    "2.00 MB",
    "75.0 %",
  ]);
  await openTable(page, "#step");
  const { runs } = await resultOf(page);
  const [step, ...parts] = await page.locator("#step tbody tr").first().locator("td").allTextContents();
  assert.equal(step, "500 ms");
  assert.deepEqual(parts.slice(-4), [
    `${runs[0].compute_seconds.toFixed(2)} s`,
    "250 ms",
    `${runs[0].exposed_seconds.toFixed(2)} s`,
    "125 ms",
  ]);
  await close();
});

test("the lines of the platform's picture are darker and thicker the busier they are", async () => {
  const { page, close } = await open("hospitals");
  const edges = await page.locator("#platform svg g.edge").evaluateAll((all) =>
    all.map((edge) => {
      const path = edge.querySelector("path");
      const style = getComputedStyle(path);
      const [red, green, blue] = style.stroke.match(/\d+/g).map(Number);
      const text = [...edge.querySelectorAll("text")].map((line) => line.textContent).join(" ");
      return {
        share: Number(/busy (\d+) %/.exec(text)?.[1]),
        light: red + green + blue,
        width: parseFloat(style.strokeWidth),
      };
    }),
  );
  const { runs } = await resultOf(page);
  const busiest = Math.max(...runs.flatMap((run) => run.link_use.map((use) => use.busy_share)));
  assert.equal(edges.length, 6);
  edges.sort((a, b) => a.share - b.share);
  assert.equal(edges[5].share, Math.round(100 * busiest));
  assert.ok(edges[0].share < edges[5].share);
  for (let i = 1; i < edges.length; ++i) {
    if (edges[i].share === edges[i - 1].share) continue;
    assert.ok(edges[i].light < edges[i - 1].light && edges[i].width > edges[i - 1].width, JSON.stringify(edges));
  }
  await openSections(page, "network");
  await holds(async () => (await page.locator("#network .lead").first().textContent()).startsWith("Lines are the darker"));
  await close();
});

test("switches change what is drawn", async () => {
  const { page, close } = await open("hospitals");
  const chart = "#accuracy figure > .drawing > canvas";
  const seen = new Set([await pixels(page, chart)]);
  const changed = async (what) =>
    seen.add(await until(() => pixels(page, chart), (now) => assert.ok(!seen.has(now), `${what} changed nothing`)));
  const section = page.locator("#accuracy");
  for (const choice of ["bytes sent in all", "steps", "error (1 − accuracy)", "loss (cross-entropy, nats)", "AUC"]) {
    await section.getByLabel(choice, { exact: true }).check();
    await changed(choice);
  }
  await until(() => page.locator(chart).getAttribute("aria-label"), (now) => assert.match(now, /AUC against steps/));
  for (const box of ["across", "upwards"]) {
    await section.getByLabel(box, { exact: true }).check();
    await changed(`logarithmic ${box}`);
  }
  await section.getByLabel("gradient-sharing", { exact: true }).uncheck();
  await changed("a run left out");
  await until(() => page.locator(chart).getAttribute("aria-label"), (now) => assert.doesNotMatch(now, /gradient-sharing/));

  await openSections(page, "ranks");
  const ranks = "#ranks figure > .drawing > canvas";
  await page.locator(ranks).waitFor();
  const first = await pixels(page, ranks);
  await page.locator("#ranks").getByLabel("Run", { exact: true }).selectOption({ index: 1 });
  const second = await showsOther(() => pixels(page, ranks), first);
  await page.locator("#ranks").getByLabel("fc2, merged", { exact: true }).uncheck();
  await showsOther(() => pixels(page, ranks), second);

  const bytes = "#bytes figure > .drawing > canvas";
  const begun = await pixels(page, bytes);
  await page.locator("#bytes").getByLabel("Logarithmic").click();
  await showsOther(() => pixels(page, bytes), begun);
  await close();
});

test("hovering shows the values of a point", async () => {
  const { page, close } = await open("hospitals");
  const canvas = page.locator("#accuracy figure > .drawing > canvas");
  await canvas.scrollIntoViewIfNeeded();
  const at = await canvas.evaluate((node) => {
    const { x, y } = Chart.getChart(node).getDatasetMeta(2).data.at(-1);
    return { x, y };
  });
  await canvas.hover({ position: at });
  const shown = () =>
    canvas.evaluate((node) => {
      const { tooltip } = Chart.getChart(node);
      return { opacity: tooltip.opacity, title: tooltip.title, lines: tooltip.body.flatMap((part) => part.lines) };
    });
  const { runs } = await resultOf(page);
  await until(shown, ({ opacity, title, lines }) => {
    assert.equal(opacity, 1);
    assert.deepEqual(title, [runs[2].label]);
    assert.match(
      lines.join(" "),
      new RegExp(`accuracy ${(runs[2].final_accuracy * 100).toFixed(1)} %.*${runs[2].steps} steps`),
    );
  });
  await close();
});

test("everything can be reached and used with the keyboard", async () => {
  const { page, close } = await open("hospitals");
  await page.keyboard.press("Tab");
  const focus = () =>
    page.evaluate(() => {
      const node = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(node);
      return {
        text: node.textContent.slice(0, 40),
        tag: node.tagName,
        visible: outlineStyle !== "none" && outlineWidth !== "0px",
      };
    });
  await shows(async () => (await focus()).text, "Skip to the answer");
  await page.keyboard.press("Enter");
  await shows(() => page.evaluate(() => document.activeElement.id), "answer");

  // The tab key must reach every control from top to bottom, and each control must show its focus.
  await page.reload();
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  const reached = { INPUT: 0, BUTTON: 0, SUMMARY: 0, SELECT: 0, A: 0 };
  for (let i = 0; i < 200; ++i) {
    await page.keyboard.press("Tab");
    const now = await focus();
    if (now.tag === "BODY") break;
    assert.ok(now.visible, `no visible focus on ${now.tag} ${now.text}`);
    if (now.tag in reached) ++reached[now.tag];
  }
  const count = (selector) => page.locator(selector).count();
  assert.equal(reached.SUMMARY, await count("summary"));
  assert.equal(reached.BUTTON, await count("button"));
  assert.equal(reached.SELECT, await count("select"));
  assert.equal(
    reached.INPUT,
    (await count("input[type=checkbox], input[type=range]")) + (await count("fieldset:has(input[type=radio])")),
  );

  const time = page.locator("#accuracy").getByLabel("simulated time", { exact: true });
  await time.focus();
  await page.keyboard.press("ArrowRight");
  await shows(() => page.locator("#accuracy").getByLabel("bytes sent in all", { exact: true }).isChecked(), true);
  const box = page.locator("#accuracy").getByLabel("upwards", { exact: true });
  await box.focus();
  await page.keyboard.press("Space");
  await shows(() => box.isChecked(), true);
  await page.locator("#step summary").focus();
  await page.keyboard.press("Enter");
  await page.locator("#step details table").waitFor();
  await close();
});

test("light and dark follow the system until the button is pressed; paper is light", async () => {
  const chart = "#step figure > .drawing > canvas";
  const light = await open("hospitals");
  const lightPaper = await background(light.page);
  const lightChart = await pixels(light.page, chart);
  const button = light.page.locator("#theme");
  await shows(() => button.getAttribute("aria-pressed"), "false");
  await button.click();
  await shows(() => button.getAttribute("aria-pressed"), "true");
  await showsOther(() => background(light.page), lightPaper);
  await showsOther(() => pixels(light.page, chart), lightChart);
  await button.click();
  await shows(() => background(light.page), lightPaper);
  await light.close();

  const dark = await open("hospitals", { colorScheme: "dark" });
  const darkPaper = await showsOther(() => background(dark.page), lightPaper);
  await shows(() => dark.page.locator("#theme").getAttribute("aria-pressed"), "true");
  await dark.page.emulateMedia({ media: "print" });
  await dark.page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await shows(() => background(dark.page), lightPaper);
  const corner = () =>
    dark.page.evaluate((s) => {
      const { config } = Chart.getChart(document.querySelector(s));
      return config.options.scales.y.ticks.color;
    }, chart);
  const onPaper = await corner();
  await dark.page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  await dark.page.emulateMedia({ media: "screen" });
  await showsOther(() => corner(), onPaper);
  writeFileSync(join(ARTEFACTS, "hospitals.pdf"), await dark.page.pdf({ format: "A4" }));
  await dark.close();
});

/** Turns the sliders of a page: base-2 logarithms of factors, in the order of its knobs. */
async function turnKnobs(page, at) {
  const sliders = page.locator("#retimed .knobs input[type=range]");
  const middle = (Number(await sliders.first().getAttribute("max"))) / 2;
  for (let k = 0; k < at.length; ++k) await sliders.nth(k).fill(String(middle + at[k] * 4));
}

test("sliders re-time, and agree with fresh timings", async () => {
  const { page, close } = await open("hospitals");
  const retiming = await page.evaluate(() => JSON.parse(document.getElementById("retiming").textContent));
  const names = retiming.knobs.map((knob) => knob.name);
  assert.deepEqual(names, [
    "bandwidth of hospital-#-down",
    "bandwidth of hospital-#-up",
    "latency of all links",
    "speed of the workers",
  ]);
  const { runs, answer } = await resultOf(page);
  const said = page.locator("#retimed [role=status]");
  const before = await said.textContent();
  // With all sliders at their initial values, the sentence must name the fastest runs of the answer.
  const apart = answer.ranking.findIndex((place) => place.verdict === "behind");
  const quickest = answer.ranking.slice(0, apart < 0 ? undefined : apart);
  for (const place of quickest) assert.ok(before.replaceAll("\u00a0", " ").includes(place.run), `${before}: ${place.run}`);
  assert.equal(/are equal|cannot be told apart/.test(before.replaceAll("\u00a0", " ")), quickest.length > 1, before);
  const chart = "#step figure > .drawing > canvas";
  const curves = "#accuracy figure > .drawing > canvas";
  const stillCurves = await pixels(page, curves);
  const still = await pixels(page, chart);
  await page.locator("#step summary").first().click();
  for (const at of kTurned) {
    await turnKnobs(page, at);
    const { runs: fresh } = JSON.parse(readFileSync(reports[`turned ${at}`], "utf8"));
    await until(
      () => page.locator("#step details tbody tr td:nth-child(3)").allTextContents(),
      (factors) => {
        assert.equal(factors.length, runs.length);
        runs.forEach((run, i) => {
          const truth = fresh[i].step_seconds / run.step_seconds;
          const off = Math.abs(Number(factors[i]) / truth - 1);
          assert.ok(off <= 0.03 + 0.005, `${run.label} at ${at}: ${factors[i]}, fresh ${truth}`); // 0.005 because three
                                                                                                  // digits are shown
        });
      },
    );
  }
  await showsOther(() => said.textContent(), before);
  await showsOther(() => pixels(page, chart), still);
  await showsOther(() => pixels(page, curves), stillCurves);
  await page.getByRole("button", { name: "As in the scenario" }).click();
  await shows(() => said.textContent(), before);
  await close();
});

// speed.mjs measures frames per second; it is run by hand.
test("a step is played with a new date in every frame, and by the keyboard", async () => {
  const { page, close } = await open("hospitals", { stoppedClock: true });
  const section = page.locator("#played-step");
  const date = section.getByLabel("Date", { exact: true });
  await section.getByLabel("Played in", { exact: true }).selectOption({ label: "4 s" });
  await recordDates(page);
  await section.getByRole("button", { name: "Play" }).click();
  await page.clock.runFor(1500);
  await section.getByRole("button", { name: "Pause" }).click();
  const dates = await page.evaluate(() => window.dates);
  const whole = Number(await date.getAttribute("max"));
  assert.equal(dates[0].date, 0, "it began anew");
  const frames = dates.slice(1); // without the first date, which is the start of the step
  assert.ok(frames.length >= 45, `${frames.length} frames in one and a half seconds`);
  for (let i = 1; i < frames.length; ++i) {
    const passed = (frames[i].at - frames[i - 1].at) / 4000; // fraction of the four seconds
    assert.ok(passed > 0, "one date in a frame");
    assert.ok(Math.abs((frames[i].date - frames[i - 1].date) / whole - passed) < 1e-4, "as much of the step as time went by");
  }
  await date.focus();
  const before = Number(await date.inputValue());
  await page.keyboard.press("ArrowRight");
  await holds(async () => Number(await date.inputValue()) > before);
  await until(() => section.locator(".unseen").textContent(), (now) => assert.match(now, /hub.*(sends|receives|computes|waits|does nothing)/));
  await close();
});

test("a step is shown in stills where the system asks for little motion", async () => {
  const { page, close } = await open("hospitals", { reducedMotion: "reduce", stoppedClock: true });
  const section = page.locator("#played-step");
  await section.getByLabel("Played in", { exact: true }).selectOption({ label: "4 s" });
  await recordDates(page);
  await section.getByRole("button", { name: "Play" }).click();
  await page.clock.runFor(1500);
  await section.getByRole("button", { name: "Pause" }).click();
  const dates = await page.evaluate(() => [...new Set(window.dates.map(({ date }) => date))].sort((a, b) => a - b));
  assert.ok(dates.length >= 3, "it goes on all the same");
  const whole = Number(await page.locator("#played-step input[type=range]").getAttribute("max"));
  const stills = whole / 100;
  for (let i = 1; i < dates.length; ++i)
    assert.ok(dates[i] - dates[i - 1] >= 0.99 * stills, `${dates[i - 1]} and ${dates[i]}: of a hundred stills`);
  await close();
});

test("the classes of few sites are a table, those of many their spread", async () => {
  const few = await open("nothing");
  await openSections(few.page, "data");
  await shows(() => few.page.locator("#data tbody tr:nth-child(1) td").allTextContents(), [
    "300",
    "·",
    "1",
    "301",
    "100 %",
  ]);
  await shows(() => few.page.locator("#data details details").count(), 0);
  await few.close();
  const many = await open("everything");
  await openSections(many.page, "data");
  await shows(
    async () => {
      const spread = await many.page.locator("#data > details > .scroll tbody tr").allTextContents();
      return [spread[0], spread[2], spread[4]];
    },
    ["least010" + "40", "median20210" + "40", "most39400" + "40"],
  );
  await many.page.locator("#data details summary").last().click();
  await shows(() => many.page.locator("#data details details tbody tr").count(), 40);
  await many.close();
});

test("words lead into the glossary, which is part of the page", async () => {
  const { page, close } = await open("hospitals");
  const glossary = page.locator("#glossary");
  await shows(() => glossary.locator("td").first().isVisible(), false);
  await page.evaluate(() => (location.hash = "#word-critical-path"));
  await page.locator("#word-critical-path").waitFor({ state: "visible" });
  await openSections(page, "provenance");
  await holds(async () => (await page.locator("#provenance .facts").textContent()).includes(", build "), "version and commit");
  await shows(() => page.locator("#description").textContent().then((text) => text.startsWith("Five sites")), true);
  await holds(async () => (await page.locator("#provenance pre").textContent()).includes('<scenario name="Five hospitals"'));
  await close();
});

test("the image that messages show best stands beside what they show of it", async () => {
  const { page, close } = await open("hospitals");
  const labels = await page
    .locator("#leak canvas.image")
    .evaluateAll((all) => all.map((canvas) => canvas.getAttribute("aria-label")));
  assert.ok(labels.includes("dad: the original"), labels.join("; "));
  assert.equal(labels.filter((label) => label.endsWith(": as messages show it")).length * 2, labels.length);
  // A receiver of the rows recovers the image, up to rounding of its pixel levels.
  const apart = await page.evaluate(() => {
    const pixels = (label) => {
      const canvas = document.querySelector(`#leak canvas[aria-label="${label}"]`);
      return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    };
    const shown = pixels("dad: as messages show it");
    return Math.max(...pixels("dad: the original").map((level, i) => Math.abs(level - shown[i])));
  });
  assert.ok(apart <= 1, `${apart} of 255`);
  await close();
});

test("the JSON can be saved from the page", async () => {
  const { page, close } = await open("hospitals");
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
  const saved = JSON.parse(readFileSync(await download.path(), "utf8"));
  assert.deepEqual(saved, await resultOf(page));
  assert.equal(download.suggestedFilename(), `${saved.scenario.hash}.json`);
  await close();
});

test("it is small", () => assert.ok(statSync(reports.hospitals).size <= kLargestPage));
