// Draws the platform, its links and their use, and the algorithms of collectives.

/** In bits, as lines are sold and drawn; from 1 Tbit/s on in bytes, as what joins GPUs is. */
const lineRate = (bytes) => (8 * bytes < 1e12 ? humanBitRate(8 * bytes) : `${humanBytes(bytes)}/s`);

function addLinkUse(page, section) {
  const uses = page.runs.flatMap((run) =>
    [...(run.link_use ?? [])].sort((a, b) => (b.busy_share ?? 0) - (a.busy_share ?? 0)).map((use) => ({ run, ...use })),
  );
  if (uses.length === 0) return;
  section.append(element("h3", {}, "How busy links are"));
  addOneOfCharts(section, "links", {
    title: "Run",
    above:
      "What a link's transfers would take at its full bandwidth, one after the other, as a share of the step; mean over " +
      "the run. Over 100 % they go on after the last worker is done, or each has all of the link.",
  });
  const columns = ["link", "run", "class", ...numeric(["nominal bandwidth", "latency", "payload per step", "busy"])];
  const rows = uses.map((use) => [
    use.link,
    use.run.label,
    use.class || kNone,
    lineRate(use.bytes_per_second),
    humanSeconds(use.latency_seconds),
    humanBytes(use.bytes_per_step),
    humanPercent(use.busy_share),
  ]);
  const fill = (details) => details.append(table("Links in a step, run by run, busiest first", columns, rows));
  section.append(closedDetails("All links of every run", fill));
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

/** Whether there is something to say of the network. */
const hasNetwork = (page) =>
  document.querySelector("#platform svg") !== null ||
  page.runs.some((run) => [run.link_use, run.network.links, run.network.collectives].some((all) => all?.length > 0));

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
        ["class", "used as", ...numeric(["nominal bandwidth", "payload reaches", "directions"]), "runs"],
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
        ["collective", "carried out as", ...numeric(["payload of a worker", "in all distinct steps"]), "runs"],
        collectives,
      ),
    );
  }
}
