// The effect of each change on one run, the greatest saving first, as bars and as a table.

const kChangeKinds = {
  bandwidth: "bandwidth",
  latency: "latency",
  device: "device",
  batch: "batch (a guess: what another batch needs in steps is not simulated)",
  overlap: "how sums are put into buckets",
  limit: "limit: what no money buys",
};

/** A bar as long as the saving; what takes longer is striped, and as long as it takes longer, at most the whole width. */
function changeBar(change) {
  const width = 100 * Math.min(1, Math.abs(change.saving));
  const longer = change.saving < 0;
  return element(
    "span",
    { class: "track", "aria-hidden": "true" },
    element("span", { class: `length${longer ? " longer" : ""}${change.kind === "limit" ? " limit" : ""}`, style: `width:${width}%` }),
  );
}

function changesOf(page, run) {
  const sorted = [...run.what_if].sort((a, b) => b.saving - a.saving);
  const telling = sorted.filter((change) => Math.abs(change.saving) >= kLeastSaving);
  const idle = sorted.filter((change) => !(Math.abs(change.saving) >= kLeastSaving));
  const said = ({ change, assumption }) => `${change.words}${assumption ? ` (${assumption.words})` : ""}`;
  const what = isNumber(run.target_seconds) ? "the time to the target" : "a step";
  const aims = sorted.some((change) => isNumber(change.target_seconds));
  const entries = telling.map((change) =>
    element(
      "li",
      { "data-kind": change.kind },
      element("span", { class: "change" }, kept(said(change))),
      changeBar(change),
      element("span", { class: "number" }, kept(savingText(change.saving))),
    ),
  );
  const list =
    entries.length > 0
      ? element("ol", { class: "changes", "aria-label": `Changes by what they save of ${what}` }, ...entries)
      : element("p", {}, "Nothing that was tried makes a difference.");
  const { figure } = figureOf(list, [], () =>
    table(
      `Everything that was tried for ${run.label}, what saves most first`,
      [
        { title: "change" },
        { title: "saving", number: true },
        { title: "a step", number: true },
        ...(aims ? [{ title: "to the target", number: true }] : []),
        { title: "kind" },
      ],
      sorted.map((change) => [
        said(change),
        savingText(change.saving),
        humanSeconds(change.step_seconds),
        ...(aims ? [humanSeconds(change.target_seconds)] : []),
        kChangeKinds[change.kind] ?? change.kind,
      ]),
    ),
  );
  const nodes = [element("p", { class: "lead" }, kept(`What each saves of ${what} (now ${humanSeconds(run.target_seconds ?? run.step_seconds)}). Striped bars take longer; grey ones are limits that nothing gets beyond.`)), figure];
  if (idle.length > 0) {
    const why = (change) => {
      // A change of links or of a device belongs to a part of the critical path, which may give a reason.
      const parts = run.causes.flatMap((cause) => cause.on.map((part) => ({ ...part, kind: cause.kind })));
      const part = parts.find((one) => one.why_not && change.on && change.on !== "*" && one.pattern.startsWith(change.on));
      return part?.why_not.words ?? "";
    };
    const sentences = idle.map((change) => element("li", {}, kept(`${said(change)}${why(change) ? `: ${why(change)}` : ""}`)));
    nodes.push(
      element(
        "details",
        {},
        element("summary", {}, `${humanCount(idle.length)} changes with less than 0.1 % difference`),
        element("ul", { class: "sentences" }, ...sentences),
      ),
    );
  }
  return nodes;
}

function addChanges(page, section) {
  addByRun(page, section, (run) => changesOf(page, run));
}
