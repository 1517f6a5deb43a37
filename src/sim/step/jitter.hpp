#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spec/specification.hpp"

namespace dadsim::sim {

/// Jitter of a run (<network jitter…>): factors on the seconds of a node's computations, log-normal with mean 1, one
/// per node for good (spatial) times one per node and step (temporal).
class Jitter {
 public:
  /// `numbers`: what each node is called where its numbers are drawn; empty: 0, 1, 2, … `first`: what step 0 is.
  Jitter(const spec::JitterSpec& jitter, std::uint64_t seed, std::size_t nodes, std::vector<std::uint32_t> numbers = {},
         std::size_t first = 0)
      : jitter_(jitter), seed_(seed), nodes_(nodes), numbers_(std::move(numbers)), first_(first) {}

  /// Per node; empty if nothing jitters. `step`: of the run, from 0.
  std::vector<double> of_step(std::size_t step) const;
  /// Of one node.
  double of(std::size_t node, std::size_t step) const;

 private:
  spec::JitterSpec jitter_;
  std::uint64_t seed_;
  std::size_t nodes_;
  std::vector<std::uint32_t> numbers_;
  std::size_t first_;
};

}  // namespace dadsim::sim
