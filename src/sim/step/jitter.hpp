#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/specification.hpp"

namespace dadsim::sim {

/// Jitter of a run (<network jitter…>): factors on the seconds of a node's computations, log-normal with mean 1, one
/// per node for good (spatial) times one per node and step (temporal).
class Jitter {
 public:
  Jitter(const spec::JitterSpec& jitter, std::uint64_t seed, std::size_t nodes)
      : jitter_(jitter), seed_(seed), nodes_(nodes) {}

  /// Per node; empty if nothing jitters. `step`: of the run, from 0.
  std::vector<double> of_step(std::size_t step) const;
  /// Of one node.
  double of(std::size_t node, std::size_t step) const;

 private:
  spec::JitterSpec jitter_;
  std::uint64_t seed_;
  std::size_t nodes_;
};

}  // namespace dadsim::sim
