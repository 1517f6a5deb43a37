// The costs of a run, if the scenario asks for them: money, energy, and its carbon dioxide.

function carbonText(grams) {
  if (!isNumber(grams)) return kNone;
  return grams < 1000 ? `${withDigits(grams)} g` : `${withDigits(grams / 1000, 4)} kg`;
}

function addCosts(page, section) {
  const stretches = [
    { ending: "_to_target", group: `to ${targetText(page.target)}` },
    { ending: "", group: "whole run" },
    { ending: "_at_scale", group: `as ${page.result.at_scale?.workload}` },
  ];
  const quantities = [
    { name: "money", title: "money", text: (value) => moneyText(value, page.result.currency ?? "") },
    { name: "joules", title: "energy", text: humanEnergy },
    { name: "grams_co2e", title: "CO₂e", text: carbonText },
  ];
  const known = (items, names) => items.filter((item) => page.runs.some((run) => names(item).some((name) => isNumber(run[name]))));
  const shownStretches = known(stretches, ({ ending }) => quantities.map(({ name }) => name + ending));
  const shownQuantities = known(quantities, ({ name }) => stretches.map(({ ending }) => name + ending));
  const cells = shownStretches.flatMap((stretch) => shownQuantities.map((quantity) => ({ stretch, quantity })));
  if (cells.length === 0) return;
  const columns = [
    { title: "run" },
    ...cells.map(({ stretch, quantity }) => ({ title: quantity.title, number: true, group: stretch.group })),
  ];
  const runs = page.runs.filter((run) => cells.some(({ stretch, quantity }) => isNumber(run[quantity.name + stretch.ending])));
  const rows = runs.map((run) => [
    nameOf(page, run),
    ...cells.map(({ stretch, quantity }) => quantity.text(run[quantity.name + stretch.ending])),
  ]);
  section.append(table("What is not known is left out (–), never counted as nothing", columns, rows));
}
