// Layouts in words and as a table: the quickest first.

const kOrders = { "zb-h1": " ZB", "dualpipe-v": " V", gpipe: " G" };

/** "8×4×2": data × tensor × pipeline, with the pieces of a stage, parts of a sequence and devices that divide experts. */
function layoutName(layout) {
  const several = (name, count) => (count > 1 ? ` ${name} ${count}` : "");
  return (
    `${layout.replicas}×${layout.tensor}×${layout.pipeline}` +
    (layout.interleave > 1 ? ` (${layout.interleave})` : "") +
    (layout.pipeline > 1 ? (kOrders[layout.schedule] ?? "") : "") +
    several("CP", layout.context) +
    several("EP", layout.expert_parallel)
  );
}

const kZero = { none: kNone, optimizer: "ZeRO-1", gradients: "ZeRO-2", parameters: "ZeRO-3" };
const shardingText = (layout) =>
  kZero[layout.sharding] + (isNumber(layout.sharding_group) ? ` of ${layout.sharding_group}` : "");

/** How a layout is told apart from others of the page: what it divides, and how. */
const layoutLabel = (layout) =>
  [
    layoutName(layout),
    `micro ${layout.micro_batch}`,
    ...(layout.sharding === "none" ? [] : [shardingText(layout)]),
    ...(layout.recompute === "none" ? [] : [`${layout.recompute === "full" ? "blocks" : "attention"} again`]),
  ].join(", ");

const layoutStep = ({ step_seconds, may_be_wrong_by }) =>
  humanSeconds(step_seconds) + (may_be_wrong_by >= 0.01 ? ` ±${(100 * may_be_wrong_by).toFixed(0)} %` : "");

function addLayouts(page, section) {
  const { result } = page;
  if (result.layouts.length === 0) return;
  const best = result.layouts[0].simulated.step_seconds;
  const rate = isNumber(result.layouts[0].simulated.tokens_per_second) ? "tokens" : "samples";
  const columns = [
    { title: "data × tensor × pipeline" },
    { title: "a step", number: true },
    { title: "slower by", number: true },
    { title: "memory", number: true },
    { title: "micro-batch", number: true },
    { title: "sharding" },
    { title: "again" },
    { title: `${rate} a second`, number: true },
    { title: "MFU", number: true },
  ];
  const rows = result.layouts.map((layout, i) => [
    layoutName(layout) + (layout.written ? " (the scenario's)" : ""),
    layoutStep(layout.simulated),
    i === 0 ? kNone : humanPercent(layout.simulated.step_seconds / best - 1),
    humanBytes(layout.memory_bytes),
    humanCount(layout.micro_batch),
    shardingText(layout),
    { none: kNone, selective: "attention", full: "blocks" }[layout.recompute],
    humanCount(layout.simulated[`${rate}_per_second`]),
    humanPercent(layout.simulated.model_flops_utilisation),
  ]);
  section.append(
    lead(
      `Of ${humanCount(result.divisible)} layouts that divide evenly ${humanCount(result.fitting)} fit the memory with a margin of ` +
        `${humanPercent(result.memory_margin)}; these were simulated, the quickest first. CP are parts of a sequence, EP devices ` +
        "that divide experts, and in brackets are the pieces of a stage; ZB is ZB-H1, V DualPipeV, G GPipe.",
    ),
    table(`${result.workload} on ${humanCount(result.devices)} ${result.device}`, columns, rows, 0),
    element("h3", {}, "To have the quickest"),
    element("pre", { tabindex: "0", role: "region", "aria-label": "Options of dadsim" }, result.layouts[0].set.map((one) => `--set ${one}`).join(" \\\n")),
  );
}
