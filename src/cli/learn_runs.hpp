#pragma once

#include <cstdint>
#include <vector>

#include "models/data/dataset.hpp"
#include "plan/trajectory.hpp"
#include "scenario/scenario.hpp"

namespace dadsim {

/// The data of a scenario, dealt to its sites.
struct SiteData {
  Dataset data;
  Partition partition;
};

/// As one seed draws and deals them.
SiteData load_site_data(const Scenario& scenario, std::uint64_t seed);

/// Learns every run with one seed, side by side.
std::vector<Trajectory> learn_runs(const std::vector<RunSpec>& runs, const Scenario& scenario, const SiteData& sites,
                                   std::uint64_t seed, const TrainingSpec& training, bool show_progress);

}  // namespace dadsim
