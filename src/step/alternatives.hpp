#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Several ways of sharing a layer's gradient that one step has recorded side by side, for any method that leaves open
// how a layer is shared until it is known which network is timed, and on which cluster. A method records them through
// algorithms::LayerAlternatives; assignment.hpp chooses among them.

namespace dadsim::step {

/// Some of the alternatives of a step, a bit each: 1 << index into Alternatives::all.
using AlternativeSet = std::uint32_t;

struct Alternative {
  std::string name;          ///< "gradient", "dad" …; several may have the same, where a neighbour's choice differs
  bool from_above = false;   ///< needs what the layer above passes down
  bool passes_down = false;  ///< leaves what the layer below needs: one that takes it, and no other, is below it
  bool operator==(const Alternative&) const = default;
};

/// The ways among which each layer of whatever is timed takes one, the same in every step of a run.
struct Alternatives {
  enum class By : std::uint8_t { bytes, time };
  std::vector<Alternative> all;         ///< in order of preference among equals; none: nothing to choose; 32 at most
  std::vector<AlternativeSet> offered;  ///< per layer of the learned network with an outer product
  By by = By::bytes;                    ///< what is to be least
  bool operator==(const Alternatives&) const = default;
};

/// Which alternative each layer of a network takes: per position in the network an index into Alternatives::all, or −1
/// where there is nothing to choose.
using Assignment = std::vector<std::int32_t>;

}  // namespace dadsim::step
