// Effective ranks, epoch by epoch: components that the gradients of a layer needed.

/** With more layers than this, only the first, the middle and the last are shown to begin with. */
const kLayersAtOnce = 4;

function addRanks(page, section) {
  const runs = page.runs.filter((run) => run.effective_rank.length > 0);
  if (runs.length === 0) return;
  const layers = runs[0].effective_rank[0].layers.map((layer) => layer.layer);
  const middle = Math.floor((layers.length - 1) / 2);
  const chosen = layers.length <= kLayersAtOnce ? layers.map((_, i) => i) : [0, middle, layers.length - 1];
  const state = { run: runs[0], layers: new Set(chosen), site: true, merged: true };
  const markOf = (layer) => ({ kind: "runs", index: layer % 6, dash: [], marker: kMarkers[layer % kMarkers.length] });

  const series = (layer, which) => ({
    label: `${layers[layer]}, ${which === "site" ? "per site" : "merged"}`,
    mark: { ...markOf(layer), dash: which === "site" ? [] : [6, 4] },
    points: state.run.effective_rank.map((epoch) => {
      const value = epoch.layers[layer][which];
      return {
        x: epoch.epoch,
        y: value,
        text: `epoch ${epoch.epoch}: ${isNumber(value) ? value.toFixed(1) : kNone} components`,
      };
    }),
  });
  const settings = () => {
    const which = ["site", "merged"].filter((name) => state[name]);
    return {
      lines: layers.flatMap((_, layer) => (state.layers.has(layer) ? which.map((name) => series(layer, name)) : [])),
      x: { kind: "count", title: "epoch", fromLeast: true },
      y: { kind: "number", title: "components" },
    };
  };
  const description = () => {
    const epochs = state.run.effective_rank;
    const [first, last] = [epochs[0], epochs[epochs.length - 1]];
    const ends = layers.map(
      (name, i) => `${name} from ${withDigits(first.layers[i].site)} to ${withDigits(last.layers[i].site)}`,
    );
    const epochsShown = `epoch ${first.epoch} to ${last.epoch}`;
    return `Lines: effective rank per site of ${state.run.label}, ${epochsShown}: ${ends.join("; ")}.`;
  };

  const layerLabel = (i) => element("span", { class: "named" }, markSwatch(markOf(i)), layers[i]);
  const controls = ({ set, change }) => [
    selection(
      "Run",
      runs.map((run) => ({ value: run, text: run.label })),
      state.run,
      set("run"),
    ),
    checkboxes(
      "Layers",
      layers.map((_, i) => ({ value: i, label: layerLabel(i) })),
      state.layers,
      change,
    ),
    element(
      "fieldset",
      {},
      element("legend", {}, "Components"),
      checkbox("kept per site (solid)", true, set("site")),
      checkbox("left after merging (dashed)", true, set("merged")),
    ),
  ];
  const makeTable = () =>
    table(
      `Effective rank of ${state.run.label}: kept per site → left after merging`,
      [{ title: "epoch" }, ...layers.map((title) => ({ title, number: true }))],
      state.run.effective_rank.map((epoch) => [
        humanCount(epoch.epoch),
        ...epoch.layers.map((layer) => `${withDigits(layer.site)} → ${withDigits(layer.merged)}`),
      ]),
    );
  const above = [lead("Components that the gradients of a layer needed, mean over the steps of an epoch.")];
  steeredLines(section, above, { state, settings, description, controls, makeTable });
}
