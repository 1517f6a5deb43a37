// The picture of the platform, its links, the algorithms of collectives, and the use of links.

/** With more links than this, the busiest are drawn; the table has them all. */
const kLinksDrawn = 12;

/** In bits, as lines are sold and drawn; from 1 Tbit/s on in bytes, as what joins GPUs is. */
const lineRate = (bytes) => (8 * bytes < 1e12 ? humanBitRate(8 * bytes) : `${humanBytes(bytes)}/s`);

function addLinkUse(page, section) {
  const runs = page.runs.filter((run) => run.link_use?.length > 0);
  if (runs.length === 0) return;
  const byShare = (run) => [...run.link_use].sort((a, b) => (b.busy_share ?? 0) - (a.busy_share ?? 0));
  let current = ranked(runs)[0] ?? runs[0];
  const description = () =>
    `Bars: share of a step in which links are busy in ${current.label}: ` +
    byShare(current)
      .slice(0, kLinksDrawn)
      .map((use) => `${use.link} ${shareText(use.busy_share)}`)
      .join("; ") +
    ".";
  const settings = () => {
    const uses = byShare(current).slice(0, kLinksDrawn);
    const most = Math.max(1, ...uses.map((use) => use.busy_share ?? 0));
    return {
      most,
      labels: uses.map((use) => use.link),
      parts: [{ label: "busy", part: kParts.bandwidth, values: uses.map((use) => use.busy_share) }],
      ends: [
        uses.map((use) => ({
          at: use.busy_share ?? 0,
          text: `${shareText(use.busy_share)}, ${humanBytes(use.bytes_per_step)}`,
        })),
      ],
    };
  };
  let figure = null;
  let redraw = null;
  const controls = [
    selection(
      "Run",
      runs.map((run) => ({ value: run, text: run.label })),
      current,
      (run) => {
        current = run;
        figure.canvas.setAttribute("aria-label", description());
        redraw(settings());
        figure.refreshTable();
      },
    ),
  ];
  const makeTable = () =>
    table(
      `Links in a step of ${current.label}, busiest first`,
      [
        { title: "link" },
        { title: "class" },
        { title: "nominal bandwidth", number: true },
        { title: "latency", number: true },
        { title: "payload per step", number: true },
        { title: "busy", number: true },
      ],
      byShare(current).map((use) => [
        use.link,
        use.class || kNone,
        lineRate(use.bytes_per_second),
        humanSeconds(use.latency_seconds),
        humanBytes(use.bytes_per_step),
        humanPercent(use.busy_share),
      ]),
    );
  figure = chartFigure(description(), controls, makeTable);
  section.append(
    element("h3", {}, "How busy links are"),
    lead(
      "What a link's transfers would take at its full bandwidth, one after the other, as a share of the step, and " +
        "their payload; mean over the run. " +
        "Over 100 % they go on after the last worker is done, or each has all of the link.",
    ),
    figure.figure,
  );
  redraw = bars(figure, { ...settings(), stacked: false, kind: "share", title: "" });
}

/** One row for what several runs have in common. */
function grouped(runs, entries, textOf) {
  const rows = new Map();
  for (const run of runs) {
    for (const entry of entries(run)) {
      const cells = textOf(entry);
      const known = rows.get(cells.join("\n"));
      if (known) known.runs.add(run.label);
      else rows.set(cells.join("\n"), { cells, runs: new Set([run.label]) });
    }
  }
  return [...rows.values()].map(({ cells, runs: labels }) => [...cells, [...labels].join(", ")]);
}

function addNetwork(page, section) {
  const picture = document.getElementById("platform");
  if (!picture.querySelector("svg")) {
    picture.remove();
  } else if (page.runs.some((run) => run.link_use?.length > 0)) {
    const words =
      "Lines are the darker and the thicker the busier they are: their busiest link, in the run that keeps it busiest. " +
      "Grey: not used.";
    picture.before(lead(words));
  }
  addLinkUse(page, section);
  const links = grouped(
    page.runs,
    (run) => run.network.links,
    (link) => [
      link.class || kNone,
      link.transport,
      lineRate(link.bytes_per_second),
      humanPercent(link.efficiency),
      humanCount(link.directions),
    ],
  );
  if (links.length > 0) {
    section.append(
      table(
        "Links on the routes in use",
        [
          { title: "class" },
          { title: "used as" },
          { title: "nominal bandwidth", number: true },
          { title: "payload reaches", number: true },
          { title: "directions", number: true },
          { title: "runs" },
        ],
        links,
      ),
    );
  }
  const collectives = grouped(
    page.runs,
    (run) => run.network.collectives,
    (one) => [
      one.kind,
      one.algorithm,
      one.least_bytes === one.most_bytes
        ? humanBytes(one.most_bytes)
        : `${humanBytes(one.least_bytes)} … ${humanBytes(one.most_bytes)}`,
      humanCount(one.count),
    ],
  );
  if (collectives.length > 0) {
    section.append(
      table(
        "What collectives were carried out as",
        [
          { title: "collective" },
          { title: "carried out as" },
          { title: "payload of a worker", number: true },
          { title: "in all distinct steps", number: true },
          { title: "runs" },
        ],
        collectives,
      ),
    );
  }
}
