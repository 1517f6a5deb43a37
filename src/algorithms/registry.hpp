#pragma once

#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace dadsim::algorithms {

/// Every algorithm, in the order of presentation.
const std::vector<AlgorithmInfo>& algorithm_registry();

/// The algorithm of that name. Throws std::out_of_range.
const AlgorithmInfo& find_algorithm(const std::string& name);

/// The values of all parameters that are not given, as text.
spec::ParameterValues default_parameters(const AlgorithmInfo& info);

}  // namespace dadsim::algorithms
