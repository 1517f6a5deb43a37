// The memory of a step on the device of a worker.

const kMemoryParts = ["parameters", "master_copies", "optimizer", "gradients", "activations", "scores", "algorithm"];

function addMemory(page, section) {
  const runs = page.runs;
  if (!runs.some((run) => run.memory_bytes > 0)) return;
  const parts = kMemoryParts
    .map((name, i) => ({
      label: name.replace("_", " "),
      part: partInTurn(i),
      values: runs.map((run) => run.memory[name]),
    }))
    .filter((part) => part.values.some((value) => value > 0));
  const totals = runs.map((run) => run.memory_bytes);
  const device = runs.map((run) => run.memory.device_bytes);
  const of = (i) => (isNumber(device[i]) ? ` of ${humanBytes(device[i])}` : "");
  const described = runs.map((run, i) => `${run.label} ${humanBytes(totals[i])}${of(i)}`).join("; ");
  const makeTable = () => {
    const columns = [{ title: "run" }, ...parts.map((part) => ({ title: part.label, number: true }))];
    columns.push({ title: "in all", number: true }, { title: "device has", number: true });
    const rows = runs.map((run, i) => [
      run.label,
      ...parts.map((part) => humanBytes(part.values[i])),
      humanBytes(totals[i]),
      humanBytes(device[i]),
    ]);
    return table("Memory of a worker", columns, rows);
  };
  const figure = chartFigure(`Stacked bars: ${described}.`, [], makeTable);
  section.append(
    lead(
      "What a step needs on a worker, with the mean batch; a framework's own gigabyte and its workspaces come on top.",
    ),
    key(parts),
    figure.figure,
  );
  const ends = parts.map(() => null);
  ends[ends.length - 1] = totals.map((total, i) => ({ at: total, text: `${humanBytes(total)}${of(i)}` }));
  bars(figure, { labels: runs.map((run) => run.label), parts, stacked: true, kind: "bytes", title: "", ends });
}
