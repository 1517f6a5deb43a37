#pragma once

#include <optional>

#include "report/result.hpp"
#include "scenario/scenario.hpp"
#include "study/learned.hpp"

namespace dadsim {

/// What the time to accuracy at scale is of; nothing where the scenario neither times another network nor learns with
/// several seeds.
std::optional<ScaleSetting> scale_setting(const Scenario& scenario);

/// Gradient sharing, which relative steps are of.
RunSpec reference_run();
/// Whether a run of the scenario is of it.
bool has_reference_run(const Scenario& scenario);

/// Fills in every run's part, from the steps to the target by seed.
void tell_scale(const Scenario& scenario, const ScaleSetting& setting, const Learned& learned, Result& result);

}  // namespace dadsim
