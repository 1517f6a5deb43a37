#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spec/specification.hpp"

namespace dadsim::sim {

/// Jitter of a run (<network jitter…>): log-normal factors with mean 1 on the seconds of a node's computations. The
/// factor is the product of one that is constant per node (spatial) and one per node and step (temporal).
class Jitter {
 public:
  /// `numbers`: numbers of the nodes, which select their random numbers; empty: 0, 1, 2, … `first`: number of the first
  /// step in the run.
  Jitter(const spec::JitterSpec& jitter, std::uint64_t seed, std::size_t nodes, std::vector<std::uint32_t> numbers = {},
         std::size_t first = 0)
      : jitter_(jitter), seed_(seed), nodes_(nodes), numbers_(std::move(numbers)), first_(first) {}

  /// Returns the factor of each node; empty without jitter. `step`: number of steps after the step `first`.
  std::vector<double> of_step(std::size_t step) const;
  /// Returns the factor of one node; `step` as in of_step().
  double of(std::size_t node, std::size_t step) const;

 private:
  spec::JitterSpec jitter_;
  std::uint64_t seed_;
  std::size_t nodes_;
  std::vector<std::uint32_t> numbers_;
  std::size_t first_;
};

}  // namespace dadsim::sim
