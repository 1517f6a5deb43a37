#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace dadsim::step {

/// A directed graph of workers: the senders and receivers of a neighbour exchange.
struct Neighbours {
  std::vector<std::vector<std::int32_t>> to;  ///< to[i]: the workers that worker i sends to
  bool operator==(const Neighbours&) const = default;
};

/// Returns whether two graphs are equal by value, or both null.
inline bool same_graph(const std::shared_ptr<const Neighbours>& a, const std::shared_ptr<const Neighbours>& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

}  // namespace dadsim::step
