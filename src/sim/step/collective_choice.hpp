#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/collective.hpp"
#include "schedule/schedule.hpp"
#include "schedule/step_kinds.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/step/collective_requests.hpp"
#include "sim/step/per_collective.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// Returns the layout of the first workers of a cluster.
collectives::RankLayout first_ranks(const collectives::RankLayout& layout, std::size_t workers);

/// Returns a layout with every rank on a separate node.
collectives::RankLayout ranks_apart(std::size_t ranks);

/// Returns whether workers send messages to one another in any of the schedules. If false, the platform needs no routes
/// between them.
bool workers_meet(std::span<const schedule::Schedule> schedules, const schedule::StepKinds* kinds);

/// Chooses how the collectives of schedules are carried out: replaces `auto` and `best`, and counts messages.
class CollectiveChoices {
 public:
  /// `hosts` and `network`: needed for `best`. `of_peers`: the framework's algorithm for sums of replicas with `auto`;
  /// empty: the library's choice.
  CollectiveChoices(const collectives::RankLayout& layout, step::NetworkUse& use,
                    std::vector<simgrid::s4u::Host*> hosts = {}, Interconnect* network = nullptr,
                    std::string of_peers = {})
      : layout_(layout), use_(use), hosts_(std::move(hosts)), network_(network), of_peers_(std::move(of_peers)) {}

  /// Chooses the algorithms of a schedule. Returns the number of messages of all collectives.
  double settle(schedule::Schedule& schedule);
  /// Returns the bytes sent and received in the schedule's collectives, except those around an aggregator.
  schedule::Traffic traffic_elsewhere(const schedule::StepKinds::Kind& kind, const schedule::Schedule& schedule);
  /// Records, for a kind of schedule, its collectives around an aggregator.
  void note(const schedule::StepKinds::Kind& kind);
  void note(std::string_view kind, std::string_view algorithm, double bytes);
  /// Records whether other algorithms of the library would be quicker, for the largest collective of each kind that the
  /// library chose. Call once the algorithms of all schedules are chosen.
  void note_quicker();

  static double messages_of(const collectives::Rounds& rounds);

 private:
  void keep_largest(const Request& request);
  /// Choice for a task's collectives.
  struct Chosen {
    std::string algorithm;
    double bytes = 0;                                   ///< bytes of the worker that contributes most
    double messages = 0;                                ///< messages of all groups
    std::shared_ptr<const collectives::Rounds> rounds;  ///< rounds of the collective; filled if requested
  };
  /// Chooses for a task. `known`: choices for the same schedule.
  Chosen& choose(const schedule::Task& task, const schedule::Schedule& schedule, const collectives::RankLayout& layout,
                 BesideKernels& beside, PerCollective<Chosen>& known);

  const collectives::RankLayout& layout_;
  step::NetworkUse& use_;
  std::vector<simgrid::s4u::Host*> hosts_;
  Interconnect* network_;
  std::map<std::pair<std::string, std::string>, Request> largest_;  ///< largest request, by kind and algorithm
  std::string of_peers_;
};

}  // namespace dadsim::sim
