#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/collective.hpp"
#include "sim/simulator.hpp"
#include "step/operations.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::sim {

/// Largest number of operations, of all nodes together; they take some 100 MB of text.
inline constexpr std::size_t kMostOperations = 2'000'000;

/// Returns a schedule as the nodes of a cluster carry it out, message by message. Computations have their seconds on
/// the devices. Collectives are laid out as in a simulation on this platform, with the algorithms chosen for `auto` and
/// `best`. They keep their number of rounds in flight, but not their handshakes and lanes. Nothing is simulated. Throws
/// SimulationError, and InputError above kMostOperations.
step::StepOperations operations_of(const Cluster& cluster, const schedule::Schedule& schedule);

/// Returns the layout of ranks on these hosts. Its nodes and torus determine whether an algorithm supports the ranks.
/// Returns nothing if the platform lacks a host. Throws as platform_hosts.
std::optional<collectives::RankLayout> ranks_on(const spec::PlatformSpec& platform,
                                                const std::vector<std::string>& hosts);

/// Returns why a collective among replicas of the schedule cannot use its named algorithm; nothing if all collectives
/// can.
std::optional<Fault> fault_of_collectives(const schedule::Schedule& schedule, const collectives::RankLayout& devices);

}  // namespace dadsim::sim
