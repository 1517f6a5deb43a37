#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "schedule/schedule.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/step/flow_collectives.hpp"
#include "sim/step/framework_costs.hpp"
#include "sim/step/nodes.hpp"
#include "sim/step/step_semantics.hpp"

namespace dadsim::sim {

/// What a framework adds to collectives by flow.
class FlowFramework {
 public:
  /// `no_time`: it adds nothing.
  FlowFramework(const Nodes& nodes, const Parts& parts, const FlowCollectives& collectives, Interconnect& network,
                bool no_time)
      : nodes_(nodes), parts_(parts), collectives_(collectives), network_(network), no_time_(no_time) {}

  /// By rank; empty: nothing.
  const std::vector<FrameworkCost>& of(const schedule::Task& task, FlowPart& part) const {
    if (no_time_) return none_;
    const auto& collective = std::get<schedule::CollectiveTask>(task.what);
    if (part.framework) return *part.framework;
    part.framework.emplace();
    if (nodes_.framework == nullptr || collective.among != schedule::Among::replicas) return *part.framework;
    *part.framework = framework_costs(
        *nodes_.framework, *part.rounds,
        [&](std::size_t rank) { return collective.bytes[parts_.entry(part.nodes[rank])]; },
        [&](std::size_t rank) { return !parts_.is_worker(part.nodes[rank]); },
        [&](std::size_t from, std::size_t to) {
          const auto host = [&](std::size_t rank) { return collectives_.host(part.nodes[rank]); };
          return network_[network_.path(host(from), host(to))].transfer_rate();
        });
    return *part.framework;
  }

  /// First messages may leave at these dates, per rank.
  void begin(const std::vector<double>& leaves) { leaves_ = leaves; }
  /// `dates`: when messages are through, and afterwards when ranks are done. What it adds goes into `spent`.
  void add(const FlowPart& part, std::vector<double>& dates, SpentSeconds& spent) const {
    if (no_time_ || part.framework->empty()) return;
    const std::vector<FrameworkCost>& framework = *part.framework;
    double before = 0;
    double after = 0;
    for (std::size_t rank = 0; rank < framework.size(); ++rank) {
      const double done = framework[rank].done(leaves_[rank], dates[rank]);
      before = std::max(before, framework[rank].before);
      after = std::max(after, done - dates[rank]);
      dates[rank] = done;
    }
    spent[{"framework", collectives_.host(part.nodes.front())->get_cname()}] += before + after;
  }

 private:
  const Nodes& nodes_;
  const Parts& parts_;
  const FlowCollectives& collectives_;
  Interconnect& network_;
  bool no_time_;
  std::vector<FrameworkCost> none_;
  std::vector<double> leaves_;  ///< of the collective at hand
};

}  // namespace dadsim::sim
