// Words for the causes that hold a run back, as in src/report/run/causes.cpp.

const causeText = (kind) =>
  ({ queueing: "queueing and loss over TCP", compute: "computing", overhead: "overhead of messages" })[kind] ?? kind;

/** "5 links hospital-#-up", "link hub-out": what a part of a cause lies on. */
function resourcesText(kind, part) {
  const ofLinks = kind === "bandwidth" || kind === "queueing";
  if (part.resources === 1) return ofLinks ? `link ${part.pattern}` : part.pattern;
  const noun = { compute: "devices", latency: "routes" }[kind] ?? "links";
  return `${humanCount(part.resources)} ${noun} ${part.pattern}`;
}
