// The parts of the quickest layouts' steps, and their time against memory.

function addParts(page, section) {
  addChart(section, "parts", {
    above:
      "Computing is simulated; what is not computing is divided as the closed form has it: what the devices of a worker hand one " +
      "another, stages that stand still, and gradients and parameters among workers as far as nothing hides them. Before each " +
      "layout stands its step.",
  });
}

function addFront(page, section) {
  const { layouts, front, device_bytes: room } = page.result;
  if (layouts.length < 2) return;
  const least = layouts[front[front.length - 1]];
  addChart(section, "time-and-memory", {
    above:
      `The quickest takes ${humanSeconds(layouts[0].simulated.step_seconds)} and ${humanBytes(layouts[0].memory_bytes)} of a device` +
      `${isNumber(room) ? ` of ${humanBytes(room)}` : ""}; what needs least of those that nothing beats in both is ${layoutLabel(least)}: ` +
      `${humanSeconds(least.simulated.step_seconds)}, ${humanBytes(least.memory_bytes)}.`,
  });
}
