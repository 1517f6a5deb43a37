// Opens pages in Chromium for tests that use them as readers do: by mouse or keyboard, on a phone, in the dark scheme,
// or printed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import test, { after, before } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const { DADSIM, WRITE_SAMPLE_REPORTS, MODULES, BROWSER } = process.env;
export const { ARTEFACTS } = process.env;
const modules = createRequire(join(resolve(MODULES), "/"));
const { chromium } = modules("playwright-core");
const axe = readFileSync(modules.resolve("axe-core/axe.min.js"), "utf8");
export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const kHostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
export const kWidths = [360, 768, 1280];

const kMidnight = 86400000; // ms at which the clock stops, later than any test lasts

let browser;
/** Files of pages, by name. */
export const reports = {};

/** No digit of a page is a reference value here: kernels as in tests/quick_kernels.hpp, for half the time. */
const has = (flag) => new RegExp(`^flags.* ${flag} `, "m").test(readFileSync("/proc/cpuinfo", "utf8"));
const kernels = has("avx2") && has("fma") ? "avx2" : "portable";

export const dadsim = (...args) =>
  execFileSync(DADSIM, args, { stdio: "inherit", env: { ...process.env, DADSIM_KERNELS: kernels } });

/** Writes the sample pages into a folder, lets `prepare(folder)` add to them, and starts the browser. */
export function beforeAll(prepare) {
  let folder;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "dadsim-report-"));
    mkdirSync(ARTEFACTS, { recursive: true });
    execFileSync(WRITE_SAMPLE_REPORTS, [folder]);
    prepare(folder);
    browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });
}

/**
 * Opens a report and collects what goes wrong: messages, errors, dialogs, requests for anything but the page. Where its clock
 * is stopped, timers and frames of animation wait for page.clock.runFor().
 */
export async function open(name, { width = 1280, height = 900, stoppedClock = false, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: "light", ...options });
  const page = await context.newPage();
  const address = pathToFileURL(reports[name]).href;
  const wrong = [];
  page.on("console", (message) => wrong.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== address && !request.url().startsWith("blob:")) wrong.push(`request: ${request.url()}`);
  });
  if (stoppedClock) await page.clock.install({ time: 0 });
  await page.goto(address);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true", null, { timeout: kPatience });
  const close = async () => {
    await context.close();
    assert.deepEqual(wrong, []);
  };
  if (stoppedClock) await page.clock.pauseAt(kMidnight);
  return { page, close };
}

/** Milliseconds until what a page was to show is missed: far more than the slowest machine needs. */
const kPatience = 30000;

/**
 * Reads until `check` accepts what is read, and gives it: a page shows what it is asked for as soon as it can, which may be
 * after the click has returned. What `check` or `read` throws in the end is thrown.
 */
