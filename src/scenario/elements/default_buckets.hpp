#pragma once

#include <cstddef>

#include "spec/specification.hpp"

namespace dadsim::scenario {

/// Gives a run that shares gradients the buckets of the framework that divides a network so.
void take_default_buckets(const spec::TimedAsSpec& timed, std::size_t replicas, spec::RunSpec& run);

}  // namespace dadsim::scenario
