#pragma once

#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "study/learning/learned.hpp"
#include "study/setting/scale_setting.hpp"

namespace dadsim::study {

/// Fills in every run's time at scale, from the steps to the target by seed.
void add_scale(const scenario::Scenario& scenario, const report::ScaleSetting& setting, const Learned& learned,
               report::Result& result);

/// Fills in the times at scale if nothing was learned. Runs that equal gradient sharing up to rounding need as many
/// steps; other runs stay unknown.
void add_scale_by_definition(const scenario::Scenario& scenario, const report::ScaleSetting& setting,
                             report::Result& result);

}  // namespace dadsim::study
