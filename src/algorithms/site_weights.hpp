#pragma once

#include <vector>

#include "models/data/dataset.hpp"
#include "spec/specification.hpp"

namespace dadsim::algorithms {

/// Returns the weights p_s of Σ p_s F_s, which add up to one, as the run defines them. *Requires*: not `published`.
std::vector<double> site_shares(spec::SiteWeights weights, const models::Partition& partition);

/// Returns the factor on every site's part of a step's gradient that makes the objective Σ p_s F_s: p_s ÷ the site's
/// share of the rows in a mean step. The factor is the same in all steps. Empty: 1 at every site.
std::vector<float> site_factors(spec::SiteWeights weights, const spec::TrainingSpec& training,
                                const models::Partition& partition);

}  // namespace dadsim::algorithms
