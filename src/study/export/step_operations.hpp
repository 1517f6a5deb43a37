#pragma once

#include <cstdint>

#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "step/operations.hpp"
#include "study/learning/learned.hpp"

namespace dadsim::study {

/// Step `number` (from 1) of run `run` (from 0) of a scenario, as the nodes of a cluster carry it out. Throws
/// InputError where the run is event-driven or has no such step, SimulationError.
step::StepOperations operations_of_step(const scenario::Scenario& scenario, const Learned& learned,
                                        const sim::Cluster& cluster, std::size_t run, std::int64_t number);

}  // namespace dadsim::study
