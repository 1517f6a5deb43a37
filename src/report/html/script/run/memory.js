// The memory of a step on the device of a worker.

function addMemory(page, section) {
  addChart(section, "memory", {
    above: "What a step needs on a worker, with the mean batch; a framework's own gigabyte and its workspaces come on top.",
  });
  for (const name of Object.keys(chartsOfPage())) {
    if (name.startsWith("memory-over-step-")) addChart(section, name);
  }
}
