// Tests the pages of sweeps, with hand-made results (sample_reports.cpp) and a real sweep.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import {
  background,
  beforeAll,
  dadsim,
  kHostile,
  holds,
  open,
  openAll,
  openTable,
  pixels,
  reports,
  resultOf,
  root,
  shows,
  showsOther,
  testLayout,
  until,
} from "./pages.mjs";

const kLargestPage = 2e6; // bytes of a page with 1,000 points of 4 runs

beforeAll((folder) => {
  for (const name of ["three", "drawn", "one", "large"]) reports[`sweep-${name}`] = join(folder, `sweep-${name}.html`);
  reports.crossover = join(folder, "crossover.html");
  const quick = ["--set", "data.digits.train=1000", "--set", "training.target-accuracy=0.5"];
  const files = ["--out", join(folder, "crossover.sqlite"), "--report", reports.crossover];
  dadsim("sweep", join(root, "scenarios/crossover.xml"), ...quick, ...files, "--quiet");
});

testLayout("sweep-three");
for (const name of ["sweep-drawn", "sweep-one"]) testLayout(name, { sibling: true });
testLayout("crossover", { ends: true });

const map = "#map svg[role=grid]";
const linesChart = "#lines figure > .drawing > canvas";
const frontChart = "#front figure > .drawing > canvas";

