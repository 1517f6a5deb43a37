#pragma once

#include "algorithms/algorithm.hpp"
#include "support/registry.hpp"

namespace dadsim::algorithms {

/// Every algorithm, in the order of presentation.
Registry<AlgorithmInfo>& algorithm_registry();

/// The values of all parameters that are not given, as text.
spec::ParameterValues default_parameters(const AlgorithmInfo& info);

}  // namespace dadsim::algorithms
