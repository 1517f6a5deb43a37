#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spec/specification.hpp"

namespace dadsim::sim {

/// Jitter of a run (<network jitter…>): factors on the seconds of a node's computations, log-normal with mean 1. One
/// factor per node is permanent (spatial), times one per node and step (temporal).
class Jitter {
 public:
  /// `numbers`: numbers of the nodes, which select their random numbers; empty: 0, 1, 2, … `first`: number of step 0.
  Jitter(const spec::JitterSpec& jitter, std::uint64_t seed, std::size_t nodes, std::vector<std::uint32_t> numbers = {},
         std::size_t first = 0)
      : jitter_(jitter), seed_(seed), nodes_(nodes), numbers_(std::move(numbers)), first_(first) {}

  /// Returns the factor of each node; empty if nothing jitters. `step`: number in the run, from 0.
  std::vector<double> of_step(std::size_t step) const;
  /// Returns the factor of one node.
  double of(std::size_t node, std::size_t step) const;

 private:
  spec::JitterSpec jitter_;
  std::uint64_t seed_;
  std::size_t nodes_;
  std::vector<std::uint32_t> numbers_;
  std::size_t first_;
};

}  // namespace dadsim::sim
