#pragma once

#include <cstddef>
#include <optional>

#include "report/run/result.hpp"
#include "scenario/scenario.hpp"

namespace dadsim::study {

/// What the time to accuracy at scale is of; nothing where the scenario neither times another network nor learns with
/// several seeds.
std::optional<report::ScaleSetting> scale_setting(const scenario::Scenario& scenario);

/// Gradient sharing, which relative steps are of.
spec::RunSpec reference_run();
/// The first run of the scenario that is of it, with nothing lost on its way.
std::optional<std::size_t> reference_run_of(const std::vector<spec::RunSpec>& runs);
/// Whether gradient sharing is to be learned beside the runs of the scenario. Where all of these are event-driven, a
/// scale study alone compares steps with it.
bool needs_reference(const scenario::Scenario& scenario);

}  // namespace dadsim::study
