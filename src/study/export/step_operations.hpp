#pragma once

#include <cstdint>

#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "step/operations.hpp"
#include "study/learning/learned.hpp"

namespace dadsim::study {

/// Returns the operations of step `number` (from 1) of run `run` (from 0) on each node of the cluster. Throws
/// InputError if the run is event-driven or has no such step, SimulationError.
step::StepOperations operations_of_step(const scenario::Scenario& scenario, const Learned& learned,
                                        const sim::Cluster& cluster, std::size_t run, std::int64_t number);

}  // namespace dadsim::study
