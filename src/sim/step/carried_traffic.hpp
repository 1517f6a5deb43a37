#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "sim/step/flow_collectives.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// What the collectives of a step carried so far.
class CarriedTraffic {
 public:
  explicit CarriedTraffic(std::size_t nodes) : sent_(nodes), received_(nodes) {}

  /// Over links.
  void add_to_links(const FlowTraffic& traffic, double times) {
    for (const auto& [link, load] : traffic.loads) {
      const auto index = static_cast<std::size_t>(link);
      if (index >= loads_.size()) loads_.resize(index + 1);
      loads_[index].payload += times * load.payload;
      loads_[index].wire += times * load.wire;
    }
  }
  /// From and to nodes.
  void add_to_nodes(const FlowPart& part, double times) {
    const FlowTraffic& traffic = *part.traffic;
    for (std::size_t rank = 0; rank < traffic.sent.size(); ++rank) {
      sent_[part.nodes[rank]] += times * traffic.sent[rank];
      received_[part.nodes[rank]] += times * traffic.received[rank];
    }
  }

  std::vector<LinkLoad> take_loads() { return std::move(loads_); }
  void put_into(step::StepTiming& timing) const {
    timing.bytes_sent = sent_;
    timing.bytes_received = received_;
  }

 private:
  std::vector<double> sent_, received_;  ///< bytes, per node
  std::vector<LinkLoad> loads_;          ///< per link of the network; those behind the end: nothing
};

}  // namespace dadsim::sim
