#pragma once

#include "algorithms/algorithm.hpp"
#include "support/registry.hpp"

namespace dadsim::algorithms {

/// Every algorithm, in the order of presentation.
Registry<SynchronousMethod>& algorithm_registry();

/// The one that others are compared with.
const SynchronousMethod& baseline();
/// The first whose sites share in this way.
const SynchronousMethod& first_of(Sharing sharing);

}  // namespace dadsim::algorithms
