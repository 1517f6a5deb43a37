#pragma once

#include "algorithms/algorithm.hpp"
#include "support/registry.hpp"

namespace dadsim::algorithms {

/// Returns the algorithms, in the order of presentation.
Registry<SynchronousMethod>& algorithm_registry();

/// Returns the baseline algorithm of comparisons.
const SynchronousMethod& baseline();
/// Returns the first algorithm with this kind of sharing.
const SynchronousMethod& first_of(Sharing sharing);

}  // namespace dadsim::algorithms