/** Seconds to the target of a run at a point over the seeds, from the rows of the result. */
function times(result, point, run) {
  const field = (name) => result.figures.fields.indexOf(name);
  return result.figures.rows
    .filter((row) => row[field("point")] === point && row[field("run")] === run)
    .map((row) => row[field("target_seconds")]);
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The label of the run with the least mean time of those that share, "" where there is none, or it is not told apart. */
function first(result, point) {
  if (result.failures.some((failure) => failure.point === result.points[point].id)) return "";
  if (result.points[point].beside.length > 0) return "";
  let best = { label: "", seconds: Infinity };
  result.runs.forEach((run, index) => {
    const own = times(result, point, index);
    if (!run.communicates || own.length === 0 || own.some((value) => value === null)) return;
    if (mean(own) < best.seconds) best = { label: run.label, seconds: mean(own) };
  });
  return best.label;
}

/** Rows of cells from the top: {run, point, letter, colour}. */
const cells = (page) =>
  page.locator(`${map} g[role=row]`).evaluateAll((rows) =>
    rows.map((row) =>
      [...row.querySelectorAll(".cell")].map((cell) => ({
        run: cell.dataset.run,
        point: cell.dataset.point,
        letter: cell.querySelector("text")?.textContent.trim().split(" ")[0] ?? "",
        shade: cell.dataset.shade,
        colour: cell.querySelector("rect").getAttribute("fill"),
        pattern: cell.querySelectorAll("rect")[1]?.getAttribute("fill") ?? "",
      })),
    ),
  );

/**
 * Every cell is of the point at its place (axis `x` across, `y` upwards, the others at `place`), and shows the run that
 * is first there.
 */
async function checkMap(page, x, y, place) {
  const result = await resultOf(page);
  return until(() => cells(page), (rows) => checkCells(result, rows, x, y, place));
}

function checkCells(result, rows, x, y, place) {
  const upwards = y === null ? [null] : result.axes[y].values.map((_, i) => i);
  if (y !== null && result.axes[y].values.every((value) => value.number !== null)) upwards.reverse();
  assert.equal(rows.length, upwards.length);
  const looks = new Map();
  const colours = new Map();
  rows.forEach((row, i) => {
    assert.equal(row.length, result.axes[x].values.length);
    row.forEach((cell, j) => {
      const at = [...place];
      at[x] = j;
      if (y !== null) at[y] = upwards[i];
      const index = result.points.findIndex((point) => point.at.join() === at.join());
      assert.equal(cell.point, String(result.points[index].id));
      assert.equal(cell.run, first(result, index), `at ${at}`);
      const look = [cell.letter, cell.pattern].join();
      if (cell.run) {
        assert.equal(looks.get(cell.run) ?? look, look);
        const shade = [cell.run, cell.shade].join();
        assert.equal(colours.get(shade) ?? cell.colour, cell.colour);
        colours.set(shade, cell.colour);
        const [, second] = result.points[index].ranked;
        const factor = second?.length > 1 ? second[1] / result.points[index].ranked[0][1] : Infinity;
        assert.equal(cell.shade, factor < 1.1 ? "0.3" : factor < 1.5 ? "0.6" : "1", `${factor} at ${at}`);
      }
      looks.set(cell.run, look);
    });
  });
  const letters = [...looks.values()].map((look) => look.split(",")[0]);
  assert.equal(new Set(letters).size, looks.size, "a letter for each run");
}

test("the map shows at every cell who is first", async () => {
  const { page, close } = await open("crossover");
  const rows = await checkMap(page, 1, 0, [0, 0]);
  assert.deepEqual([rows.length, rows[0].length], [9, 11]);
  assert.ok(new Set(rows.flat().map((cell) => cell.run)).size > 1, "times cross somewhere");
  const result = await resultOf(page);
  for (const run of result.runs) {
    const count = rows.flat().filter((cell) => cell.run === run.label).length;
    await holds(async () => (await page.locator("#map .key:not(.shades)").textContent()).includes(`${run.label}: ${count}`), run.label);
  }
  await close();

  const one = await open("sweep-one");
  await checkMap(one.page, 0, null, [0]);
  await shows(() => one.page.locator("#map select, #map input").count(), 0);
  await one.close();

  const three = await open("sweep-three");
  const shown = await checkMap(three.page, 0, 2, [0, 0, 0]);
  assert.equal(shown[3][0].letter, "×", "the point that failed");
  assert.equal(shown[3][0].run, "");
  assert.ok(shown.flat().some((cell) => cell.letter === "=" && cell.run === ""), "not told apart");
  await until(
    () => three.page.locator(`${map} .cell`).evaluateAll((all) => all.map((cell) => cell.ariaLabel)),
    (said) => assert.ok(said.some((text) => /.* and .* equal or not told apart, after .*/.test(text)), said.join("\n")),
  );
  await holds(async () => (await three.page.locator("#map .shades").textContent()).includes("under 1.1 times"));
  await shows(() => three.page.locator("#description").textContent(), "Of three axes.");
  await until(
    () => three.page.locator("#provenance .facts").textContent(),
    (facts) => assert.ok(facts.includes(`Learned on${kHostile}`) && facts.includes("Timed asone; or another"), facts),
  );
  await three.close();
});

test("the other axes are chosen with sliders and lists, also by keyboard", async () => {
  const { page, close } = await open("sweep-three");
  const slider = page.locator("#map").getByLabel("collective", { exact: true });
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  await shows(() => slider.getAttribute("aria-valuetext"), kHostile);
  const rows = await checkMap(page, 0, 2, [0, 1, 0]);
  assert.equal(rows[0][4].letter, "–", "no run gets there at the last point");
  assert.equal(rows[0][4].run, "");

  // Puts `collective` on the upward axis. `batch`, which was there, then gets the slider.
  const upwards = page.locator("#map").getByLabel("Upwards", { exact: true });
  await upwards.focus();
  await page.keyboard.press("ArrowUp");
  await shows(() => upwards.evaluate((list) => list.selectedOptions[0].textContent), "collective");
  const batch = page.locator("#map").getByLabel("batch", { exact: true });
  await batch.focus();
  await page.keyboard.press("End");
  await checkMap(page, 0, 1, [0, 0, 3]);

  // The two axes cannot be the same, so they swap.
  const across = page.locator("#map").getByLabel("Across", { exact: true });
  await across.focus();
  await page.keyboard.press("ArrowDown");
  await shows(() => across.evaluate((list) => list.selectedOptions[0].textContent), "collective");
  await shows(() => upwards.evaluate((list) => list.selectedOptions[0].textContent), "sites.up");
  await shows(() => page.evaluate(() => document.activeElement.tagName), "SELECT", "focus stays");
  await checkMap(page, 1, 0, [0, 0, 3]);
  await close();
});

test("a cell tells its times to the pointer and to the keyboard", async () => {
  const { page, close } = await open("crossover");
  const result = await resultOf(page);
  const readout = page.locator("#map .readout");
  const winner = (id) => {
    const index = result.points.findIndex((point) => String(point.id) === id);
    return first(result, index);
  };
  const undecided = page.locator(`${map} .cell:has-text("=")`).first();
  await undecided.hover();
  await holds(async () => (await readout.textContent()).includes(" equal or not told apart, after "));
  const cell = page.locator(`${map} .cell:not(:has-text("="))`).first();
  await cell.hover();
  const pointedAt = winner(await cell.getAttribute("data-point"));
  await until(
    () => readout.textContent(),
    (pointed) => assert.ok(pointed.includes(`${pointedAt} first, after`), pointed),
  );

  await page.locator(`${map} .cell[tabindex="0"]`).focus();
  const focused = () =>
    page.evaluate(() => {
      const { dataset, classList } = document.activeElement;
      const { outlineStyle } = getComputedStyle(document.activeElement);
      return { point: dataset.point, cell: classList.contains("cell"), visible: outlineStyle !== "none" };
    });
  await shows(async () => (await focused()).point, "1", "least of both axes, in the lower left");
  for (const key of ["ArrowRight", "ArrowUp", "ArrowUp", "End", "ArrowRight"]) await page.keyboard.press(key);
  const last = String(2 * 11 + 11); // the third latency and the last rate
  await shows(focused, { point: last, cell: true, visible: true });
  await shows(() => page.locator(`${map} [tabindex="0"]`).count(), 1);
  await until(
    async () => (await readout.textContent()).replaceAll("\u00a0", " "),
    (said) => assert.ok(said.includes(`${winner(last)} first, after`) && said.includes("100 Gbit/s"), said),
  );
  await until(
    () => page.evaluate(() => document.activeElement.getAttribute("aria-label")),
    (name) => assert.ok(name.includes(`${winner(last)} first`), name),
  );
  await close();
});

test("the table has what the map has", async () => {
  const { page, close } = await open("crossover");
  await openTable(page, "#map");
  const rows = await cells(page);
  await shows(
    () =>
      page
        .locator("#map details tbody tr")
        .evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent[0]))),
    rows.map((row) => row.map((cell) => cell.letter)),
  );
  await close();
});

