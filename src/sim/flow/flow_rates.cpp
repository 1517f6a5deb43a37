#include "sim/flow/flow_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sim/network/fluid.hpp"
#include "sim/network/tcp.hpp"

namespace dadsim::sim {
namespace {

constexpr int kMostChanges = 64;      // largest number of distinct beginnings and ends of transfers in one round
constexpr double kSameTime = 1e-9;    // relative difference of equal times
constexpr double kNegligible = 1e-3;  // relative change of a rate that is ignored
constexpr double kMostWork = 4e8;     // largest flows × changes of rates in one round
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

}  // namespace

void FlowRates::prepare(std::vector<RoundFlow>& flows) const {
  bool with_tcp = false;
  for (RoundFlow& flow : flows) {
    const Path& path = ranks_.network[flow.path];
    if (path.use.transport == spec::Transport::tcp) {
      with_tcp = true;
      continue;
    }
    const PathUse::Cost cost = path.use.cost(flow.bytes, ranks_.protocol, ranks_.post_seconds);
    flow.wire_bytes = cost.wire_bytes;
    flow.after = path.latency + cost.overhead;
  }
  if (with_tcp) prepare_tcp(flows);
}

void FlowRates::prepare_tcp(std::vector<RoundFlow>& flows) const {
  // TCP: load that a message meets on each link if all pairs have just sent a message.
  struct Load {
    double connections = 0, backlog = 0, arriving = 0;
  };
  std::vector<Load> loads(ranks_.network.links().size());
  std::unordered_set<std::uint64_t> feeds;
  for (const RoundFlow& flow : flows) {
    const Path& path = ranks_.network[flow.path];
    std::int32_t before = -1;
    for (const std::int32_t link : path.links) {
      Load& load = loads[static_cast<std::size_t>(link)];
      load.connections += 1;
      load.backlog += flow.bytes * path.use.carried(ranks_.protocol);
      if (before >= 0 && feeds.insert(Interconnect::feed_of(before, link)).second)
        load.arriving += ranks_.network.link(before).payload_rate();
      before = link;
    }
  }
  std::vector<tcp::LinkState> states;
  std::unordered_map<std::int32_t, double> left;  // bytes already sent over each link
  for (RoundFlow& flow : flows) {
    if (ranks_.network[flow.path].use.transport != spec::Transport::tcp) continue;
    const std::int32_t back = ranks_.network.path(ranks_.host_of(flow.to), ranks_.host_of(flow.from));
    loads.resize(ranks_.network.links().size());
    const Path& path = ranks_.network[flow.path];
    const std::vector<std::int32_t>& there = path.links;
    const std::vector<std::int32_t>& here = ranks_.network[back].links;
    states.clear();
    for (std::size_t k = 0; k < there.size(); ++k) {
      const NetworkLink& link = ranks_.network.link(there[k]);
      const Load& load = loads[static_cast<std::size_t>(there[k])];
      const std::int32_t opposite = there.size() == here.size() ? here[here.size() - 1 - k] : -1;
      states.push_back({.rate = link.payload_rate(),
                        .queue = link.use.queue_bytes,
                        .efficiency = link.use.efficiency,
                        .connections = load.connections,
                        .backlog = load.backlog,
                        .opposite_in_use = opposite >= 0 && opposite != there[k] && !link.use.in_cluster &&
                                           loads[static_cast<std::size_t>(opposite)].connections > 0,
                        .drops = link.drops(load.arriving)});
    }
    const double most = path.connection_rate;
    const double bytes = flow.bytes * path.use.carried(ranks_.protocol);
    flow.share = std::min(flow.share, most / path.use.payload_rate);
    // Lets messages of a host leave one after the other if they fit into the queue of its link.
    const NetworkLink& first = ranks_.network.link(there.front());
    if (states.front().drops && !(most < path.use.payload_rate) &&
        states.front().backlog / first.use.efficiency <= first.use.queue_bytes) {
      double& before = left[there.front()];
      flow.in_turn = before / first.payload_rate();
      before += bytes;
    }
    const double latency = path.latency + path.use.overhead;
    const tcp::TransferCost fare = tcp::transfer_cost(states, bytes, 2 * latency, false, most);
    flow.wire_bytes = bytes * fare.inflation / path.use.efficiency;
    flow.before = path.use.software;
    flow.beside = path.use.in_cluster;
    flow.post = flow.bytes > 0 ? ranks_.post_seconds : 0;
    for (std::size_t k = 0; k < fare.tightest; ++k) flow.before += ranks_.network.link(there[k]).latency;
    flow.after = latency - flow.before;
    flow.floor = fare.floor;
    for (std::int64_t messages = 2; messages <= kManyInLine; messages *= 2) {
      for (tcp::LinkState& state : states) state.backlog *= 2;
      const tcp::TransferCost later = tcp::transfer_cost(states, bytes, 2 * latency, false, most);
      if (later.floor <= (1 + kNegligible) * fare.floor && later.inflation <= (1 + kNegligible) * fare.inflation)
        continue;
      flow.most_in_line = messages / 2;
      break;
    }
  }
}

std::vector<double> FlowRates::rates(const FlowPattern& pattern, const std::vector<RoundFlow>& flows,
                                     const std::vector<std::size_t>& active) const {
  Fluid fluid;
  for (std::size_t i = 0; i < pattern.links.size(); ++i)
    fluid.set_capacity(static_cast<std::int32_t>(i), ranks_.network.link(pattern.links[i].first).bandwidth);
  std::vector<std::int32_t> links;
  std::vector<double> on_each;
  for (const std::size_t index : active) {
    const RoundFlow& flow = flows[index];
    links.clear();
    on_each.clear();
    double most = kUnlimited;
    for (const FlowPattern::Crossing& crossing : pattern.crossings_of(index)) {
      const NetworkLink& link = ranks_.network.link(pattern.links[static_cast<std::size_t>(crossing.link_class)].first);
      if (!link.shared) {  // sharing does not limit: every flow gets the whole bandwidth
        most = std::min(most, link.bandwidth);
      } else if (const auto known = std::ranges::find(links, crossing.link_class); known != links.end()) {
        on_each[static_cast<std::size_t>(known - links.begin())] += crossing.flows;
      } else {
        links.push_back(crossing.link_class);
        on_each.push_back(crossing.flows);
      }
    }
    if (flow.share < 1) {
      const PathUse& use = ranks_.network[flow.path].use;
      most = std::min(most, flow.share * use.payload_rate / use.efficiency);
    }
    fluid.begin(fluid.add(links, on_each, most), 1, 0);
  }
  fluid.share(0);
  std::vector<double> rates;
  rates.reserve(active.size());
  for (std::size_t i = 0; i < active.size(); ++i) rates.push_back(fluid.rate(static_cast<std::int32_t>(i)));
  return rates;
}

void FlowRates::share_once(const FlowPattern& pattern, std::vector<RoundFlow>& flows) const {
  std::vector<std::size_t> all(flows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<double> rate = rates(pattern, flows, all);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    flows[i].seconds = flows[i].post + std::max(flows[i].wire_bytes / rate[i], flows[i].floor);
  }
}

Refused FlowRates::share_and_finish(const FlowPattern& pattern, std::vector<RoundFlow>& flows) const {
  std::vector<std::size_t> active;
  std::vector<std::size_t> to_come;  // flows by beginning, latest first
  std::vector<double> left(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    left[i] = flows[i].wire_bytes;
    flows[i].seconds = flows[i].post + std::max(0.0, flows[i].floor - flows[i].in_turn);
    if (left[i] > 0) to_come.push_back(i);
  }
  std::ranges::stable_sort(to_come, std::greater(), [&](std::size_t flow) { return flows[flow].in_turn; });
  double time = 0;
  for (int change = 0; !active.empty() || !to_come.empty(); ++change) {
    if (change == kMostChanges) {
      if (!pattern.is_divided) {  // share_by_dates() needs fewer updates for pairs without classes
        std::vector<double> begins;
        for (const RoundFlow& flow : flows) begins.push_back(flow.in_turn);
        return share_by_dates(pattern, flows, begins);
      }
      return FlowRefusal{
          fmt::format("messages of one round begin and end at more than {} different times", kMostChanges)};
    }
    if (active.empty()) time = std::max(time, flows[to_come.back()].in_turn);
    while (!to_come.empty() && flows[to_come.back()].in_turn <= time * (1 + kSameTime)) {
      active.push_back(to_come.back());
      to_come.pop_back();
    }
    const std::vector<double> rate = rates(pattern, flows, active);
    double next = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < active.size(); ++i) next = std::min(next, left[active[i]] / rate[i]);
    if (!to_come.empty()) next = std::min(next, flows[to_come.back()].in_turn - time);
    time += next;
    std::vector<std::size_t> going_on;
    for (std::size_t i = 0; i < active.size(); ++i) {
      const std::size_t flow = active[i];
      left[flow] -= rate[i] * next;
      if (left[flow] <= kSameTime * flows[flow].wire_bytes) {
        flows[flow].seconds = flows[flow].post + std::max(time, flows[flow].floor) - flows[flow].in_turn;
      } else {
        going_on.push_back(flow);
      }
    }
    active.swap(going_on);
  }
  return {};
}

