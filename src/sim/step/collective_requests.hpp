#pragma once

#include <string>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/groups.hpp"
#include "schedule/schedule.hpp"

namespace dadsim::sim {

/// A schedule's collective as the collectives' folder knows it, among one group of devices or several groups that are
/// alike: they hand over the same, and their ranks lie on nodes in the same manner.
struct Request {
  collectives::CollectiveRequest collective;
  std::string algorithm;
  collectives::RankLayout layout;  ///< with the aggregator as the last rank, on a node of its own, where it takes part
  std::vector<std::vector<collectives::Rank>> groups;  ///< per group its devices, by rank
};

/// What a task of the schedule comes to, a collective: where replicas are single devices, one group of all. Gathers and
/// broadcasts go straight to and from the aggregator. `devices`: where they are.
std::vector<Request> requests_of(const schedule::Task& task, const schedule::Schedule& schedule,
                                 const collectives::RankLayout& devices);

/// The requests' groups, laid out.
std::vector<collectives::RankGroup> lay_out(const std::vector<Request>& requests);

/// The groups as one collective of all devices (and the aggregator), whose ranks are their numbers.
std::shared_ptr<const collectives::Rounds> as_one(std::vector<collectives::RankGroup> groups, std::size_t nodes);

}  // namespace dadsim::sim
