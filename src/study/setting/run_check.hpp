#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "scenario/scenario.hpp"
#include "spec/sample_shape.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// What learning would decide on in runs of a scenario of which nothing is learned: each with the index of its run.
std::vector<std::pair<std::size_t, Fault>> faults_where_nothing_is_learned(const scenario::Scenario& scenario);

/// Everything that would keep runs of a scenario from being carried out that has been read whole, each fault with the
/// index of its run: devices that have not the memory, batches and steps with which a method cannot do what it is asked
/// for (the data are loaded where a method looks at them), and where nothing is learned what learning would decide.
std::vector<std::pair<std::size_t, Fault>> faults_of_runs(const scenario::Scenario& scenario,
                                                          const spec::SampleShape& sample);

}  // namespace dadsim::study
