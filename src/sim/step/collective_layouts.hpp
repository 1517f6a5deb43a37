#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/step/collective_requests.hpp"
#include "sim/step/per_collective.hpp"

namespace dadsim::sim {

/// Rounds of messages of a task's collectives among the nodes of its schedule; ranks are node numbers.
struct CollectiveLayout {
  std::shared_ptr<const collectives::Rounds> rounds;  ///< rounds of all groups, combined into one collective
  std::vector<collectives::RankGroup> groups;
  std::vector<std::int32_t> group_of;  ///< group of each node; −1: none
};

/// The layout of each collective of a schedule; equal collectives share one layout.
class CollectiveLayouts {
 public:
  CollectiveLayouts(const schedule::Schedule& schedule, const collectives::RankLayout& devices)
      : schedule_(schedule), devices_(devices), beside_(schedule) {}

  std::shared_ptr<const CollectiveLayout> of(const schedule::Task& task) {
    if (const auto* known = known_.find(task); known != nullptr) return *known;
    auto made = std::make_shared<CollectiveLayout>();
    const std::size_t nodes = schedule_.workers + (schedule_.uses_aggregator ? 1 : 0);
    made->groups = lay_out(requests_of(task, schedule_, devices_, beside_));
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
  const schedule::Schedule& schedule_;
  const collectives::RankLayout& devices_;
  BesideKernels beside_;
  PerCollective<std::shared_ptr<const CollectiveLayout>> known_;
};

}  // namespace dadsim::sim
