#pragma once

#include <cstdint>
#include <vector>

namespace dadsim::step {

/// A directed graph of workers: who sends to whom in a neighbour exchange.
struct Neighbours {
  std::vector<std::vector<std::int32_t>> to;  ///< to[i]: the workers that worker i sends to
  bool operator==(const Neighbours&) const = default;
};

}  // namespace dadsim::step
