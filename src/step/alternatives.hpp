#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Alternative ways of sharing a layer's gradient, recorded together in one step, for methods whose choice depends on
// the timed network and its cluster. A method records them through algorithms::LayerAlternatives;
// schedule/assignment.hpp chooses among them.

namespace dadsim::step {

/// Set of a step's alternatives, one bit each: 1 << index into Alternatives::all.
using AlternativeSet = std::uint32_t;

struct Alternative {
  std::string name;  ///< "gradient", "dad" …; alternatives share a name if they differ only in the neighbour's choice
                     ///< that they need
  bool from_above = false;   ///< true: needs data that the layer above passes down
  bool passes_down = false;  ///< true: passes down data; the layer below must then have `from_above`
  bool operator==(const Alternative&) const = default;
};

/// Alternatives of a step, one of which each timed layer takes in all steps of a run.
struct Alternatives {
  enum class ChosenBy : std::uint8_t { bytes, time };
  std::vector<Alternative> all;         ///< alternatives, at most 32; on a tie the first wins; empty: no choice
  std::vector<AlternativeSet> offered;  ///< alternatives that each learned layer with an outer product has
  ChosenBy by = ChosenBy::bytes;        ///< quantity to minimise
  bool operator==(const Alternatives&) const = default;
};

/// Alternative of each layer of a network: per position an index into Alternatives::all, or −1 without a choice.
using Assignment = std::vector<std::int32_t>;

}  // namespace dadsim::step
