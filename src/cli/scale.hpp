#pragma once

#include <vector>

#include "cli/learn_runs.hpp"
#include "report/result.hpp"

namespace dadsim {

/// What the time to accuracy at scale is of; nothing where the scenario neither times another network nor learns with
/// several seeds.
std::optional<ScaleSetting> scale_setting(const Scenario& scenario);

/// Steps to the target by seed, and those of gradient sharing to compare with.
struct SeedSteps {
  std::vector<StepsToTarget> runs;  ///< per run of the scenario
  StepsToTarget gradient_sharing;
};

/// Learns the other seeds, and gradient sharing if no run is of it. `sites` and `trajectories` are those of the first
/// seed.
SeedSteps steps_by_seed(const Scenario& scenario, const SiteData& sites, const std::vector<Trajectory>& trajectories,
                        bool show_progress);

/// Fills in every run's part.
void tell_scale(const ScaleSetting& setting, const SeedSteps& steps, Result& result);

}  // namespace dadsim