export async function until(read, check) {
  const end = performance.now() + kPatience;
  for (let pause = 2; ; pause = Math.min(2 * pause, 200)) {
    try {
      const now = await read();
      check(now);
      return now;
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

export const shows = (read, expected, why) => until(read, (now) => assert.deepEqual(now, expected, why));
export const showsOther = (read, before, why) => until(read, (now) => assert.notDeepEqual(now, before, why));
export const holds = (read, why) => until(read, (now) => assert.ok(now, why));

/** The table below the chart of a section. */
export async function openTable(page, section) {
  await page.locator(`${section} figure summary`).click();
  await page.locator(`${section} details table`).waitFor();
}

/** Opens every part that can be opened, also in others, and waits until each has made what is in it. */
export const openAll = (page) =>
  page.evaluate(async () => {
    for (let closed = [0]; closed.length > 0; ) {
      closed = [...document.querySelectorAll("details:not([open])")];
      await Promise.all(
        closed.map(
          (details) =>
            new Promise((resolve) => {
              // Waits for the page's own listener, and for what this listener has asked the browser to do next.
              details.addEventListener("toggle", () => setTimeout(resolve), { once: true });
              details.open = true;
            }),
        ),
      );
    }
  });

/** Opens sections that are closed at first. */
export async function openSections(page, ...ids) {
  for (const id of ids) await page.locator(`#${id} > details.closed > summary`).click();
}

/** From now on window.dates holds every date that the played step shows (seconds), and when (milliseconds). */
export const recordDates = (page) =>
  page.evaluate(() => {
    const input = document.querySelector("#played-step input[type=range]");
    const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
    window.dates = [];
    Object.defineProperty(input, "value", {
      get: () => own.get.call(input),
      set: (value) => {
        window.dates.push({ at: performance.now(), date: Number(value) });
        own.set.call(input, value);
      },
    });
  });

/** The result in a page, parsed here: text is brought from the browser sooner than an object. */
export const resultOf = async (page) => JSON.parse(await page.evaluate(() => document.getElementById("result").textContent));
export const pixels = (page, selector) => page.evaluate((s) => document.querySelector(s).toDataURL(), selector);
export const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

/** No part of a page is wider than the window of `width` pixels. */
export const isNoWiderThanTheWindow = (page, width) =>
  until(
    () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
    (tooWide) => assert.ok(tooWide <= 0, `${tooWide} px too wide at ${width} px`),
  );

/** Every chart of a page has something drawn, and nothing is wider than its window. */
async function isLaidOut(page, name, width, colorScheme) {
  const blank = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("canvas")]
        .filter((canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return !new Uint32Array(data.buffer).some((pixel) => pixel !== 0);
        })
        .map((canvas) => canvas.closest("section")?.id),
    );
  await shows(blank, [], `${width} px, ${colorScheme}`);
  await isNoWiderThanTheWindow(page, width);
  if (process.env.DADSIM_ARTEFACTS !== undefined) {
    await page.screenshot({ path: join(ARTEFACTS, `${name}-${width}-${colorScheme}.png`), fullPage: true });
  }
}

/** axe-core finds nothing that bars a reader, with every part of the page open. */
async function barsNobody(page, width, colorScheme) {
  await openAll(page);
  await page.evaluate(axe);
  // Counts passes inside the page, since thousands of nodes take longer to transfer than to check.
  const { passes, violations } = await page.evaluate(async () => {
    const found = await window.axe.run({ resultTypes: ["violations"] });
    return { passes: found.passes.length, violations: found.violations };
  });
  assert.ok(passes > 10, "axe-core has looked at something");
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
  assert.deepEqual(told, [], `${width} px, ${colorScheme}`);
}

/** Parts have names for those who do not see them. */
async function namesItsParts(page) {
  const faults = await page.evaluate(() => {
    const faults = [];
    const say = (what, node) => faults.push(`${what}: ${node.outerHTML.slice(0, 100)}`);
    for (const canvas of document.querySelectorAll("canvas")) {
      if (canvas.getAttribute("aria-hidden") !== "true" && !(canvas.getAttribute("aria-label")?.length > 10))
        say("unnamed", canvas);
    }
    for (const input of document.querySelectorAll("input, select"))
      if (input.labels.length === 0) say("unlabelled", input);
    for (const button of document.querySelectorAll("button")) if (!button.textContent.trim()) say("unnamed", button);
    for (const section of document.querySelectorAll("section")) {
      if (!document.getElementById(section.getAttribute("aria-labelledby"))) say("no heading", section);
    }
    for (const link of document.querySelectorAll("a[href^='#']")) {
      if (!document.querySelector(link.getAttribute("href"))) say("leads nowhere", link);
    }
    const contents = document.querySelectorAll("#contents > li").length;
    if (contents > 5) faults.push(`${contents} items of navigation`);
    // Text shows names of attributes. Paths may occur only where readers type them.
    const texts = document.createTreeWalker(document.getElementById("main"), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode;
      if (!parentElement.closest("pre, code, script, details") && /\b(platform|timed-as|training)\.[a-z]/.test(data))
        say("a raw path", parentElement);
    }
    const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`${id} twice`);
    for (const tag of ["h1", "main", "nav", "header", "footer"]) {
      if (document.querySelectorAll(tag).length !== 1) faults.push(`not one ${tag}`);
    }
    return faults;
  });
  assert.deepEqual(faults, []);
}

/**
 * What every page must pass, on a phone, a tablet and a desktop, in the light and in the dark. To open a page takes longer
 * than to look at it: each is opened once for all that is looked at. axe-core takes the longest by far: it searches the page
 * of each kind that has every part, on the phone and on the dark desktop; its siblings (`sibling`), which have some of these
 * parts, are only asked for names. Of a page whose sample is tested too (`ends`) no other sizes are looked at.
 */
export function testLayout(name, { ends = false, sibling = ends } = {}) {
  const openings = [...kWidths.map((width) => [width, "light"]), [1280, "dark"]];
  for (const [width, colorScheme] of ends ? [openings[0], openings.at(-1)] : openings) {
    const named = colorScheme === "dark" || width === kWidths[0];
    const searched = named && !sibling;
    test(`${name} at ${width} px, ${colorScheme}: drawn, no wider than the window${searched ? ", and bars nobody" : ""}`, async () => {
      const { page, close } = await open(name, { width, colorScheme });
      await isLaidOut(page, name, width, colorScheme);
      if (named) await namesItsParts(page);
      if (searched) await barsNobody(page, width, colorScheme);
      await close();
    });
  }
}
