#include <algorithm>
#include <iterator>

#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

// Returns the methods of the family, each a row of choices.

namespace dadsim::protocols {

std::vector<EventDrivenMethod> local_methods() {
  static const std::vector<LocalMethod> rows{
      {.name = "local-sgd", .defaults = {{"period", "8"}, {"outer", "mean"}}},
      {.name = "diloco", .defaults = {{"period", "500"}, {"outer", "nesterov"}}},
      {.name = "streaming-diloco",
       .defaults = {{"period", "30"}, {"outer", "nesterov"}, {"outer-rate", "0.4"}},
       .by_fragments = true},
      {.name = "noloco",
       .defaults = {{"period", "50"},
                    {"to", "pair"},
                    {"outer", "consensus"},
                    {"outer-rate", "0.7"},
                    {"outer-momentum", "0.5"},
                    {"consensus", "0.7"}}},
      {.name = "gasloc",
       .defaults = {{"period", "50"}, {"to", "graph"}, {"outer", "nesterov-folded"}, {"outer-rate", "0.7"}}},
      {.name = "factored-gossip",
       .defaults = {{"period", "50"},
                    {"to", "graph"},
                    {"mixing", "factored"},
                    {"outer", "nesterov-folded"},
                    {"outer-rate", "0.7"}}},
      {.name = "sparseloco",
       .defaults = {{"period", "15"},
                    {"to", "peers"},
                    {"encoding", "chunk-top-k"},
                    {"share", "0.03125"},
                    {"memory-decay", "0.95"},
                    {"outer", "sgd"},
                    {"outer-rate", "1"}}},
      {.name = "sparta", .defaults = {{"period", "1"}, {"to", "peers"}, {"sends", "subset"}, {"outer", "mean"}}},
      {.name = "des-loc",
       .defaults =
           {{"period", "16"}, {"to", "peers"}, {"outer", "mean"}, {"first-moments", "3"}, {"second-moments", "6"}},
       .averages_moments = true},
      {.name = "pier",
       .defaults = {{"period", "50"},
                    {"to", "peers"},
                    {"outer", "nesterov"},
                    {"outer-warm-up", "10"},
                    {"outer-final-momentum", "0.5"}}},
      {.name = "muloco",
       .defaults = {{"period", "30"}, {"to", "peers"}, {"outer", "nesterov-folded"}, {"outer-momentum", "0.6"}}},
      {.name = "heloco",
       .defaults = {{"period", "50"}, {"when", "asynchronous"}, {"outer", "nesterov-aligned"}, {"staleness", "0.5"}}},
      {.name = "decoupled-diloco",
       .defaults =
           {{"period", "24"}, {"when", "quorum"}, {"grace", "5"}, {"average", "direction"}, {"outer", "nesterov"}}},
      {.name = "dilocox",
       .defaults = {{"period", "50"},
                    {"when", "overlap"},
                    {"encoding", "low-rank-e3m0"},
                    {"outer", "nesterov"},
                    {"outer-rate", "0.4"},
                    {"outer-momentum", "0.6"}}}};
  std::vector<EventDrivenMethod> all;
  std::ranges::transform(rows, std::back_inserter(all), local_method);
  return all;
}

}  // namespace dadsim::protocols
