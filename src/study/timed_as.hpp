#pragma once

#include <cstdint>
#include <string>

#include "plan/layer_shape.hpp"
#include "plan/precision.hpp"
#include "scenario/scenario.hpp"

namespace dadsim {

/// What the steps are timed as.
struct TimedAs {
  ModelShape shape;
  std::string words;  ///< the network with its batch and precision
  std::int64_t batch = 0;
  double sample_scale = 1;  ///< timed samples ÷ learned samples
  Precision precision = Precision::fp32;
};

/// `learned`: the network that learns, which is what is timed where the scenario names nothing else.
TimedAs timed_as_of(const Scenario& scenario, const ModelShape& learned);

/// "MLP 784-256-10 (203,530 parameters), batch 32 per worker".
std::string describe_network(const std::string& name, const ModelShape& shape, std::int64_t batch);

}  // namespace dadsim
