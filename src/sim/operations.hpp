#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/simulator.hpp"
#include "step/operations.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::sim {

/// At most so many operations of all nodes: some 100 MB of text.
inline constexpr std::size_t kMostOperations = 2'000'000;

/// A schedule as the nodes of a cluster would carry it out: computations with their seconds on the devices, collectives
/// laid out as the simulation lays them out on this platform (with what `auto` and `best` stand for), message by
/// message. Of a collective's pace what is in flight together is kept; that receivers say they are ready, and lanes,
/// are not. Nothing is simulated. Throws SimulationError, and InputError where there are more than kMostOperations.
step::StepOperations operations_of(const Cluster& cluster, const schedule::Schedule& schedule);

/// Why a collective among replicas of the schedule cannot be carried out as it says by name; nothing where all can.
/// `node_of`: per device, the node that it is on.
std::optional<Fault> fault_of_collectives(const schedule::Schedule& schedule, const std::vector<std::int32_t>& node_of);

}  // namespace dadsim::sim
