// Words for the causes that delay a run, the same as in src/report/run/causes.cpp.

const causeText = (kind) =>
  ({ queueing: "queueing and loss over TCP", compute: "computing", overhead: "overhead of messages" })[kind] ?? kind;