test("lines are means over the seeds with their intervals", async () => {
  const { page, close } = await open("sweep-three");
  const result = await resultOf(page);
  const drawn = () =>
    page.evaluate((selector) => {
      const chart = Chart.getChart(document.querySelector(selector));
      return {
        types: [chart.scales.x.type, chart.scales.y.type],
        lines: chart.data.datasets.map(({ label, data }) => ({ label, data })),
      };
    }, linesChart);
  const { types, lines } = await drawn();
  assert.deepEqual(types, ["logarithmic", "logarithmic"]);
  assert.deepEqual(
    lines.map((line) => line.label),
    result.runs.map((run) => run.label),
  );
  // The lines are over sites.up, for the first collective and the second batch.
  for (const { label, data } of lines) {
    assert.deepEqual(
      data.map((point) => point.x),
      result.axes[0].values.map((value) => value.number),
    );
    data.forEach((point, i) => {
      const index = result.points.findIndex((one) => one.at.join() === [i, 0, 1].join());
      const own = times(
        result,
        index,
        result.runs.findIndex((run) => run.label === label),
      );
      // Seeds scatter by 5 % around the mean, and t(0.975, 2) is 4.303.
      const half = (4.3027 * 0.05 * mean(own)) / Math.sqrt(3);
      assert.ok(Math.abs(point.y / mean(own) - 1) < 1e-12);
      assert.ok(Math.abs((point.high - point.y) / half - 1) < 1e-4, `${point.high - point.y}, not ${half}`);
      assert.ok(Math.abs((point.y - point.low) / half - 1) < 1e-4);
    });
  }
  await openTable(page, "#lines");
  await shows(() => page.locator("#lines details tbody td").first().textContent(), "14.0 s (12.3 s … 15.7 s)");

  const seen = new Set([await pixels(page, linesChart)]);
  const changed = async (what) =>
    seen.add(await until(() => pixels(page, linesChart), (now) => assert.ok(!seen.has(now), `${what} changed nothing`)));
  const section = page.locator("#lines");
  await section.getByLabel("batch", { exact: true }).focus();
  await page.keyboard.press("ArrowRight");
  await changed("the slider");
  await section.getByLabel("small", { exact: true }).uncheck();
  await changed("leaving a run out");
  await section.getByLabel("upwards", { exact: true }).uncheck();
  await changed("a linear axis");
  await section.getByLabel("Figure", { exact: true }).selectOption("money to the target");
  await changed("the figure");
  await section.getByLabel("Along", { exact: true }).selectOption("collective");
  await changed("the axis");
  await shows(() => section.getByLabel("along", { exact: true }).isVisible(), false, "names have no logarithm");
  for (const title of ["final accuracy", "time of a step", "bytes sent in all", "energy to the target", "steps to the target"]) {
    await section.getByLabel("Figure", { exact: true }).selectOption(title);
    await changed(title);
  }
  await close();
});

