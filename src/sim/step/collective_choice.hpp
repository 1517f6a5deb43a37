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

/// The layout of the first workers of a cluster.
collectives::RankLayout first_ranks(const collectives::RankLayout& layout, std::size_t workers);

/// Every rank on a node of its own.
collectives::RankLayout ranks_apart(std::size_t ranks);

/// Whether workers send to one another in any of the schedules. If all they know is an aggregator, the platform needs
/// no routes between them.
bool workers_meet(std::span<const schedule::Schedule> schedules, const schedule::StepKinds* kinds);

/// How the collectives of the schedules are carried out: `auto` replaced by what it stands for, and counted.
class CollectiveChoices {
 public:
  /// `hosts` and `network`: to find out what `best` stands for, where it may be asked for. `of_peers`: how the
  /// replicas' framework sums where that is left to `auto`; empty: as a library does.
  CollectiveChoices(const collectives::RankLayout& layout, step::NetworkUse& use,
                    std::vector<simgrid::s4u::Host*> hosts = {}, Interconnect* network = nullptr,
                    std::string of_peers = {})
      : layout_(layout), use_(use), hosts_(std::move(hosts)), network_(network), of_peers_(std::move(of_peers)) {}

  /// Messages of all collectives.
  double settle(schedule::Schedule& schedule);
  /// What is sent and received in the collectives that the kind of schedule has elsewhere than at a star.
  schedule::Traffic traffic_elsewhere(const schedule::StepKinds::Kind& kind, const schedule::Schedule& schedule);
  /// What the kind of schedule does at a star.
  void note(const schedule::StepKinds::Kind& kind);
  void note(std::string_view kind, std::string_view algorithm, double bytes);
  /// Of the largest of each kind that the library chose for: whether something else of the library is quicker. Once
  /// all have been settled.
  void note_quicker();

  static double messages_of(const collectives::Rounds& rounds);

 private:
  void keep_largest(const Request& request);
  /// How a task's collectives are carried out.
  struct Chosen {
    std::string algorithm;
    double bytes = 0;                                   ///< handed over by the worker that hands over most
    double messages = 0;                                ///< of all groups
    std::shared_ptr<const collectives::Rounds> rounds;  ///< where they were asked for
  };
  /// Known: those of the same schedule.
  Chosen& choose(const schedule::Task& task, const schedule::Schedule& schedule, const collectives::RankLayout& layout,
                 PerCollective<Chosen>& known);

  const collectives::RankLayout& layout_;
  step::NetworkUse& use_;
  std::vector<simgrid::s4u::Host*> hosts_;
  Interconnect* network_;
  std::map<std::pair<std::string, std::string>, Request> largest_;  ///< by kind and algorithm
  std::string of_peers_;
};

}  // namespace dadsim::sim
