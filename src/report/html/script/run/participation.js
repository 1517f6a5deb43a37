// Event-driven runs: participation of workers over time, and the staleness of their contributions.

/** Workers on the time line, and parts of rounds on it; the table below has the sums of all workers. */
const kWorkersDrawn = 40;
const kPartsDrawn = 4000;

const kEnds = {
  used: { label: "went into the model", part: kParts.compute },
  late: { label: "came too late", part: kParts.communication },
  failed: { label: "never came", part: kParts.bandwidth },
  down: { label: "was down", part: kParts.latency },
};

const workerName = (played, worker) => {
  const host = played.per_worker.host[worker];
  return `worker ${worker}${host ? ` (${host})` : ""}`;
};

/** What is drawn of a run: [{worker, begin, end, what}], and how many workers and parts there are beside. */
function timelineOf(run) {
  const { parts, host_outages: outages, per_worker: workers, parts_left_out: unknown } = run.event_run;
  const rows = Math.min(workers.host.length, kWorkersDrawn);
  const shown = [];
  for (const { worker, begin_seconds: begin, end_seconds: end, end: what, round } of parts) {
    if (worker < rows) shown.push({ worker, begin, end, what, round });
  }
  const drawn = shown.slice(0, kPartsDrawn);
  for (const { node, begin_seconds: begin, end_seconds: end } of outages) {
    if (node < rows) drawn.push({ worker: node, begin, end, what: "down" });
  }
  return {
    rows,
    bars: drawn,
    workersLeftOut: workers.host.length - rows,
    partsLeftOut: shown.length - Math.min(shown.length, kPartsDrawn) + unknown,
  };
}

/** A row a worker, a bar for each part that it took in a round. Returns a function that draws another run. */
function drawTimeline(figure, initial) {
  return redrawn({ run: initial }, ({ run }) => {
    const { drawing, canvas } = figure;
    const { rows, bars: all } = timelineOf(run);
    const { ink } = palette();
    const names = Array.from({ length: rows }, (_, worker) => workerName(run.event_run, worker));
    drawing.style.height = `${rows * 18 + 60}px`;
    const context = canvas.getContext("2d");
    const datasets = Object.entries(kEnds)
      .map(([what, { label, part }]) => ({
        label,
        data: all
          .filter((bar) => bar.what === what)
          .map((bar) => ({ x: [bar.begin, bar.end], y: names[bar.worker], bar })),
        backgroundColor: filling(context, part),
        borderColor: palette().paper, // a border in the colour of the page separates consecutive rounds
        borderWidth: 1,
        borderSkipped: false,
        grouped: false,
        barPercentage: 0.8,
        categoryPercentage: 1,
        minBarLength: 2,
      }))
      .filter((dataset) => dataset.data.length > 0);
    return new Chart(context, {
      type: "bar",
      data: { labels: names, datasets },
      options: {
        indexAxis: "y",
        interaction: { mode: "nearest", axis: "xy", intersect: true },
        scales: {
          x: axisFor({
            kind: "seconds",
            title: "simulated time",
            values: [run.total_seconds],
            most: run.total_seconds,
            count: ticksAcross(drawing),
          }),
          y: {
            ticks: {
              color: ink,
              autoSkip: false,
              callback(value) {
                return shortened(this.getLabelForValue(value), 28);
              },
            },
            grid: { display: false, drawBorder: false },
          },
        },
        plugins: {
          tooltip: tooltip((item) => {
            const { begin, end, what, round } = item.raw.bar;
            const where = what === "down" ? "" : `round ${round}: `;
            return `${where}${kEnds[what].label}, ${humanSeconds(begin)} … ${humanSeconds(end)}`;
          }),
        },
      },
    });
  });
}