test("the front is what nothing beats in both", async () => {
  const { page, close } = await open("sweep-three");
  const result = await resultOf(page);
  const field = (name) => result.figures.fields.indexOf(name);
  const against = page.locator("#front").getByLabel("Against", { exact: true });
  await openTable(page, "#front");
  for (const [title, name] of [
    ["money to the target", "money_to_target"],
    ["energy to the target", "joules_to_target"],
    ["bytes sent in all", "total_bytes"],
  ]) {
    await against.selectOption(title);
    const candidates = [];
    result.points.forEach((_, point) =>
      result.runs.forEach((run, index) => {
        const rows = result.figures.rows.filter((row) => row[0] === point && row[2] === index);
        const value = (column) =>
          rows.length > 0 && rows.every((row) => row[column] !== null) ? mean(rows.map((row) => row[column])) : null;
        const [x, y] = [value(field("target_seconds")), value(field(name))];
        if (run.communicates && x !== null && y !== null) candidates.push({ x, y, label: run.label });
      }),
    );
    const front = candidates.filter(
      (one) =>
        !candidates.some((other) => other.x <= one.x && other.y <= one.y && (other.x < one.x || other.y < one.y)),
    );
    const labels = front.map((one) => one.label).sort();
    await shows(async () => (await page.locator("#front details tbody th").allTextContents()).sort(), labels, title);
    const drawn = () =>
      page.evaluate((selector) => {
        const { datasets } = Chart.getChart(document.querySelector(selector)).data;
        return datasets.map((set) => set.data.length).reduce((sum, count) => sum + count, 0);
      }, frontChart);
    await shows(drawn, candidates.length + front.length, "every point once, and the line along the front");
  }
  const before = await pixels(page, frontChart);
  const rate = page.locator("#front").getByLabel("sites.up", { exact: true });
  await rate.focus();
  await page.keyboard.press("ArrowRight");
  await shows(() => rate.getAttribute("aria-valuetext"), "1 Mbit/s");
  await showsOther(() => pixels(page, frontChart), before);
  await close();
});

