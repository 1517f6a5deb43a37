#pragma once

#include <vector>

#include "algorithms/step/training_step.hpp"
#include "compress/largest_entries.hpp"

// Operations on the largest entries of gradients, as lists of values and indices: each computes its result and records
// its cost.

namespace dadsim::algorithms {

using compress::add_kept;
using compress::KeptEntries;
using compress::take_largest;

/// Returns the largest entries of M_s = G_s + E_s per site, and leaves E_s in `memory`. Biases are not selected: those
/// in `memory` are overwritten with the site's own.
std::vector<KeptEntries> take_largest_of_sites(TrainingStep& step, std::size_t l, double fraction,
                                               std::vector<models::LayerGradient>& memory);

/// Returns the gradient Σ_s C_s, from the lists of all sites.
models::Matrix sum_of_lists(TrainingStep& step, std::size_t l, double fraction, const Rows& lists);

}  // namespace dadsim::algorithms
