#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/data/dataset.hpp"
#include "report/run/result.hpp"
#include "scenario/scenario.hpp"

namespace dadsim::study {

/// What the runs of a scenario minimise, in words, each with the labels of its runs.
std::map<std::string, std::vector<std::string>> objectives_of(const std::vector<spec::RunSpec>& runs,
                                                              const spec::TrainingSpec& training);

/// What every run of the result takes for granted. `steps_known`: those that the workload needs. `partition`: who has
/// which samples; null where that is not known, or all runs minimise the same.
std::vector<report::Statement> assumptions_of(const scenario::Scenario& scenario, const report::Result& result,
                                              bool steps_known, const models::Partition* partition);

}  // namespace dadsim::study
