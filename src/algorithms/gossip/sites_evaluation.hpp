#pragma once

#include <vector>

#include "models/data/dataset.hpp"
#include "models/network.hpp"
#include "step/trajectory.hpp"

namespace dadsim::algorithms {

/// Evaluates the sites' own networks together: loss and accuracy, on the held-back data, of a network with the mean of
/// their weights, and their mean squared distance from this mean. `accuracies`: per site.
step::SitesEvaluation evaluate_sites(const std::vector<const models::Network*>& networks,
                                     std::vector<double> accuracies, const models::Samples& test);

}  // namespace dadsim::algorithms
