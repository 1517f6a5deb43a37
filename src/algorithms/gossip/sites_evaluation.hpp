#pragma once

#include <vector>

#include "models/data/dataset.hpp"
#include "models/network.hpp"
#include "step/trajectory.hpp"

namespace dadsim::algorithms {

/// Evaluates networks of sites with weights of their own together: their average on the held-back data, and their
/// distance from it. `accuracies` are the sites' own.
step::SitesEvaluation evaluate_sites(const std::vector<const models::Network*>& networks,
                                     std::vector<double> accuracies, const models::Samples& test);

}  // namespace dadsim::algorithms
