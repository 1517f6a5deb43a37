#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Several ways of sharing a layer's gradient, recorded together in one step, for any method whose choice depends on the
// timed network and its cluster. A method records them through algorithms::LayerAlternatives; schedule/assignment.hpp
// chooses among them.

namespace dadsim::step {

/// Some of the alternatives of a step, a bit each: 1 << index into Alternatives::all.
using AlternativeSet = std::uint32_t;

struct Alternative {
  std::string name;  ///< "gradient", "dad" …; several may share one if they differ only in a neighbour's choice
  bool from_above = false;   ///< needs data that the layer above passes down
  bool passes_down = false;  ///< passes down data that the layer below needs: exactly such a layer must be below it
  bool operator==(const Alternative&) const = default;
};

/// The ways among which each timed layer takes one, the same in every step of a run.
struct Alternatives {
  enum class ChosenBy : std::uint8_t { bytes, time };
  std::vector<Alternative> all;         ///< in order of preference among equals; empty: no choice; 32 at most
  std::vector<AlternativeSet> offered;  ///< per layer of the learned network with an outer product
  ChosenBy by = ChosenBy::bytes;        ///< quantity to minimise
  bool operator==(const Alternatives&) const = default;
};

/// Alternative of each layer of a network: per position an index into Alternatives::all, or −1 without a choice.
using Assignment = std::vector<std::int32_t>;

}  // namespace dadsim::step
