#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "scenario/scenario.hpp"
#include "spec/sample_shape.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// Returns the faults of runs that depend on learned numbers, in a scenario without learning, each with the index of
/// its run.
std::vector<std::pair<std::size_t, Fault>> faults_where_nothing_is_learned(const scenario::Scenario& scenario);

/// Returns all faults of the runs of a completely read scenario, each with the index of its run. Examples are devices
/// with too little memory; messages that the framework cannot send; batches and steps for which a method cannot satisfy
/// its parameters; and, without learning, decisions that depend on learned numbers. Loads the data if a method examines
/// them.
std::vector<std::pair<std::size_t, Fault>> faults_of_runs(const scenario::Scenario& scenario,
                                                          const spec::SampleShape& sample);

}  // namespace dadsim::study
