// What came of a run of FlowEvents: what links carried, what messages took, what the time went to.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/network/flow_events.hpp"

namespace dadsim::sim {

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

/// Rounds that are alike have what they take in the mean.
void FlowEvents::describe(MaxPlusRounds& solved) {
  const Course& course = courses_.front();
  solved.begin(*course.rounds);
  if (course.pace.handshake != collectives::Pace::Handshake::eager) return solved.give_up();
  taken_.sort();
  // As rounds are numbered that were carried out.
  const auto carried_out = [this](std::int64_t round) {
    return round < skip_from_ ? round : std::max(skip_from_, round - skipped_);
  };
  const auto message = [&](collectives::Rank rank, collectives::Rank lane, const collectives::Transfer& transfer,
                           std::int64_t from, std::int64_t until) -> MaxPlusRounds::Message {
    const std::int32_t number = connection(rank, transfer.peer, transfer.channel);
    Connection& over = connections_[static_cast<std::size_t>(number)];
    const PathUse& use = network_[over.path].use;
    const double wire_bytes = cost_of(over, 0, transfer.bytes).wire_bytes;
    const double taken = taken_.mean(number, carried_out(from), carried_out(until), course.lanes, lane);
    const double alone = wire_bytes * use.efficiency / (use.payload_rate * std::min(1.0, over.share));
    return {over.before, taken + over.post, over.latency, std::min(alone, taken) + over.post};
  };
  describe_rounds(*course.rounds, message, solved);
}

std::int32_t FlowEvents::last_cause() const {
  return std::ranges::max_element(courses_.front().states, {}, &State::date)->cause;
}

void FlowEvents::account(std::int32_t cause, double factor) {
  spent_.clear();
  for (std::int32_t number = cause; number != kStart;) {
    const Event& event = events_[static_cast<std::size_t>(number)];
    const Path& path = network_[connections_[static_cast<std::size_t>(event.connection)].path];
    const double whole = event.arrived - event.sent;
    const double latency = std::min(whole, static_cast<double>(event.latency));
    const double way = std::min(latency, path.way_seconds());
    spent_[{"latency", path.name()}] += factor * way;
    spent_[{"overhead", ""}] += factor * (latency - way);
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
