#pragma once

#include <string>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/groups.hpp"
#include "schedule/schedule.hpp"

namespace dadsim::sim {

/// A schedule's collective as a request to collectives/, among one group of devices or several equal groups. Groups are
/// equal if they contribute the same bytes and their ranks are placed on nodes in the same way.
struct Request {
  collectives::CollectiveRequest collective;
  std::string algorithm;
  collectives::RankLayout
      layout;  ///< layout of the ranks; an aggregator that takes part is the last rank, on a separate node
  std::vector<std::vector<collectives::Rank>> groups;  ///< devices of each group, in the order of ranks
};

/// The collectives of a schedule during which devices compute; found once, on the first request.
class BesideKernels {
 public:
  /// `schedule` must outlive this object. Algorithms of its tasks may change meanwhile.
  explicit BesideKernels(const schedule::Schedule& schedule) : schedule_(schedule) {}

  /// Returns whether devices compute while the collective, or another equal to it, is under way, for data divided among
  /// replicas. The cost is known for such steps in 16 bit and less, not for sums alone (post beside of
  /// collectives/nccl_constants.csv).
  bool include(const schedule::CollectiveTask& collective);

 private:
  void find();

  const schedule::Schedule& schedule_;
  bool found_ = false;
  std::vector<const schedule::CollectiveTask*> beside_;
};

/// Returns the requests of a collective task; if replicas are single devices, one group of all. Gathers and broadcasts
/// go directly to and from the aggregator. `devices`: their layout on nodes. `beside`: of the same schedule.
std::vector<Request> requests_of(const schedule::Task& task, const schedule::Schedule& schedule,
                                 const collectives::RankLayout& devices, BesideKernels& beside);

/// Returns the rounds of the requests' groups.
std::vector<collectives::RankGroup> lay_out(const std::vector<Request>& requests);

/// Combines the groups into one collective of all devices (and the aggregator), with their numbers as ranks.
std::shared_ptr<const collectives::Rounds> as_one(std::vector<collectives::RankGroup> groups, std::size_t nodes);

}  // namespace dadsim::sim
