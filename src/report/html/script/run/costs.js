// What a run costs, where the scenario asks: money, energy, and the carbon dioxide of it.

function carbonText(grams) {
  if (!isNumber(grams)) return kNone;
  return grams < 1000 ? `${withDigits(grams)} g` : `${withDigits(grams / 1000, 4)} kg`;
}

function addCosts(page, section) {
  const runs = page.runs.filter((run) => run.costs);
  if (runs.length === 0) return;
  const stretches = [
    { name: "to_target", group: `to ${targetText(page.target)}` },
    { name: "whole", group: "whole run" },
    { name: "at_scale", group: `as ${page.result.at_scale?.workload}` },
  ].filter(({ name }) => runs.some((run) => run.costs[name]));
  const quantities = [
    { name: "money", title: "money", text: (value) => moneyText(value, page.result.currency ?? "") },
    { name: "joules", title: "energy", text: humanEnergy },
    { name: "grams_co2e", title: "CO₂e", text: carbonText },
  ].filter(({ name }) => runs.some((run) => stretches.some((s) => isNumber(run.costs[s.name]?.[name]))));
  const cells = stretches.flatMap((stretch) => quantities.map((quantity) => ({ stretch, quantity })));
  const columns = [
    { title: "run" },
    ...cells.map(({ stretch, quantity }) => ({ title: quantity.title, number: true, group: stretch.group })),
  ];
  const rows = runs.map((run) => [
    nameOf(page, run),
    ...cells.map(({ stretch, quantity }) => quantity.text(run.costs[stretch.name]?.[quantity.name])),
  ]);
  section.append(table("What is not known is left out (–), never counted as nothing", columns, rows));
}