Refused FlowRates::share_by_dates(const FlowPattern& pattern, std::vector<RoundFlow>& flows,
                                  const std::vector<double>& begins) const {
  Fluid fluid;
  std::vector<std::pair<double, std::size_t>> order;
  std::vector<std::int32_t> shared;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    RoundFlow& flow = flows[i];
    shared.clear();
    double most = kUnlimited;
    for (const std::int32_t index : ranks_.links_of(pattern, flow.path, i)) {
      const NetworkLink& link = ranks_.network.link(index);
      if (!link.shared) {
        most = std::min(most, link.bandwidth);
        continue;
      }
      shared.push_back(index);
      fluid.set_capacity(index, link.bandwidth);
    }
    const PathUse& use = ranks_.network[flow.path].use;
    if (flow.share < 1) most = std::min(most, flow.share * use.payload_rate / use.efficiency);
    fluid.add(shared, most);
    flow.seconds = flow.post + std::max(0.0, flow.floor - flow.in_turn);
    if (flow.wire_bytes > 0) order.emplace_back(begins[i], i);
  }
  std::ranges::sort(order);
  double work = 0;
  for (std::size_t next = 0;;) {
    const double begin = next < order.size() ? order[next].first : kUnlimited;
    const double date = std::min(begin, fluid.next());
    if (date == kUnlimited) break;
    const double until = date + 1e-12;
    for (std::int32_t over = fluid.end(until); over >= 0; over = fluid.end(until)) {
      RoundFlow& flow = flows[static_cast<std::size_t>(over)];
      flow.seconds = flow.post + std::max(date - begins[static_cast<std::size_t>(over)], flow.floor - flow.in_turn);
    }
    for (; next < order.size() && order[next].first <= until; ++next) {
      const std::size_t flow = order[next].second;
      fluid.begin(static_cast<std::int32_t>(flow), flows[flow].wire_bytes, date);
    }
    work += static_cast<double>(fluid.share(date));
    if (work > kMostWork) return FlowRefusal{"messages of one round begin and end at too many different times"};
  }
  return {};
}

