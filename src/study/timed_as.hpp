#pragma once

#include <cstdint>
#include <string>

#include "scenario/scenario.hpp"
#include "spec/layer_shape.hpp"
#include "spec/precision.hpp"

namespace dadsim::study {

/// What the steps are timed as.
struct TimedAs {
  spec::ModelShape shape;
  std::string description;  ///< the network with its batch and precision
  std::int64_t batch = 0;
  double sample_scale = 1;  ///< timed samples ÷ learned samples
  spec::Precision precision = spec::Precision::fp32;
};

/// `learned`: the network that learns, which is what is timed where the scenario names nothing else.
TimedAs timed_as_of(const scenario::Scenario& scenario, const spec::ModelShape& learned);

/// "MLP 784-256-10 (203,530 parameters), batch 32 per worker".
std::string describe_network(const std::string& name, const spec::ModelShape& shape, std::int64_t batch);

}  // namespace dadsim::study
