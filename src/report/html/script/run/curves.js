// Accuracy, error, loss or AUC against simulated time, bytes or steps.

const kAcross = {
  seconds: { text: "simulated time", kind: "seconds" },
  bytes: { text: "bytes sent in all", kind: "bytes" },
  step: { text: "steps", kind: "count" },
};
const kUpwards = {
  accuracy: { text: "accuracy", kind: "share", value: (point) => point.accuracy, target: (accuracy) => accuracy },
  error: {
    text: "error (1 − accuracy)",
    kind: "share",
    value: (point) => (isNumber(point.accuracy) ? 1 - point.accuracy : null),
    target: (accuracy) => 1 - accuracy,
  },
  loss: { text: "loss (cross-entropy, nats)", kind: "number", value: (point) => point.loss },
  auc: { text: "AUC", kind: "share", value: (point) => point.auc },
};
/** Of runs whose sites have weights of their own. */
const kUpwardsOfSites = {
  average: {
    text: "accuracy of the average of all sites",
    kind: "share",
    value: (point) => point.sites?.average_accuracy ?? null,
    target: (accuracy) => accuracy,
  },
  worst: {
    text: "accuracy of the worst site",
    kind: "share",
    value: (point) => (point.sites ? Math.min(...point.sites.accuracies) : null),
    target: (accuracy) => accuracy,
  },
  consensus: {
    text: "mean squared distance of the sites from their average",
    kind: "number",
    value: (point) => point.sites?.consensus_distance ?? null,
  },
};
const kErrorsShown = 3;
const kFromLeast = new Set(["accuracy", "auc", "average", "worst"]);

const pointText = (point) => [
  `accuracy ${humanPercent(point.accuracy)}, loss ${withDigits(point.loss)}, AUC ${humanPercent(point.auc)}`,
  `after ${humanSeconds(point.seconds)}, ${humanCount(point.step)} steps, ${humanBytes(point.bytes)}`,
];

function spread(runs) {
  const times = runs
    .filter(shares)
    .map((run) => run.total_seconds)
    .filter((seconds) => seconds > 0);
  return times.length > 0 ? Math.max(...times) / Math.min(...times) : 1;
}

function addCurves(page, section) {
  if (page.result.timing_only) return; // a result without learning has only times
  const state = { across: "seconds", upwards: "accuracy", logX: spread(page.runs) >= kSpreadForLog, logY: false, near: false };
  const shown = new Set(page.runs.filter((run) => run.curve.length > 0));
  const ofSites = page.runs.some((run) => run.curve.some((point) => point.sites));
  const upwards = ofSites ? { ...kUpwards, ...kUpwardsOfSites } : kUpwards;

  const settings = () => {
    const [x, y] = [kAcross[state.across], upwards[state.upwards]];
    const target = y.target && { value: y.target(page.target), text: `target ${targetText(page.target)}` };
    return {
      lines: page.runs
        .filter((run) => shown.has(run))
        .map((run) => ({
          label: run.label,
          mark: page.marks[page.runs.indexOf(run)],
          points: run.curve.map((point) => {
            const factor = page.times?.find((one) => one.run === run)?.factor ?? 1;
            const at = { ...point, seconds: point.seconds * factor };
            return { x: at[state.across], y: y.value(point), text: pointText(at) };
          }),
        })),
      x: { kind: x.kind, title: x.text, log: state.logX },
      y: {
        // Users decide near the target, so the axis begins where the error is kErrorsShown times that of the target.
        from: state.near && y.target && kFromLeast.has(state.upwards) ? 1 - kErrorsShown * (1 - page.target) : null,
        kind: y.kind,
        title: y.text,
        log: state.logY,
        fromLeast: kFromLeast.has(state.upwards),
        most: kFromLeast.has(state.upwards) ? 1 : null,
      },
      limits: target ? [target] : [],
    };
  };
  const description = () => {
    const ends = page.runs
      .filter((run) => shown.has(run) && run.curve.length > 0)
      .map((run) => {
        const last = run.curve[run.curve.length - 1];
        return `${run.label} ends at ${humanPercent(last.accuracy)} after ${humanSeconds(last.seconds)}`;
      });
    return `Lines: ${upwards[state.upwards].text} against ${kAcross[state.across].text}. ${ends.join("; ")}.`;
  };

  const options = (names) => Object.entries(names).map(([value, { text }]) => ({ value, text }));
  const controls = ({ set, change }) => {
    const logUpwards = checkbox("upwards", false, set("logY"));
    // Errors near the target differ by factors, so the axis of errors is logarithmic at first.
    const byFactors = (name) => (logUpwards.querySelector("input").checked = state.logY = name === "error");
    return [
      choice("Across", options(kAcross), state.across, set("across")),
      choice("Upwards", options(upwards), state.upwards, set("upwards", byFactors)),
      logarithmic(checkbox("across", state.logX, set("logX")), logUpwards),
      isNumber(page.target) ? checkbox("Near the target", false, set("near")) : null,
      checkboxes(
        "Runs",
        page.runs.map((run) => ({ value: run, label: nameOf(page, run) })),
        shown,
        change,
      ),
    ];
  };
  const makeTable = () =>
    table(
      "Every evaluation on the held-back data",
      ["run", ...numeric(["step", "simulated time", "bytes sent", "accuracy", "loss", "AUC"])],
      page.runs
        .filter((run) => shown.has(run))
        .flatMap((run) =>
          run.curve.map((point) => [
            run.label,
            humanCount(point.step),
            humanSeconds(point.seconds),
            humanBytes(point.bytes),
            humanPercent(point.accuracy),
            withDigits(point.loss),
            humanPercent(point.auc),
          ]),
        ),
    );
  const { change } = steeredLines(section, [], { state, settings, description, controls, makeTable });
  page.follow.push(change);
}
