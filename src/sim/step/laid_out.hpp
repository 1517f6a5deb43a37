#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/step/per_collective.hpp"
#include "sim/step/requests.hpp"

namespace dadsim::sim {

/// What a task's collectives come to among the nodes of its schedule: ranks are their numbers.
struct LaidOut {
  std::shared_ptr<const collectives::Rounds> rounds;  ///< all groups as one
  std::vector<collectives::RankGroup> groups;
  std::vector<std::int32_t> group_of;  ///< per node; -1: in none
};

/// The collectives of a schedule, those that are equal laid out once.
class Layouts {
 public:
  Layouts(const step::Schedule& schedule, const collectives::RankLayout& devices)
      : schedule_(schedule), devices_(devices) {}

  std::shared_ptr<const LaidOut> of(const step::Task& task) {
    if (const auto* known = known_.find(task); known != nullptr) return *known;
    auto made = std::make_shared<LaidOut>();
    const std::size_t nodes = schedule_.workers + (schedule_.uses_aggregator ? 1 : 0);
    made->groups = lay_out(requests_of(task, schedule_, devices_));
    made->rounds = as_one(made->groups, nodes);
    made->group_of.assign(nodes, -1);
    for (std::size_t group = 0; group < made->groups.size(); ++group) {
      for (const collectives::Rank rank : made->groups[group].ranks) {
        made->group_of[static_cast<std::size_t>(rank)] = static_cast<std::int32_t>(group);
      }
    }
    return known_.add(task, std::move(made));
  }

 private:
  const step::Schedule& schedule_;
  const collectives::RankLayout& devices_;
  PerCollective<std::shared_ptr<const LaidOut>> known_;
};

}  // namespace dadsim::sim
