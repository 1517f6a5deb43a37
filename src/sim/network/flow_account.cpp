// What the time of a round went to, and what links carried in it.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "sim/network/flow.hpp"

namespace dadsim::sim {

void FlowModel::count(std::int64_t rounds) {
  loads_.resize(network_.links().size());
  for (const Flow& flow : flows_) {
    for (const std::int32_t link : network_[flow.path].links) {
      LinkLoad& load = loads_[static_cast<std::size_t>(link)];
      load.payload += static_cast<double>(rounds) * flow.bytes;
      load.wire += static_cast<double>(rounds) * flow.wire_bytes;
    }
  }
}

void FlowModel::account(double seconds, std::int64_t rounds) {
  const auto whole = [](const Flow& flow) { return flow.before + flow.in_turn + flow.seconds + flow.after; };
  const Flow* longest = &flows_.front();
  for (const Flow& flow : flows_) {
    if (whole(flow) > whole(*longest)) longest = &flow;
  }
  const Path& path = network_[longest->path];
  const double latency = std::min(seconds, static_cast<double>(rounds) * (longest->before + longest->after));
  spent_[{"latency", path.name}] += latency;
  // The link on the way that has the least left for each of its messages.
  std::string narrowest;
  double least = std::numeric_limits<double>::infinity();
  std::unordered_map<std::int32_t, int> messages;
  for (const Flow& flow : flows_) {
    for (const std::int32_t link : network_[flow.path].links) ++messages[link];
  }
  for (const std::int32_t index : path.links) {
    const NetworkLink& link = network_.link(index);
    const double share = link.bandwidth / (link.shared ? messages[index] : 1);
    if (share < least) {
      least = share;
      narrowest = link.name;
    }
  }
  if (!narrowest.empty()) spent_[{"bandwidth", narrowest}] += seconds - latency;
}

}  // namespace dadsim::sim
