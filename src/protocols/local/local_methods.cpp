#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

// The methods of the family, each a row of choices.

namespace dadsim::protocols {

EventDrivenMethod local_sgd_method() {
  return local_method({.name = "local-sgd", .defaults = {{"period", "8"}, {"outer", "mean"}}});
}

/// The inner optimizer is the scenario's; its state stays with the worker.
EventDrivenMethod diloco_method() {
  return local_method({.name = "diloco", .defaults = {{"period", "500"}, {"outer", "nesterov"}}});
}

EventDrivenMethod streaming_diloco_method() {
  return local_method({.name = "streaming-diloco",
                       .defaults = {{"period", "30"}, {"outer", "nesterov"}, {"outer-rate", "0.4"}},
                       .by_fragments = true});
}

EventDrivenMethod no_loco_method() {
  return local_method({.name = "noloco",
                       .defaults = {{"period", "50"},
                                    {"to", "pair"},
                                    {"outer", "consensus"},
                                    {"outer-rate", "0.7"},
                                    {"outer-momentum", "0.5"},
                                    {"consensus", "0.7"}}});
}

EventDrivenMethod gasloc_method() {
  return local_method(
      {.name = "gasloc",
       .defaults = {{"period", "50"}, {"to", "graph"}, {"outer", "nesterov-folded"}, {"outer-rate", "0.7"}}});
}

EventDrivenMethod factored_gossip_method() {
  return local_method({.name = "factored-gossip",
                       .defaults = {{"period", "50"},
                                    {"to", "graph"},
                                    {"mixing", "factored"},
                                    {"outer", "nesterov-folded"},
                                    {"outer-rate", "0.7"}}});
}

EventDrivenMethod sparse_loco_method() {
  return local_method({.name = "sparseloco",
                       .defaults = {{"period", "15"},
                                    {"to", "peers"},
                                    {"encoding", "chunk-top-k"},
                                    {"share", "0.03125"},
                                    {"memory-decay", "0.95"},
                                    {"outer", "sgd"},
                                    {"outer-rate", "1"}}});
}

EventDrivenMethod sparta_method() {
  return local_method(
      {.name = "sparta", .defaults = {{"period", "1"}, {"to", "peers"}, {"sends", "subset"}, {"outer", "mean"}}});
}

EventDrivenMethod des_loc_method() {
  return local_method(
      {.name = "des-loc",
       .defaults =
           {{"period", "16"}, {"to", "peers"}, {"outer", "mean"}, {"first-moments", "3"}, {"second-moments", "6"}},
       .averages_moments = true});
}

EventDrivenMethod pier_method() {
  return local_method({.name = "pier",
                       .defaults = {{"period", "50"},
                                    {"to", "peers"},
                                    {"outer", "nesterov"},
                                    {"outer-warm-up", "10"},
                                    {"outer-final-momentum", "0.5"}}});
}

EventDrivenMethod muloco_method() {
  return local_method(
      {.name = "muloco",
       .defaults = {{"period", "30"}, {"to", "peers"}, {"outer", "nesterov-folded"}, {"outer-momentum", "0.6"}}});
}

EventDrivenMethod heloco_method() {
  return local_method(
      {.name = "heloco",
       .defaults = {{"period", "50"}, {"when", "asynchronous"}, {"outer", "nesterov-aligned"}, {"staleness", "0.5"}}});
}

EventDrivenMethod decoupled_diloco_method() {
  return local_method(
      {.name = "decoupled-diloco",
       .defaults = {
           {"period", "24"}, {"when", "quorum"}, {"grace", "5"}, {"average", "direction"}, {"outer", "nesterov"}}});
}

EventDrivenMethod dilocox_method() {
  return local_method({.name = "dilocox",
                       .defaults = {{"period", "50"},
                                    {"when", "overlap"},
                                    {"encoding", "low-rank-e3m0"},
                                    {"outer", "nesterov"},
                                    {"outer-rate", "0.4"},
                                    {"outer-momentum", "0.6"}}});
}

}  // namespace dadsim::protocols