test("points that are no grid are scattered; what failed is listed", async () => {
  const drawn = await open("sweep-drawn");
  await shows(() => drawn.page.locator(map).count(), 0);
  const result = await resultOf(drawn.page);
  const points = await drawn.page.evaluate(() => {
    const { datasets } = Chart.getChart(document.querySelector("#map figure > .drawing > canvas")).data;
    return datasets.flatMap((set) => set.data.map(({ x, y }) => ({ run: set.label, x, y })));
  });
  assert.equal(points.length, result.points.length);
  for (const point of points) {
    // Among axes with equally many values, the last one is across.
    const index = result.points.findIndex((one) => result.axes[1].values[one.at[1]].number === point.x);
    assert.equal(point.y, result.axes[0].values[result.points[index].at[0]].number);
    assert.equal(point.run, first(result, index));
  }
  await shows(() => drawn.page.locator("#failures").count(), 0);
  await drawn.close();

  const three = await open("sweep-three");
  const failed = three.page.locator("#failures tbody tr").first().locator("th, td");
  await shows(() => failed.allTextContents(), ["1", "1 Mbit/s", "ring", "1", "0", kHostile]);
  await shows(() => three.page.locator("h1").textContent(), kHostile);
  await openAll(three.page);
  await shows(() => three.page.locator("img").count(), 0);
  await shows(() => three.page.locator("script").count(), 4);
  await three.close();
});

test("every control can be reached with the keyboard and shows that it is", async () => {
  const { page, close } = await open("sweep-three");
  const reached = { INPUT: 0, BUTTON: 0, SUMMARY: 0, SELECT: 0, g: 0 };
  for (let i = 0; i < 150; ++i) {
    await page.keyboard.press("Tab");
    const now = await page.evaluate(() => {
      const node = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(node);
      return { tag: node.tagName, visible: outlineStyle !== "none" && outlineWidth !== "0px" };
    });
    if (now.tag === "BODY") break;
    assert.ok(now.visible, `no visible focus on ${now.tag}`);
    if (now.tag in reached) ++reached[now.tag];
  }
  const count = (selector) => page.locator(selector).count();
  assert.deepEqual(reached, {
    INPUT: await count("input"),
    BUTTON: 3,
    SUMMARY: await count("summary"),
    SELECT: await count("select"),
    g: 1, // one cell of the map is in the tab order; arrow keys reach the others
  });
  await close();
});

test("the map has colours for the light, the dark and for paper", async () => {
  const { page, close } = await open("crossover");
  // Returns the colours of the runs. A cell without a fastest run has a style variable instead of a colour.
  const colours = async () => [
    ...new Set((await cells(page)).flat().flatMap(({ colour }) => (colour.startsWith("#") ? [colour] : []))),
  ];
  const light = await colours();
  const paper = await background(page);
  await page.locator("#theme").click();
  await until(colours, (dark) => {
    assert.equal(dark.length, light.length);
    assert.ok(dark.every((colour) => !light.includes(colour)));
  });
  await showsOther(() => background(page), paper);
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await shows(() => colours(), light);
  await shows(() => background(page), paper);
  await close();
});

test("the map follows the width of the window", async () => {
  const { page, close } = await open("crossover");
  const width = () => page.locator(map).evaluate((svg) => svg.getBoundingClientRect().width);
  const wide = await width();
  await page.setViewportSize({ width: 700, height: 900 });
  await page.waitForFunction((was) => document.querySelector("#map svg").getBoundingClientRect().width < was, wide);
  await holds(async () => (await width()) <= 700);
  await checkMap(page, 1, 0, [0, 0]);
  await close();
});

test("the JSON can be saved", async () => {
  const { page, close } = await open("sweep-one");
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
  assert.deepEqual(JSON.parse(readFileSync(await download.path(), "utf8")), await resultOf(page));
  assert.equal(download.suggestedFilename(), "sweep-0000000000000abc.json");
  await close();
});

// speed.mjs measures how long the page takes to load; it is run by hand.
test("a thousand points are small enough, and all there", async () => {
  assert.ok(statSync(reports["sweep-large"]).size <= kLargestPage);
  const { page, close } = await open("sweep-large");
  await checkMap(page, 2, 1, [4, 0, 0]);
  await close();
});
