#pragma once

#include "algorithms/algorithm.hpp"
#include "support/registry.hpp"

namespace dadsim::algorithms {

/// Every algorithm, in the order of presentation.
Registry<AlgorithmInfo>& algorithm_registry();

/// The one that others are compared with.
const AlgorithmInfo& baseline();
/// The first whose sites share in this way.
const AlgorithmInfo& first_of(Sharing sharing);

/// The values of all parameters that are not given, as text.
spec::ParameterValues default_parameters(const AlgorithmInfo& info);

}  // namespace dadsim::algorithms
