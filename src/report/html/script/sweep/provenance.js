// Failed points, and the origin of the results.

function addFailures(sweep, section) {
  const { failures } = sweep.result;
  if (failures.length === 0) return;
  const byId = new Map(sweep.points.map((point) => [point.id, point]));
  section.append(
    table(
      "Points that do not go, and simulations that ended in an error; they have no winner",
      ["point", ...sweep.axes.map(({ name }) => name), ...numeric(["seed"]), "what it said"],
      failures.map(({ point, seed, words }) => [
        String(point),
        ...sweep.axes.map((axis) => axis.texts[byId.get(point)?.at[axis.index]] ?? kNone),
        String(seed),
        words,
      ]),
    ),
  );
}

function addSweepProvenance(sweep, section) {
  const { scenario, sweep: about, setting, dadsim } = sweep.result;
  const own = aboutScenario();
  const one = (sentences) => sentences.join("; or ") || kNone;
  const facts = [
    ["Scenario", `${scenario.name} (${scenario.file}), hash ${scenario.hash}`],
    ["Learned on", one(setting.learned_on)],
    ["Timed as", one(setting.timed_as)],
    ...(setting.learned_on.length > 0
      ? [["Target", `accuracy ${targetText(scenario.target_accuracy)}, unless the sweep changes it`]]
      : []),
    ["Points", pointsText(sweep)],
    [
      "Seeds",
      about.seeds === 1 ? "the scenario's" : `${humanCount(about.seeds)}: the scenario's and those that follow it`,
    ],
    ...(about.sampling_error > 0
      ? [
          [
            "Steps",
            "of those that differ a sample was simulated, the others interpolated: mean steps are off by " +
              `${(100 * about.sampling_error).toPrecision(2)} % at most (standard error)`,
          ],
        ]
      : []),
    ["Versions", `${versionText(dadsim.version, own)}, Chart.js ${Chart.version}`],
  ];
  section.append(factsList(facts));
  addSentences(section, "Assumed at all points, or at those that a sentence fits", wordsOf(sweep.result.assumptions));
  section.append(
    table(
      "What is varied",
      ["axis", "path", ...numeric(["values"]), "from", "to", "with it"],
      sweep.axes.map((axis) => [
        axis.name,
        element("code", {}, axis.path),
        humanCount(axis.texts.length),
        axis.values[0]?.text ?? kNone,
        axis.values[axis.values.length - 1]?.text ?? kNone,
        axis.linked.length > 0 ? element("code", {}, axis.linked.join(", ")) : kNone,
      ]),
    ),
  );
  addScenarioText(section, own);
}

/** How many points there are, and what is missing. */
function pointsText(sweep) {
  const { points, shard, shards } = sweep.result.sweep;
  const open = sweep.points.filter((point) => point.ranked.length === 0 && !sweep.failed.has(point.id)).length;
  let text =
    shards > 1
      ? `${humanCount(sweep.points.length)} of ${humanCount(points)} (shard ${shard}/${shards})`
      : humanCount(points);
  const failed = sweep.failed.size - sweep.infeasible.size;
  if (sweep.infeasible.size > 0) text += `; ${humanCount(sweep.infeasible.size)} infeasible`;
  if (failed > 0) text += `; ${humanCount(failed)} failed`;
  if (open > 0) text += `; ${humanCount(open)} without a result yet`;
  return text;
}
