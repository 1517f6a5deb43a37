#pragma once

#include <vector>

#include "models/data/dataset.hpp"
#include "spec/specification.hpp"

namespace dadsim::algorithms {

/// p_s of Σ p_s F_s, which add up to one, where a run says what its sites are worth. *Requires*: not `published`.
std::vector<double> site_shares(spec::SiteWeights weights, const models::Partition& partition);

/// The factor on every site's part of a step's gradient that makes Σ p_s F_s of what batches of these sizes make: p_s ÷
/// the site's share of the rows in a mean step. It is the same in all steps. Empty: one at every site.
std::vector<float> site_factors(spec::SiteWeights weights, const spec::TrainingSpec& training,
                                const models::Partition& partition);

}  // namespace dadsim::algorithms
