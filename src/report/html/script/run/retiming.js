// Sliders that change the cluster by factors, and the resulting times, ranking and bounds of a step. A spline through
// timings of such clusters (src/report/run/retiming.hpp) gives the times, by the same formula as the program.

const stretched = (metric, x) => metric.map((row) => row.reduce((sum, m, k) => sum + m * x[k], 0));

const squaredDistance = (a, b) => a.reduce((sum, value, k) => sum + (value - b[k]) ** 2, 0);

/** By how much longer a step of retiming.runs[run] takes; `at`: base-2 logarithms of factors, one a knob. */
function factorAt(retiming, run, at) {
  const { metric, weights } = retiming.runs[run];
  const points = retiming.points.length;
  const place = stretched(metric, at);
  let log = weights[points];
  at.forEach((x, k) => (log += weights[points + 1 + k] * x));
  retiming.points.forEach((point, i) => (log += weights[i] * squaredDistance(place, stretched(metric, point)) ** 1.5));
  return Math.exp(log);
}

/** Shares of the critical path by kind: those of the nearest timed clusters. */
function sharesAt(retiming, run, at) {
  const sums = retiming.kinds.map(() => 0);
  let all = 0;
  retiming.points.forEach((point, i) => {
    const weight = 1 / (squaredDistance(at, point) + 1e-6) ** 2;
    all += weight;
    retiming.runs[run].shares[i].forEach((share, k) => (sums[k] += weight * share));
  });
  return sums.map((sum) => sum / (100 * all));
}

const kKnobStep = 0.25; // step of a slider: base-2 logarithm of the factor

/** "× 2", "÷ 2.8" */
const knobText = (log) => `${log < 0 ? "÷" : "×"} ${withDigits(2 ** Math.abs(log), 2)}`;

/** "× 2: 20 to 40 Mbit/s": the scenario's own where nothing is turned. */
function knobValue(knob, log) {
  const range = knob.least === knob.most ? knob.most : `${knob.least} to ${knob.most}`;
  return log === 0 ? `as it is (${range})` : `${knobText(log)} of ${range}`;
}

const timesWords = (retiming) =>
  `Times are of a fit to ${humanCount(retiming.points.length)} timings of changed clusters, held against ` +
  `${humanCount(retiming.held_out)} others: at most `;

/** What the runs are at these settings: [{run, factor, seconds, target, shares}], those that share first to last. */
function retimed(page, retiming, at) {
  return retiming.runs.map((fit, index) => {
    const run = page.runs[fit.run];
    const factor = factorAt(retiming, index, at);
    const scaled = (seconds) => (isNumber(seconds) ? seconds * factor : null);
    return {
      run,
      factor,
      seconds: scaled(run.step_seconds),
      target: scaled(timeToCompare(run)),
      shares: sharesAt(retiming, index, at),
    };
  });
}

/** What runs are compared by: the time to accuracy of what was timed where it is known, else of what was learned. */
const timeToCompare = (run) =>
  run.scale_seconds ?? run.target_seconds;

/**
 * How a run stands to a quicker one where the time of a step has changed, by the rule of src/estimate/verdict.hpp: what
 * seeds, evaluations and errors of a step leave open of their ratio stays what it was.
 */
function standing(page, first, other) {
  const { pairs, margin } = page.result.answer;
  const ratio = other.target / first.target;
  const pair = (run, of) => pairs.find((one) => one.run === run.label && one.of === of.label);
  const [there, back] = [pair(other.run, first.run), pair(first.run, other.run)];
  const low = ratio * (there ? there.low / there.value : back ? back.value / back.high : 1);
  const high = ratio * (there ? there.high / there.value : back ? back.value / back.low : 1);
  if (low >= 1 / (1 + margin) && high <= 1 + margin) return "equal";
  return low <= 1 && high >= 1 ? "undecided" : "behind";
}

function winnerSentence(page, times) {
  const sharing = times.filter(({ run }) => shares(run));
  const reached = sharing.filter(({ target }) => isNumber(target)).sort((a, b) => a.target - b.target);
  const order = reached.length > 0 ? reached : [...sharing].sort((a, b) => a.seconds - b.seconds);
  if (order.length === 0) return "";
  const by = (one) => (reached.length > 0 ? one.target : one.seconds);
  const what = reached.length > 0 ? "reaches the target first, after" : "has the shortest step,";
  const standings = reached.map((one, i) => (i === 0 ? "first" : standing(page, reached[0], one)));
  const end = standings.indexOf("behind");
  const group = end < 0 ? reached : reached.slice(0, end);
  if (group.length > 1) {
    const open = standings.slice(0, group.length).includes("undecided");
    return kept(
      `${listText(group.map(({ run }) => run.label))} ` +
        `${open ? "cannot be told apart" : `are equal within ${Math.round(100 * page.result.answer.margin)} %`}: ` +
        `they reach the target after ${listText(group.map(({ target }) => humanSeconds(target)))}.`,
    );
  }
  let text = `${order[0].run.label} ${what} ${humanSeconds(by(order[0]))}`;
  if (order.length > 1) text += `; ${order[1].run.label} takes ${withDigits(by(order[1]) / by(order[0]), 3)} times as long`;
  return kept(`${text}.`);
}

function addRetiming(page, section) {
  const { retiming } = page;
  if (!retiming) return;
  if (retiming.runs.length === 0) {
    section.append(lead(`There are no sliders: ${retiming.why_not.words}.`));
    return;
  }
  const at = retiming.knobs.map(() => 0);
  const steps = Math.round(retiming.reach / kKnobStep);
  const logs = Array.from({ length: 2 * steps + 1 }, (_, i) => ((i - steps) * retiming.reach) / steps);
  const sliders = retiming.knobs.map((knob, k) =>
    slider(
      knob.name,
      logs.map((log) => knobValue(knob, log)),
      steps,
      (index) => {
        at[k] = logs[index];
        update();
      },
    ),
  );
  const reset = element(
    "button",
    {
      type: "button",
      click: () => {
        for (const one of sliders) {
          const input = one.querySelector("input");
          input.value = steps;
          input.dispatchEvent(new Event("input"));
        }
      },
    },
    "As in the scenario",
  );
  const said = element("p", { class: "verdict small", role: "status", "aria-live": "polite" });
  const worst = Math.max(...retiming.runs.map((run) => run.worst_error));
  section.append(
    lead(
      `Turn the cluster, and see who is first, the learning curves and what a step goes into move, here and below; what was ` +
        `learned stays. ` +
        `${timesWords(retiming)}${(100 * worst).toFixed(1)} % off.`,
    ),
    element("div", { class: "controls knobs" }, ...sliders, reset),
    said,
  );

  function update() {
    const moved = at.some((log) => log !== 0);
    page.times = retimed(page, retiming, at).map((one, i) => {
      const { run } = one;
      const still = moved ? {} : { factor: 1, seconds: run.step_seconds, target: timeToCompare(run) };
      return { ...one, ...still, moved, off: retiming.runs[i].worst_error };
    });
    said.textContent = winnerSentence(page, page.times);
    for (const follow of page.follow) follow();
  }
  update();
}