double FlowRates::alone(const RoundFlow& flow) const {
  const PathUse& use = ranks_.network[flow.path].use;
  return flow.wire_bytes * use.efficiency / (use.payload_rate * std::min(1.0, flow.share));
}

bool FlowRates::over_tcp(const RoundFlow& flow) const {
  return flow.bytes > 0 && ranks_.network[flow.path].use.transport == spec::Transport::tcp;
}

double FlowRates::tcp_doubt(const std::vector<RoundFlow>& flows, double seconds) const {
  double most = 0;
  for (const RoundFlow& flow : flows) {
    if (!over_tcp(flow)) continue;
    const Path& path = ranks_.network[flow.path];
    const double by_itself =
        flow.bytes * path.use.carried(ranks_.protocol) / std::min(path.use.payload_rate, path.connection_rate);
    most = std::max(most, std::min(seconds, flow.in_turn + flow.seconds - flow.post - by_itself));
  }
  return most;
}

bool FlowRates::is_contended(const std::vector<RoundFlow>& flows) const {
  return std::ranges::any_of(flows,
                             [&](const RoundFlow& flow) {
                               return flow.wire_bytes > 0 && flow.seconds - flow.post > kRoundedRates * alone(flow);
                             }) ||
         tcp_doubt(flows, kUnlimited) > 0;
}

}  // namespace dadsim::sim
