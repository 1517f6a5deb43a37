#pragma once

#include <vector>

#include "models/data/dataset.hpp"
#include "models/network.hpp"
#include "step/trajectory.hpp"

namespace dadsim::algorithms {

/// Evaluates the sites' own networks together: the loss and accuracy of their average on the held-back data, and their
/// mean squared distance from the average. `accuracies`: per site.
step::SitesEvaluation evaluate_sites(const std::vector<const models::Network*>& networks,
                                     std::vector<double> accuracies, const models::Samples& test);

}  // namespace dadsim::algorithms
