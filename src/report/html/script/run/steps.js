// The time and bytes of a step of each run.

/** What a step's time is divided into by schedule; compressing is computing, too, and waiting for others is exposed. */
const kOverlap = [
  ["computing", "compute_seconds"],
  ["compressing", "compression_seconds"],
  ["exposed communication", "exposed_seconds"],
  ["waiting for others", "waiting_seconds"],
];

/** Parts of a step in seconds, run by run: causes on the critical path; without one computing and waiting. */
function causesOfSteps(page) {
  const own = page.runs.map((run) => {
    const kinds = run.causes.map(({ kind, seconds }) => [kind, seconds]);
    if (kinds.length > 0 || !isNumber(run.step_seconds)) return new Map(kinds);
    return new Map([
      ["compute", run.compute_seconds],
      ["waiting for the network or for others", run.exposed_seconds],
    ]);
  });
  const names = [...new Set(["bandwidth", "queueing", "latency", "compute", ...(page.retiming?.kinds ?? []), ...own.flatMap((kinds) => [...kinds.keys()])])];
  return names
    .map((name, i) => ({ name, label: causeText(name), part: kParts[name] ?? partInTurn(i), values: own.map((kinds) => kinds.get(name) ?? 0) }))
    .filter(({ name, values }) => values.some((value) => value > 0) || page.retiming?.kinds?.includes(name));
}

/** The one chart of what a step goes into; sliders that turn the cluster move it. */
function addSteps(page, section) {
  if (!page.runs.some((run) => isNumber(run.step_seconds))) return;
  const still = causesOfSteps(page);
  /** What runs are at the sliders' settings, or null. */
  const turned = (i) => page.times?.find(({ run }) => run === page.runs[i]);
  const parts = () =>
    still.map((part) => ({
      ...part,
      values: part.values.map((seconds, i) => {
        const place = page.retiming?.kinds?.indexOf(part.name) ?? -1;
        if (!turned(i)?.moved) return seconds;
        return place < 0 ? 0 : turned(i).seconds * turned(i).shares[place];
      }),
    }));
  const seconds = (i) => (turned(i) ?? { seconds: page.runs[i].step_seconds }).seconds;
  const settings = () => {
    const shown = parts();
    return {
      parts: shown,
      ends: shown.map((_, k) =>
        k + 1 < shown.length
          ? null
          : page.runs.map((_, i) => ({ at: shown.reduce((all, { values }) => all + values[i], 0), text: humanSeconds(seconds(i)) })),
      ),
    };
  };
  const description = () =>
    `Stacked bars of a ${page.turn}: ` +
    page.runs
      .map((run, i) => {
        const own = parts().filter(({ values }) => values[i] > 0);
        return `${run.label} ${humanSeconds(seconds(i))} (${own.map(({ label, values }) => `${label} ${humanSeconds(values[i])}`).join(", ")})`;
      })
      .join("; ") +
    ".";
  const overlap = kOverlap.filter(([, name]) => page.runs.some((run) => run[name] > 0));
  const makeTable = () => {
    const shown = parts();
    return table(
      `A ${page.turn}, mean over the run: causes on the critical path, and what the worker that ends last does meanwhile`,
      [
        "run", ...numeric([page.turn]),
        ...(page.times ? numeric(["× as it is", "off by at most"]) : []),
        ...numeric(shown.map(({ label }) => label), "causes"),
        ...overlap.map(([title]) => ({ title, number: true, group: page.times ? "the worker, as it is" : "the worker" })),
      ],
      page.runs.map((run, i) => [
        run.label,
        humanSeconds(seconds(i)),
        ...(page.times ? [withDigits(turned(i)?.factor ?? null), turned(i) ? humanPercent(turned(i).off) : kNone] : []),
        ...shown.map(({ values }) => humanSeconds(values[i])),
        ...overlap.map(([, name]) => humanSeconds(run[name])),
      ]),
    );
  };
  const figure = chartFigure(description(), [], makeTable);
  section.append(
    element("p", { class: "lead" }, "The ", word("critical path"), ` of a ${page.turn} by cause, mean over the run.`),
    key(still),
    figure.figure,
  );
  const redraw = bars(figure, { labels: page.runs.map(({ label }) => label), stacked: true, kind: "seconds", title: "", ...settings() });
  page.follow.push(() => {
    figure.canvas.setAttribute("aria-label", description());
    redraw(settings());
    figure.refreshTable();
  });
  if (page.runs.some((run) => run.bounds.length > 0)) {
    const advice = page.runs.map((run) => element("li", {}, element("strong", {}, `${run.label}: `), adviceFor(run)));
    section.append(element("ul", { class: "advice" }, ...advice));
  }
}