function addTimeline(runs, section) {
  let current = runs[0];
  const text = () => {
    const { workersLeftOut, partsLeftOut } = timelineOf(current);
    const rest = [];
    if (workersLeftOut > 0) rest.push(`${humanCount(workersLeftOut)} more workers are in the table alone`);
    if (partsLeftOut > 0) rest.push(`${humanCount(partsLeftOut)} later parts are not drawn`);
    const tail = rest.length > 0 ? ` Of what there is, ${rest.join(", and ")}.` : "";
    return `From when a worker was asked, or began, until its answer was there, was lost, or was no longer waited for.${tail}`;
  };
  const description = () => {
    const { contributions: took } = current.event_run;
    return (
      `Time line of ${current.label}, a row a worker: of ${humanCount(took.asked)} parts ${humanCount(took.used)} went ` +
      `into the model, ${humanCount(took.late)} came too late, ${humanCount(took.failed)} never came.`
    );
  };
  let figure = null;
  let redraw = null;
  const said = lead(text());
  const controls =
    runs.length < 2
      ? []
      : [
          selection(
            "Run",
            runs.map((run) => ({ value: run, text: run.label })),
            current,
            (run) => {
              current = run;
              said.textContent = kept(text());
              figure.canvas.setAttribute("aria-label", description());
              redraw({ run });
              figure.refreshTable();
            },
          ),
        ];
  const makeTable = () => {
    const { per_worker: workers } = current.event_run;
    return table(
      `Every worker of ${current.label} over the whole run`,
      ["worker", ...numeric(["used", "late", "failed", "computing", "down", "sent", "received"])],
      workers.host.map((_, worker) => [
        workerName(current.event_run, worker),
        humanCount(workers.used[worker]),
        humanCount(workers.late[worker]),
        humanCount(workers.failed[worker]),
        humanSeconds(workers.busy_seconds[worker]),
        humanSeconds(workers.down_seconds[worker]),
        humanBytes(workers.bytes_sent[worker]),
        humanBytes(workers.bytes_received[worker]),
      ]),
    );
  };
  figure = chartFigure(description(), controls, makeTable);
  section.append(element("h3", {}, "Participation of workers over time"), said, key(Object.values(kEnds)), figure.figure);
  redraw = drawTimeline(figure, current);
}

function addStaleness(section) {
  const names = Object.keys(chartsOfPage()).filter((name) => name.startsWith("staleness-"));
  if (names.length === 0) return;
  section.append(
    element("h3", {}, "Staleness"),
    lead("How many updates of the model there were between what was read and what was written, and how often."),
  );
  for (const name of names) addChart(section, name);
}

function addParticipation(page, section) {
  const runs = page.runs.filter((run) => run.event_run);
  if (runs.length === 0) return;
  const columns = [
    "run", ...numeric(["rounds, updates"]), ...numeric(["began", "used", "late", "failed"], "parts of clients"),
    ...numeric(["staleness"]), ...numeric(["computing", "waiting"], "of the time of those who take part"),
    ...numeric(["down"], "of all workers' time"), ...numeric(["computing", "sent"], "wasted"), ...numeric(["outages"]),
  ];
  const rows = runs.map((run) => {
    const { contributions, busy_seconds: busy, idle_seconds: idle, outages, per_worker: workers } = run.event_run;
    const all = busy + idle + run.down_seconds;
    // If only some workers take part, those that are down have often not been asked.
    const some = run.taking_part < workers.host.length;
    const theirs = some ? (all * run.taking_part) / workers.host.length : all;
    const waiting = some ? theirs - busy : idle;
    return [
      nameOf(page, run),
      humanCount(run.steps),
      humanCount(contributions.asked),
      humanCount(contributions.used),
      humanCount(contributions.late),
      humanCount(contributions.failed),
      withDigits(run.mean_staleness),
      shareText(busy / theirs),
      shareText(waiting / theirs),
      shareText(run.down_seconds / all),
      humanSeconds(run.wasted_seconds),
      humanBytes(run.wasted_bytes),
      humanCount(outages.hosts + outages.links),
    ];
  });
  section.append(
    lead(
      (page.result.timing_only
        ? "These runs were simulated event by event on the cluster. "
        : "In these runs the order of events decides what is learned: they were played on the cluster, and learned as " +
          "they were played. ") + "A step elsewhere on this page is a round, or an update of the model.",
    ),
    table("What became of those who took part", columns, rows),
  );
  const withParts = runs.filter((run) => run.event_run.parts.length > 0);
  if (withParts.length > 0) addTimeline(withParts, section);
  addStaleness(section);
}
