// The bounds of each run by kind, and helpful changes.

/** Shares by kind, largest first: [{kind, share, parts: how many, top: the longest of them}]. */
function boundKinds(run) {
  const kinds = new Map();
  for (const bound of run.bounds) {
    // run.bounds begins with the longest, so `top` is the longest of its kind
    const known = kinds.get(bound.kind);
    if (known) {
      known.share += bound.share ?? 0;
      ++known.parts;
    } else {
      kinds.set(bound.kind, { kind: bound.kind, share: bound.share ?? 0, parts: 1, top: bound });
    }
  }
  return [...kinds.values()].sort((a, b) => b.share - a.share);
}

const kHelp = {
  bandwidth: "a faster such link, or fewer bytes over it, would help",
  latency: "fewer, larger messages (buckets), or sites nearer to each other, would help",
  queueing: "shorter ways, or fewer at once that write to one line, would help",
  compute: "a faster device, or a smaller batch on it, would help",
  overhead: "fewer, larger messages (buckets) would help",
  overlap: "several causes take that time at once, and only less of each of them would help",
};
const helpFor = (kind) => kHelp[kind] ?? "less of it would help";

/** Where a second kind takes at least this share of a step, it is named too. */
const kWorthNaming = 0.2;

/** What most of a step went into, what would shorten it, and what no such change can get below. */
function adviceFor(run) {
  const kinds = boundKinds(run);
  if (run.event_run) return "what its workers' time went into is said where it is said who took part.";
  if (kinds.length === 0) return "no step was taken, so nothing held it back.";
  const [main, next] = kinds;
  const { resource, share, seconds } = main.top;
  let text = `${causeText(main.kind)} takes ${shareText(main.share)} of the step`;
  if (!resource) {
    text += `: ${helpFor(main.kind)}`;
  } else if (share < main.share / 2) {
    text += `, spread over ${main.parts} resources (the longest is ${resource}, ${shareText(share)}): `;
    text += helpFor(main.kind);
  } else {
    const alone = main.parts === 1 ? `, all of it on ${resource}` : `, ${shareText(share)} on ${resource} alone`;
    text += `${alone}: ${helpFor(main.kind)}`;
    const left = run.step_seconds - seconds;
    if (run.bounds.length > 1 && left > 0) {
      const whole = humanSeconds(run.step_seconds);
      text += `; even if it cost nothing there, ${humanSeconds(left)} of ${whole} would be left`;
    }
  }
  text += ".";
  if (next && next.share >= kWorthNaming) {
    const longest = next.top.resource ? `, longest ${next.top.resource}` : "";
    text += ` Then ${causeText(next.kind)}, ${shareText(next.share)}${longest}: ${helpFor(next.kind)}.`;
  }
  return kept(text);
}
