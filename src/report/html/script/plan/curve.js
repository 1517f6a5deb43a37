// The result of every number of the range that was tried, with the limit and the answer.

/** The axis of the planned numbers: in the unit that stands behind them. */
function plannedAxis(page) {
  const tried = page.result.answers.flatMap((answer) => answer.tried);
  const path = page.result.answers.find((answer) => answer.answer).answer.path;
  const unit = /^[-+.\d]+(?:e[-+]?\d+)?([a-zA-Z/%]*)$/.exec(tried[0].value)?.[1] ?? "";
  kKinds.planned = { units: [{ name: unit, factor: 1 }], text: (value) => `${withDigits(value, 4)} ${unit}`.trim() };
  const numbers = tried.map(({ number }) => number);
  const least = Math.min(...numbers);
  return { path, wide: least > 0 && Math.max(...numbers) / least >= kSpreadForLog };
}

function addCurve(page, section) {
  const { result, quantities } = page;
  if (!result.answers.some((answer) => answer.tried.length > 1) || quantities.length === 0) return;
  const axis = plannedAxis(page);
  const choices = [...new Set(result.answers.map(choicesText))];
  const limited = quantities.find((one) => isNumber(one.limit)) ?? quantities[0];
  const spread = (quantity) => {
    const values = result.answers.flatMap(({ tried }) => tried.map(({ trial }) => taken(trial, quantity)?.value ?? 0));
    const above = values.filter((value) => value > 0);
    return above.length > 0 && Math.max(...above) / Math.min(...above) >= kSpreadForLog;
  };
  const state = { quantity: limited, choice: choicesText(result.answers[0]), logX: axis.wide, logY: spread(limited) };
  const shown = new Set(page.runs);

  const chosen = () =>
    result.answers.filter((answer) => choicesText(answer) === state.choice && shown.has(answer.run));
  const settings = () => {
    const { quantity } = state;
    const curves = chosen().map((answer) => ({
      label: answer.run,
      mark: page.marks[page.runs.indexOf(answer.run)],
      points: answer.tried
        .map(({ number, value, trial }) => ({ number, value, trial, estimate: taken(trial, quantity) }))
        .filter(({ estimate }) => estimate)
        .map(({ number, value, trial, estimate }) => ({
          x: number,
          y: estimate.value,
          low: estimate.low,
          high: estimate.high,
          text: [value, withInterval(estimate, quantity.text), `goal: ${trial.standing}`],
        })),
    }));
    const answers = chosen()
      .filter((answer) => answer.met && answer.answer)
      .map((answer) => ({
        label: `answer of ${answer.run}`,
        mark: { kind: "alone", index: 0, dash: [], marker: "rectRot" },
        scattered: true,
        points: answer.tried
          .filter(({ value }) => value === answer.answer.value)
          .map(({ number, value, trial }) => ({
            x: number,
            y: trial[quantity.name],
            text: [`${value} is enough`, quantity.text(trial[quantity.name])],
          })),
      }));
    return {
      // Earlier lines are drawn over later ones.
      lines: [...answers, ...curves.filter((line) => line.points.length > 0)],
      x: { kind: "planned", title: pathName(axis.path), log: state.logX, fromLeast: true },
      y: { kind: quantity.kind, title: quantity.title, log: state.logY },
      limits: isNumber(quantity.limit)
        ? [{ value: quantity.limit, text: `at most ${quantity.text(quantity.limit)}` }]
        : [],
    };
  };
  const description = () => {
    const { quantity } = state;
    const words = chosen().map((answer) => {
      const known = answer.tried.filter(({ trial }) => taken(trial, quantity));
      if (known.length === 0) return `${answer.run} never reaches the target`;
      const [first, last] = [known[0], known[known.length - 1]];
      const ends = `${quantity.text(first.trial[quantity.name])} at ${first.value}, ${quantity.text(last.trial[quantity.name])} at ${last.value}`;
      return `${answer.run}: ${ends}${answer.met && answer.answer ? `; ${answer.answer.value} is enough` : ""}`;
    });
    return `Lines: ${quantity.title} along ${pathName(axis.path)}. ${words.join("; ")}.`;
  };
  const controls = ({ set, change }) => [
    quantities.length > 1
      ? selection(
          "Figure",
          quantities.map((one) => ({ value: one, text: one.title })),
          state.quantity,
          set("quantity"),
        )
      : null,
    choices.length > 1
      ? selection(
          "With",
          choices.map((one) => ({ value: one, text: one })),
          state.choice,
          set("choice"),
        )
      : null,
    element(
      "fieldset",
      {},
      element("legend", {}, "Logarithmic"),
      checkbox("along", state.logX, set("logX")),
      checkbox("upwards", state.logY, set("logY")),
    ),
    page.runs.length > 1
      ? checkboxes(
          "Runs",
          page.runs.map((run, i) => ({
            value: run,
            label: element("span", { class: "named" }, markSwatch(page.marks[i]), element("span", {}, run)),
          })),
          shown,
          change,
        )
      : null,
  ].filter(Boolean);
  const makeTable = () =>
    table(
      `Every number that was tried${choices.length > 1 ? `, with ${state.choice}` : ""}`,
      [
        { title: "run" },
        { title: pathName(axis.path), number: true },
        ...quantities.map((one) => ({ title: one.title, number: true })),
        { title: "goal" },
      ],
      chosen().flatMap((answer) =>
        answer.tried.map(({ value, trial }) => [
          answer.run,
          value,
          ...quantities.map((one) => withInterval(taken(trial, one), one.text)),
          trial.reached ? trial.standing : `never reached: ${humanPercent(trial.best_accuracy)}`,
        ]),
      ),
    );
  const { seeds } = result.answers[0].trial;
  const above = [
    lead(
      "Each marked number was timed in full; the line between is drawn for the eye, and the diamond is the answer. " +
        (seeds > 1
          ? `Means over ${humanCount(seeds)} seeds; bands are what seeds, evaluations and the errors of times leave open.`
          : "Bands are what the errors of times leave open, and one seed, if seeds scatter as is assumed of them."),
    ),
  ];
  steeredLines(section, above, { state, settings, description, controls, makeTable, says: true });
}
