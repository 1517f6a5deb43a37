// What the time of a round, or of messages that are followed, went to, and what links carried.
#include <algorithm>
#include <limits>

#include "sim/network/flow.hpp"
#include "sim/network/flow_events.hpp"

namespace dadsim::sim {

/// All links of a class carry the same.
void FlowModel::count_loads(const KnownPattern& known) {
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

void FlowModel::describe(Played& played) const {
  const FlowPattern& pattern = played.known->pattern;
  const auto whole = [](const Flow& flow) { return flow.before + flow.in_turn + flow.seconds + flow.after; };
  std::size_t longest = 0;
  for (std::size_t i = 0; i < played.flows.size(); ++i) {
    if (whole(played.flows[i]) > whole(played.flows[longest])) longest = i;
  }
  played.latency = played.flows[longest].before + played.flows[longest].after;
  played.path = played.flows[longest].path;
  // The link on the way that has the least left for each of its messages.
  const std::span<const FlowPattern::Crossing> on_way = pattern.crossings_of(longest);
  std::vector<double> messages(on_way.size(), 0);
  for (const FlowPattern::Crossing& crossing : pattern.crossings) {
    for (std::size_t i = 0; i < on_way.size(); ++i) {
      if (on_way[i].link_class == crossing.link_class) messages[i] += crossing.flows;
    }
  }
  double least = std::numeric_limits<double>::infinity();
  for (const std::int32_t index : network_[played.path].links) {
    const NetworkLink& link = network_.link(index);
    const auto entry =
        std::ranges::lower_bound(pattern.class_of, index, {}, &std::pair<std::int32_t, std::int32_t>::first);
    const auto place = std::ranges::find(on_way, entry->second, &FlowPattern::Crossing::link_class) - on_way.begin();
    const double share = link.bandwidth / (link.shared ? messages[static_cast<std::size_t>(place)] : 1);
    if (share < least) {
      least = share;
      played.narrowest = index;
    }
  }
}

void FlowModel::account(const Played& played, double seconds) {
  const double latency = std::min(seconds, static_cast<double>(played.rounds) * played.latency);
  spent_[{"latency", network_[played.path].name()}] += latency;
  if (played.narrowest >= 0) spent_[{"bandwidth", network_.link(played.narrowest).name}] += seconds - latency;
}

void FlowEvents::carry(Connection& over, double bytes, double times) const {
  over.payload += times * bytes;
  over.wire += times * network_[over.path].use.cost(bytes, rounds_->protocol()).wire_bytes;
}

void FlowEvents::add_loads() {
  loads_.assign(network_.links().size(), {});
  const auto add = [&](std::int32_t link, const Connection& over, double times) {
    LinkLoad& load = loads_[static_cast<std::size_t>(link)];
    load.payload += times * over.payload;
    load.wire += times * over.wire;
  };
  if (classes_ == nullptr) {
    for (const Connection& over : connections_) {
      for (const std::int32_t link : network_[over.path].links) add(link, over, 1);
    }
    return;
  }
  for (std::size_t i = 0; i < of_class_.size(); ++i) {
    if (of_class_[i] < 0) continue;
    const Connection& over = connections_[static_cast<std::size_t>(of_class_[i])];
    for (const EventClasses::Crossing& crossing : classes_->pairs[i].crossings)
      add(crossing.link, over, crossing.flows);
  }
  for (const auto& [link, first] : classes_->first_link) {
    loads_[static_cast<std::size_t>(link)] = loads_[static_cast<std::size_t>(first)];
  }
}

/// What the time went to, back from the last rank along the messages that each waited for.
void FlowEvents::account(double factor) {
  spent_.clear();
  const auto last = std::ranges::max_element(states_, {}, &State::date);
  for (std::int32_t number = last->cause; number != kStart;) {
    const Event& event = events_[static_cast<std::size_t>(number)];
    const Path& path = network_[connections_[static_cast<std::size_t>(event.connection)].path];
    const double whole = event.arrived - event.sent;
    const double latency = std::min(whole, static_cast<double>(event.latency));
    spent_[{"latency", path.name()}] += factor * latency;
    std::int32_t narrowest = event.bottleneck;
    for (const std::int32_t link : path.links) {
      if (narrowest < 0 || (event.bottleneck < 0 && network_.link(link).bandwidth < network_.link(narrowest).bandwidth))
        narrowest = link;
    }
    if (narrowest >= 0) spent_[{"bandwidth", network_.link(narrowest).name}] += factor * (whole - latency);
    number = event.cause;
  }
}

}  // namespace dadsim::sim
