#pragma once

#include <cstddef>

#include "scenario/scenario.hpp"
#include "spec/islands.hpp"

namespace dadsim::scenario {

/// Participants of a run: groups of devices that follow one another, all of one size. A group is one replica of the
/// network, or several that share gradients.
inline std::size_t participants_of(const Scenario& scenario, const spec::RunSpec& run) {
  const auto islands = static_cast<std::size_t>(spec::islands_of(run.parameters));
  return islands > 0 ? islands : scenario.workers.size();
}

inline std::size_t devices_of_participant(const Scenario& scenario, const spec::RunSpec& run) {
  return scenario.all_devices().size() / participants_of(scenario, run);
}

inline std::size_t replicas_of_participant(const Scenario& scenario, const spec::RunSpec& run) {
  return scenario.workers.size() / participants_of(scenario, run);
}

}  // namespace dadsim::scenario
