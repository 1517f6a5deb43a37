#pragma once

#include <optional>

#include "report/result.hpp"
#include "scenario/scenario.hpp"
#include "study/learned.hpp"

namespace dadsim::study {

/// What the time to accuracy at scale is of; nothing where the scenario neither times another network nor learns with
/// several seeds.
std::optional<report::ScaleSetting> scale_setting(const scenario::Scenario& scenario);

/// Gradient sharing, which relative steps are of.
spec::RunSpec reference_run();
/// The first run of the scenario that is of it, with nothing lost on its way.
std::optional<std::size_t> reference_run_of(const scenario::Scenario& scenario);

/// Fills in every run's part, from the steps to the target by seed.
void add_scale(const scenario::Scenario& scenario, const report::ScaleSetting& setting, const Learned& learned,
               report::Result& result);

/// The same where nothing was learned: runs that equal gradient sharing up to rounding need as many steps, and of the
/// others nothing is known.
void add_scale_by_definition(const scenario::Scenario& scenario, const report::ScaleSetting& setting,
                             report::Result& result);

}  // namespace dadsim::study
