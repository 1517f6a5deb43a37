#pragma once

#include <string>
#include <vector>

#include "report/result.hpp"
#include "scenario/scenario.hpp"
#include "spec/model_shape.hpp"
#include "study/learned.hpp"

namespace dadsim::study {

/// What every run of the result takes for granted, in sentences. `steps_known`: those that the workload needs.
std::vector<std::string> assumptions_of(const scenario::Scenario& scenario, const report::Result& result,
                                        bool steps_known);

/// What is to be said of one run alone. `timed_as`: the network that is timed, if it is not the one that learns.
std::vector<std::string> notes_of(const spec::RunSpec& run, const LearnedRun& learned,
                                  const spec::ModelShape* timed_as);

}  // namespace dadsim::study
