// Time to accuracy of workloads too large to learn here: known steps × relative steps × time per step.

function chargedSentence(charged) {
  const parts = [];
  if (charged.evaluation_every > 0) {
    parts.push(
      `${humanSeconds(charged.evaluation_seconds)} per evaluation, ` +
        `every ${humanCount(charged.evaluation_every)} steps and at the end`,
    );
  }
  if (charged.start_up_seconds > 0) parts.push(`${humanSeconds(charged.start_up_seconds)} of start-up`);
  return parts.length > 0
    ? `Charged beside the product: ${parts.join(", ")}.`
    : "Evaluation and start-up are not charged.";
}

function scaleSentences(page, scale) {
  const sentences = [];
  const known = scale.known_steps;
  if (isNumber(known.value)) {
    const range =
      known.fewest < known.most ? `; results from ${humanCount(known.fewest)} to ${humanCount(known.most)} steps` : "";
    sentences.push(`Known steps: ${scale.source.words}${range}.`);
  } else if (scale.workload) {
    sentences.push(
      `The steps that ${scale.workload} needs are not known here: ${scale.why_not.words}. ` +
        "What is said is the time per step and the relative steps alone.",
    );
  }
  if (!page.result.timing_only) {
    sentences.push(
      `Relative steps: steps to ${targetText(page.target)} on ${page.result.learned_on}, ` +
        (scale.seeds > 1
          ? `mean over ${scale.seeds} seeds, divided by those of gradient sharing with the same seeds; ` +
            "the interval holds Fieller's and all that lies between evaluations."
          : "divided by those of gradient sharing; one seed has no interval."),
    );
  }
  if (isNumber(known.value)) sentences.push(chargedSentence(scale.charged));
  for (const run of page.runs) {
    if (run.at_scale?.why_not) sentences.push(`${run.label}: no relative steps: ${run.at_scale.why_not.words}.`);
    for (const at of run.at_scale?.further_targets ?? []) {
      sentences.push(
        at.why_not
          ? `${run.label}: no relative steps to ${targetText(at.target)}: ${at.why_not.words}.`
          : `${run.label}: relative steps to ${targetText(at.target)}: ${withInterval(at.relative_steps, withDigits)}.`,
      );
    }
    const range = run.at_scale?.relative_steps_over_targets;
    if (range && isNumber(range.least)) {
      const targets = 1 + run.at_scale.further_targets.length;
      sentences.push(
        `${run.label}: relative steps from ${withDigits(range.least)} to ${withDigits(range.greatest)} over ${targets} targets.`,
      );
    }
    if (run.event_run) {
      sentences.push(
        `${run.label}: it has no relative steps, since what it learns depends on the cluster that it is played on; ` +
          "the table of runs has the time that it takes itself.",
      );
    }
  }
  return sentences;
}

function addScale(page, section) {
  const scale = page.result.at_scale;
  const runs = page.runs.filter((run) => run.at_scale);
  if (!scale || runs.length === 0) return;
  const known = isNumber(scale.known_steps.value);
  if (scale.workload) {
    const target = scale.target ? `, to ${scale.target}` : "";
    section.append(lead(`As ${scale.workload}, ${humanCount(scale.batch)} samples per step of all workers${target}.`));
  } else {
    section.querySelector("h2").textContent = "Steps to accuracy against gradient sharing";
  }
  const columns = [{ title: "run" }];
  if (known) columns.push({ title: "known steps", number: true });
  columns.push({ title: "× relative steps (95 %)", number: true }, { title: "× time per step", number: true });
  if (known) columns.push({ title: "= time to accuracy (95 %)", number: true });
  columns.push({ title: "steps here, by seed", number: true });
  const relative = runs.map((run) => ({
    value: run.relative_steps,
    low: run.relative_steps_low,
    high: run.relative_steps_high,
  }));
  const times = runs.map((run) => ({ value: run.scale_seconds, low: run.scale_seeds_low, high: run.scale_seeds_high }));
  const rows = runs.map((run, i) => {
    const row = [nameOf(page, run)];
    if (known) row.push(humanCount(scale.known_steps.value));
    row.push(withInterval(relative[i], withDigits), humanSeconds(run.step_seconds));
    if (known) row.push(withInterval(times[i], humanSeconds));
    row.push(run.at_scale.steps_to_target.map((steps) => (isNumber(steps) ? humanCount(steps) : "not reached")).join(", "));
    return row;
  });
  addChart(section, "scale");
  section.append(table("Factors and product", columns, rows));
  const sentences = scaleSentences(page, scale).map((sentence) => element("li", {}, sentence));
  section.append(element("ul", { class: "sentences" }, ...sentences));
}
