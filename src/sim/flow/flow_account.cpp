#include "sim/flow/flow_account.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace dadsim::sim {

void FlowAccount::count_loads(const KnownPattern& known) {
  const FlowPattern& pattern = known.pattern;
  std::vector<LinkLoad> of_class(pattern.links.size());
  for (std::size_t i = 0; i < pattern.flows.size(); ++i) {
    for (const FlowPattern::Crossing& crossing : pattern.crossings_of(i)) {
      LinkLoad& load = of_class[static_cast<std::size_t>(crossing.link_class)];
      load.payload += crossing.flows * known.carried[i].payload;
      load.wire += crossing.flows * known.carried[i].wire;
    }
  }
  loads_.resize(network_.links().size());
  for (const auto& [link, link_class] : pattern.class_of) {
    LinkLoad& load = loads_[static_cast<std::size_t>(link)];
    load.payload += of_class[static_cast<std::size_t>(link_class)].payload;
    load.wire += of_class[static_cast<std::size_t>(link_class)].wire;
  }
}

void FlowAccount::describe(RoundFlows& timed) const {
  const FlowPattern& pattern = timed.known->pattern;
  const auto whole = [](const RoundFlow& flow) { return flow.before + flow.in_turn + flow.seconds + flow.after; };
  std::size_t longest = 0;
  for (std::size_t i = 0; i < timed.flows.size(); ++i) {
    if (whole(timed.flows[i]) > whole(timed.flows[longest])) longest = i;
  }
  timed.latency = timed.flows[longest].before + timed.flows[longest].after;
  timed.path = timed.flows[longest].path;
  timed.software = std::max(0.0, timed.latency - network_[timed.path].way_seconds());
  // Finds the link of the path with the least bandwidth per message.
  const std::span<const FlowPattern::Crossing> on_way = pattern.crossings_of(longest);
  std::vector<double> messages(on_way.size(), 0);
  for (const FlowPattern::Crossing& crossing : pattern.crossings) {
    for (std::size_t i = 0; i < on_way.size(); ++i) {
      if (on_way[i].link_class == crossing.link_class) messages[i] += crossing.flows;
    }
  }
  double least = std::numeric_limits<double>::infinity();
  for (const std::int32_t index : network_[timed.path].links) {
    const NetworkLink& link = network_.link(index);
    const auto entry =
        std::ranges::lower_bound(pattern.class_of, index, {}, &std::pair<std::int32_t, std::int32_t>::first);
    const auto place = std::ranges::find(on_way, entry->second, &FlowPattern::Crossing::link_class) - on_way.begin();
    const double share = link.bandwidth / (link.shared ? messages[static_cast<std::size_t>(place)] : 1);
    if (share < least) {
      least = share;
      timed.narrowest = index;
    }
  }
}

void FlowAccount::spend(const RoundFlows& timed, double seconds) {
  const double latency = std::min(seconds, static_cast<double>(timed.rounds) * timed.latency);
  const double software = std::min(latency, static_cast<double>(timed.rounds) * timed.software);
  spent_[{"overhead", ""}] += software;
  spent_[{"latency", network_[timed.path].name()}] += latency - software;
  if (timed.narrowest >= 0) spent_[{"bandwidth", network_.link(timed.narrowest).name}] += seconds - latency;
}

}  // namespace dadsim::sim
