#pragma once

#include <vector>

#include "models/data/dataset.hpp"
#include "models/network.hpp"
#include "step/trajectory.hpp"

namespace dadsim::algorithms {

/// The joint quality of networks of sites with weights of their own: their average on the held-back data, and
/// how far they are from it. `accuracies` are their own.
step::SitesEvaluation evaluate_sites(const std::vector<const models::Network*>& networks,
                                     std::vector<double> accuracies, const models::Samples& test);

}  // namespace dadsim::algorithms
