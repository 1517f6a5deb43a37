// What the messages of a round cost, and how fast they go on while they share the network.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "sim/network/flow.hpp"
#include "sim/network/max_min.hpp"
#include "sim/network/tcp.hpp"

namespace dadsim::sim {
namespace {

constexpr int kMostChanges = 64;      // distinct beginnings and ends of transfers of one round
constexpr double kSameTime = 1e-9;    // relative
constexpr double kNegligible = 1e-3;  // relative

}  // namespace

void FlowModel::prepare() {
  bool with_tcp = false;
  for (Flow& flow : flows_) {
    const Path& path = network_[flow.path];
    if (path.use.transport == spec::Transport::tcp) {
      with_tcp = true;
      continue;
    }
    const PathUse::Cost cost = path.use.cost(flow.bytes, protocol_);
    flow.wire_bytes = cost.wire_bytes;
    flow.after = path.latency + cost.overhead;
  }
  if (with_tcp) prepare_tcp();
}

void FlowModel::prepare_tcp() {
  // TCP: as every message finds the links when all pairs have just sent theirs.
  struct Load {
    double connections = 0, backlog = 0;
  };
  std::vector<Load> loads(network_.links().size());
  for (const Flow& flow : flows_) {
    for (const std::int32_t link : network_[flow.path].links) {
      loads[static_cast<std::size_t>(link)].connections += 1;
      loads[static_cast<std::size_t>(link)].backlog += flow.bytes;
    }
  }
  std::vector<tcp::LinkState> states;
  std::unordered_map<std::int32_t, double> left;  // bytes that have left by a link before
  for (Flow& flow : flows_) {
    if (network_[flow.path].use.transport != spec::Transport::tcp) continue;
    const std::int32_t back = network_.path(host_of(flow.to), host_of(flow.from));
    loads.resize(network_.links().size());
    const Path& path = network_[flow.path];
    const std::vector<std::int32_t>& there = path.links;
    const std::vector<std::int32_t>& here = network_[back].links;
    states.clear();
    for (std::size_t k = 0; k < there.size(); ++k) {
      const NetworkLink& link = network_.link(there[k]);
      const Load& load = loads[static_cast<std::size_t>(there[k])];
      const std::int32_t opposite = there.size() == here.size() ? here[here.size() - 1 - k] : -1;
      states.push_back({.rate = link.payload_rate(),
                        .queue = link.use.queue_bytes,
                        .efficiency = link.use.efficiency,
                        .connections = load.connections,
                        .backlog = load.backlog,
                        .opposite_in_use = opposite >= 0 && opposite != there[k] &&
                                           loads[static_cast<std::size_t>(opposite)].connections > 0,
                        .drops = link.use.transport == spec::Transport::tcp});
    }
    // As long as a host's messages fit into the queue in front of its link they leave one after the other.
    const NetworkLink& first = network_.link(there.front());
    if (first.use.transport == spec::Transport::tcp &&
        states.front().backlog / first.use.efficiency <= first.use.queue_bytes) {
      double& before = left[there.front()];
      flow.in_turn = before / first.payload_rate();
      before += flow.bytes;
    }
    const double latency = path.latency + path.use.overhead;
    const tcp::TransferCost fare = tcp::transfer_cost(states, flow.bytes, 2 * latency, false);
    flow.wire_bytes = flow.bytes * fare.inflation / path.use.efficiency;
    flow.before = tcp::fitted().software;
    for (std::size_t k = 0; k < fare.tightest; ++k) flow.before += network_.link(there[k]).latency;
    flow.after = latency - flow.before;
    flow.floor = fare.floor;
    for (std::int64_t messages = 2; messages <= kManyInLine; messages *= 2) {
      for (tcp::LinkState& state : states) state.backlog *= 2;
      const tcp::TransferCost later = tcp::transfer_cost(states, flow.bytes, 2 * latency, false);
      if (later.floor <= (1 + kNegligible) * fare.floor && later.inflation <= (1 + kNegligible) * fare.inflation)
        continue;
      flow.most_in_line = messages / 2;
      break;
    }
  }
}

std::vector<double> FlowModel::rates(const FlowPattern& pattern, const std::vector<std::size_t>& flows) const {
  std::vector<double> capacity(pattern.links.size());
  for (std::size_t i = 0; i < capacity.size(); ++i) capacity[i] = network_.link(pattern.links[i].first).bandwidth;
  LinksOfFlows links;
  for (const std::size_t index : flows) {
    const Flow& flow = flows_[index];
    for (const FlowPattern::Crossing& crossing : pattern.crossings_of(index)) {
      const auto link_class = static_cast<std::size_t>(crossing.link_class);
      if (network_.link(pattern.links[link_class].first).shared) {
        links.cross(crossing.link_class, crossing.flows);
      } else {  // everybody has all of it
        links.cross(static_cast<std::int32_t>(capacity.size()), 1);
        capacity.push_back(capacity[link_class]);
      }
    }
    if (flow.share < 1) {
      const PathUse& use = network_[flow.path].use;
      links.cross(static_cast<std::int32_t>(capacity.size()), 1);
      capacity.push_back(flow.share * use.payload_rate / use.efficiency);
    }
    links.end_flow();
  }
  return max_min_rates(capacity, links);
}

/// All pairs go on at the same time throughout.
void FlowModel::share_once(const FlowPattern& pattern) {
  std::vector<std::size_t> all(flows_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<double> rate = rates(pattern, all);
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    flows_[i].seconds = std::max(flows_[i].wire_bytes / rate[i], flows_[i].floor);
  }
}

/// All begin together, or in turn; who is through leaves its share to the others.
void FlowModel::share_and_finish(const KnownPattern& known) {
  std::vector<std::size_t> active;
  std::vector<std::size_t> to_come;  // by when they begin, the last first
  std::vector<double> left(flows_.size());
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    left[i] = flows_[i].wire_bytes;
    flows_[i].seconds = std::max(0.0, flows_[i].floor - flows_[i].in_turn);
    if (left[i] > 0) to_come.push_back(i);
  }
  std::ranges::stable_sort(to_come, std::greater(), [this](std::size_t flow) { return flows_[flow].in_turn; });
  double time = 0;
  for (int change = 0; !active.empty() || !to_come.empty(); ++change) {
    if (change == kMostChanges) {
      if (!known.pattern.is_divided) {  // following each works out less anew
        std::vector<double> begins;
        for (const Flow& flow : flows_) begins.push_back(flow.in_turn);
        return share_by_dates(known, flows_, begins);
      }
      throw FlowRefused(
          fmt::format("messages of one round begin and end at more than {} different times", kMostChanges));
    }
    if (active.empty()) time = std::max(time, flows_[to_come.back()].in_turn);
    while (!to_come.empty() && flows_[to_come.back()].in_turn <= time * (1 + kSameTime)) {
      active.push_back(to_come.back());
      to_come.pop_back();
    }
    const std::vector<double> rate = rates(known.pattern, active);
    double next = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < active.size(); ++i) next = std::min(next, left[active[i]] / rate[i]);
    if (!to_come.empty()) next = std::min(next, flows_[to_come.back()].in_turn - time);
    time += next;
    std::vector<std::size_t> going_on;
    for (std::size_t i = 0; i < active.size(); ++i) {
      const std::size_t flow = active[i];
      left[flow] -= rate[i] * next;
      if (left[flow] <= kSameTime * flows_[flow].wire_bytes) {
        flows_[flow].seconds = std::max(time, flows_[flow].floor) - flows_[flow].in_turn;
      } else {
        going_on.push_back(flow);
      }
    }
    active.swap(going_on);
  }
}

}  // namespace dadsim::sim
