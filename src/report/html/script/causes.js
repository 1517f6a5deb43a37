// Words for the causes that hold a run back, as in src/report/run/causes.cpp.

const causeText = (kind) =>
  ({ queueing: "queueing and loss over TCP", compute: "computing", overhead: "overhead of messages" })[kind] ?? kind;
