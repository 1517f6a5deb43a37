// The parts of the quickest layouts' steps, and their time against memory.

const kMostBars = 10;

function addParts(page, section) {
  const layouts = page.result.layouts.slice(0, kMostBars);
  if (layouts.length === 0) return;
  const parts = [
    ["computing", "computing_seconds", kParts.compute],
    ["inside a worker", "tensor_seconds", kParts.communication],
    ["bubble", "bubble_seconds", kParts.waiting],
    ["exchange", "exchange_seconds", kParts.bandwidth],
  ]
    .map(([label, name, part]) => ({ label, part, values: layouts.map(({ simulated }) => simulated[name]) }))
    .filter((part) => part.values.some((value) => value > 0));
  const labels = layouts.map(layoutLabel);
  const share = (value, i) => shareText(value / layouts[i].simulated.step_seconds);
  const described = layouts.map((_, i) => `${labels[i]}: ${parts.map(({ label, values }) => `${label} ${share(values[i], i)}`).join(", ")}`);
  const makeTable = () =>
    table(
      "Parts of a step",
      [{ title: "layout" }, ...parts.map(({ label }) => ({ title: label, number: true })), { title: "a step", number: true }],
      layouts.map(({ simulated }, i) => [labels[i], ...parts.map(({ values }) => humanSeconds(values[i])), layoutStep(simulated)]),
    );
  const figure = chartFigure(`Stacked bars of what a step goes into. ${described.join("; ")}.`, [], makeTable);
  section.append(
    lead(
      "Computing is simulated; what is not computing is divided as the closed form has it: what the devices of a worker hand one " +
        "another, stages that stand still, and gradients and parameters among workers as far as nothing hides them.",
    ),
    key(parts),
    figure.figure,
  );
  const ends = parts.map(() => null);
  ends[ends.length - 1] = layouts.map(({ simulated }) => ({ at: simulated.step_seconds, text: humanSeconds(simulated.step_seconds) }));
  bars(figure, { labels, parts, stacked: true, kind: "seconds", title: "", ends });
}

function addFront(page, section) {
  const { layouts, front, device_bytes: room } = page.result;
  if (front.length < 2) return;
  const [ofFront, others] = marks([true, false]);
  const point = (layout) => ({
    x: layout.memory_bytes,
    y: layout.simulated.step_seconds,
    text: [layoutLabel(layout), `${humanSeconds(layout.simulated.step_seconds)}, ${humanBytes(layout.memory_bytes)}`],
  });
  const least = layouts[front[front.length - 1]];
  const said =
    `The quickest takes ${humanSeconds(layouts[0].simulated.step_seconds)} and ${humanBytes(layouts[0].memory_bytes)} of a device` +
    `${isNumber(room) ? ` of ${humanBytes(room)}` : ""}; what needs least of those that nothing beats in both is ${layoutLabel(least)}: ` +
    `${humanSeconds(least.simulated.step_seconds)}, ${humanBytes(least.memory_bytes)}.`;
  const makeTable = () =>
    table(
      "None is quicker with less memory",
      [{ title: "layout" }, { title: "a step", number: true }, { title: "memory", number: true }],
      front.map((i) => [layoutLabel(layouts[i]), humanSeconds(layouts[i].simulated.step_seconds), humanBytes(layouts[i].memory_bytes)]),
    );
  const figure = chartFigure(`Points: a step against the memory of a device. ${said}`, [], makeTable);
  section.append(lead(said), figure.figure);
  lines(figure, {
    lines: [
      { label: "front", mark: ofFront, points: front.map((i) => point(layouts[i])).reverse() },
      { label: "simulated", mark: others, scattered: true, points: layouts.filter((_, i) => !front.includes(i)).map(point) },
    ].filter((line) => line.points.length > 0),
    x: { kind: "bytes", title: "memory of a device", log: false },
    y: { kind: "seconds", title: "a step", log: false },
  });
}
