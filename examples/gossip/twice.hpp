#pragma once

#include "algorithms/gossip/own_weights_step.hpp"

namespace dadsim::algorithms {

/// EXAMPLE of a gossip algorithm: D-PSGD that mixes twice in every step.
class Twice final : public GossipAlgorithm {
 public:
  void run(OwnWeightsStep& step) override;
};

SynchronousMethod twice_method();

}  // namespace dadsim::algorithms
