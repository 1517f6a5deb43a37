// The distribution of classes: training samples of each class at each site.

/** Of more sites than this the table has the spread over them first, and the sites themselves when it is opened. */
const kMostSites = 16;
/** So many rows a browser draws without a halt. */
const kMostRowsOfSites = 1000;

const sum = (values) => values.reduce((total, value) => total + value, 0);

/** A count on a ground that is the darker, the larger its part of the row. */
function countCell(count, whole) {
  const share = whole > 0 ? count / whole : 0;
  const text = count === 0 ? "·" : humanCount(count);
  return element("span", { class: "count", style: `--share: ${(100 * share).toFixed(1)}%` }, text);
}

function sitesTable(caption, sites, samples) {
  const classes = samples[0].map((_, i) => i);
  return table(
    caption,
    [
      "site",
      ...numeric(classes.map(String), "class"),
      ...numeric(["samples", "largest class"]),
    ],
    sites.map((site, i) => {
      const whole = sum(samples[i]);
      return [
        site,
        ...samples[i].map((count) => countCell(count, whole)),
        humanCount(whole),
        whole > 0 ? shareText(Math.max(...samples[i]) / whole) : kNone,
      ];
    }),
  );
}

/** Least, median and most over the sites, class by class. */
function spreadTable(samples) {
  const rows = samples.map((counts) => [...counts, sum(counts)]);
  const columns = rows[0].map((_, i) => rows.map((row) => row[i]).sort((a, b) => a - b));
  const at = (share) => columns.map((sorted) => humanCount(sorted[Math.round(share * (sorted.length - 1))]));
  return table(
    `Samples of a class at a site, over all ${humanCount(samples.length)} sites`,
    [
      "over the sites",
      ...numeric(samples[0].map((_, i) => String(i)), "class"),
      ...numeric(["samples"]),
    ],
    [
      ["least", ...at(0)],
      ["a quarter has at most", ...at(0.25)],
      ["median", ...at(0.5)],
      ["a quarter has at least", ...at(0.75)],
      ["most", ...at(1)],
    ],
  );
}

function addData(page, section) {
  const { classes } = page.about;
  if (!classes) return;
  if (classes.too_many) {
    section.append(lead("Which site holds which classes are more numbers than a page can show; they are left out."));
    return;
  }
  const { sites, samples } = classes;
  section.append(lead("Training samples of each class at each site, as the scenario's seed deals them; the stronger the ground, the larger a part of the site's."));
  if (sites.length <= kMostSites) {
    section.append(sitesTable("Samples by site and class", sites, samples));
    return;
  }
  const fill = (details) => {
    const shown = Math.min(sites.length, kMostRowsOfSites);
    const all = shown === sites.length;
    const caption = all ? "Samples by site and class" : `The first ${humanCount(shown)} of ${humanCount(sites.length)} sites; all are in the source of the page`;
    details.append(sitesTable(caption, sites.slice(0, shown), samples.slice(0, shown)));
  };
  section.append(spreadTable(samples), closedDetails(`All ${humanCount(sites.length)} sites`, fill));
}
