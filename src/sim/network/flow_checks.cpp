// What flows of a round take for granted, and whether it is so: that those who share a link are at work on it at the
// same time, and that what was sent in rounds before has passed.
#include <algorithm>
#include <limits>

#include "sim/network/flow.hpp"
#include "sim/network/fluid.hpp"

namespace dadsim::sim {
namespace {

constexpr double kTogether = 1e-4;  // of the time that a transfer takes alone: nearer beginnings count as one
constexpr double kMostWork = 4e8;   // flows × changes of their rates that one round may take
constexpr std::size_t kMostFollowed = 200'000;  // pairs of a round of which each has dates of its own
constexpr double kRoundedRates = 1 + 1e-6;
constexpr double kEndless = std::numeric_limits<double>::infinity();

}  // namespace

/// Seconds that the transfer takes if nobody shares its links.
double FlowModel::alone(const Flow& flow) const {
  const PathUse& use = network_[flow.path].use;
  return flow.wire_bytes * use.efficiency / (use.payload_rate * std::min(1.0, flow.share));
}

bool FlowModel::over_tcp(const Flow& flow) const {
  return flow.bytes > 0 && network_[flow.path].use.transport == spec::Transport::tcp;
}

/// How a message fares over TCP was worked out as if all others of the round were under way. Where they may not be, for
/// so many seconds, what sharing costs it is in doubt.
double FlowModel::tcp_doubt(const std::vector<Flow>& flows, double seconds) const {
  double most = 0;
  for (const Flow& flow : flows) {
    if (!over_tcp(flow)) continue;
    const double by_itself = flow.bytes / network_[flow.path].use.payload_rate;
    most = std::max(most, std::min(seconds, flow.in_turn + flow.seconds - by_itself));
  }
  return most;
}

bool FlowModel::is_contended(const std::vector<Flow>& flows) const {
  return std::ranges::any_of(
             flows,
             [&](const Flow& flow) { return flow.wire_bytes > 0 && flow.seconds > kRoundedRates * alone(flow); }) ||
         tcp_doubt(flows, kEndless) > 0;
}

const std::vector<std::int32_t>& FlowModel::links_of(const KnownPattern& known, const Flow& flow, const Pair& pair) {
  if (!known.pattern.is_divided) return network_[flow.path].links;
  return routes_->links(static_cast<std::size_t>(pair.from / lanes_), static_cast<std::size_t>(pair.to / lanes_));
}

bool FlowModel::begins_in_step(const Played& played, const std::vector<Pair>& pairs, const std::vector<double>& dates) {
  double first = kEndless;
  double last = -kEndless;
  double least = kEndless;
  double until = busy_until_;
  for (const Pair& pair : pairs) {
    const Flow& flow = played.flows[static_cast<std::size_t>(pair.flow)];
    if (!(flow.wire_bytes > 0)) continue;
    const double begin = dates[static_cast<std::size_t>(pair.from)] + flow.before;
    first = std::min(first, begin);
    last = std::max(last, begin);
    until = std::max(until, begin + flow.in_turn + flow.seconds);
  }
  for (const Flow& flow : played.flows) {
    if (flow.wire_bytes > 0) least = std::min(least, alone(flow));
  }
  if (first == kEndless) return true;  // nothing is sent
  if (last - first > kTogether * least || first < busy_until_) return false;
  last_in_step_ = {played.known, played.flows, first};
  busy_until_ = until;
  return true;
}

/// What the last round in step leaves on the links.
void FlowModel::check_last_in_step() {
  if (last_in_step_.known == nullptr) return;
  const LastInStep last = std::move(last_in_step_);
  last_in_step_ = {};
  std::vector<double> begins;
  for (const Pair& pair : last.known->pattern.pairs)
    begins.push_back(last.begin + last.flows[static_cast<std::size_t>(pair.flow)].in_turn);
  check(*last.known, last.known->pattern.pairs, last.flows, begins, {}, true, 1);
}

void FlowModel::round_out_of_step(const Played& played, std::vector<double>& dates) {
  check_last_in_step();
  const KnownPattern& known = *played.known;
  std::vector<Pair> pairs = known.pattern.pairs;
  std::vector<Flow> flows = played.flows;
  std::vector<double> begins;
  begins.reserve(pairs.size());
  double least = kEndless;
  double most = -kEndless;
  for (const Pair& pair : pairs) {
    const Flow& flow = flows[static_cast<std::size_t>(pair.flow)];
    const double date = dates[static_cast<std::size_t>(pair.from)];
    begins.push_back(date + flow.before + flow.in_turn);
    if (!over_tcp(flow)) continue;
    least = std::min(least, date);
    most = std::max(most, date);
  }
  // Each pair gets rates of its own, from when it begins, where that makes a difference and pairs are not too many.
  const bool by_dates = !played.contended || !known.pattern.is_divided || pairs.size() <= kMostFollowed;
  if (by_dates && played.contended) {
    std::vector<Flow> of_pairs;
    of_pairs.reserve(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      of_pairs.push_back(flows[static_cast<std::size_t>(pairs[i].flow)]);
      pairs[i].flow = static_cast<std::int32_t>(i);
    }
    flows = std::move(of_pairs);
    share_by_dates(known, flows, begins);
  }
  if (most > least) doubt_ += tcp_doubt(flows, most - least);
  check(known, pairs, flows, begins, {}, by_dates, 1);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    busy_until_ = std::max(busy_until_, begins[i] + flows[static_cast<std::size_t>(pairs[i].flow)].seconds);
  }
  one_round(pairs, flows, dates);
}

void FlowModel::share_by_dates(const KnownPattern& known, std::vector<Flow>& flows, const std::vector<double>& begins) {
  Fluid fluid;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    Flow& flow = flows[i];
    std::vector<std::int32_t> shared;
    double most = kEndless;
    for (const std::int32_t index : links_of(known, flow, known.pattern.pairs[i])) {
      const NetworkLink& link = network_.link(index);
      if (!link.shared) {
        most = std::min(most, link.bandwidth);
        continue;
      }
      shared.push_back(index);
      fluid.set_capacity(index, link.bandwidth);
    }
    const PathUse& use = network_[flow.path].use;
    if (flow.share < 1) most = std::min(most, flow.share * use.payload_rate / use.efficiency);
    fluid.add(std::move(shared), most);
    flow.seconds = std::max(0.0, flow.floor - flow.in_turn);
    if (flow.wire_bytes > 0) order.emplace_back(begins[i], i);
  }
  std::ranges::sort(order);
  double work = 0;
  for (std::size_t next = 0;;) {
    const double begin = next < order.size() ? order[next].first : kEndless;
    const double date = std::min(begin, fluid.next());
    if (date == kEndless) break;
    const double until = date + 1e-12;
    for (std::int32_t over = fluid.end(until); over >= 0; over = fluid.end(until)) {
      Flow& flow = flows[static_cast<std::size_t>(over)];
      flow.seconds = std::max(date - begins[static_cast<std::size_t>(over)], flow.floor - flow.in_turn);
    }
    for (; next < order.size() && order[next].first <= until; ++next) {
      const std::size_t flow = order[next].second;
      fluid.begin(static_cast<std::int32_t>(flow), flows[flow].wire_bytes, date);
    }
    work += static_cast<double>(fluid.share(date));
    if (work > kMostWork) throw FlowRefused("messages of one round begin and end at too many different times");
  }
}

void FlowModel::check(const KnownPattern& known, const std::vector<Pair>& pairs, const std::vector<Flow>& flows,
                      const std::vector<double>& begins, const std::vector<bool>& steady, bool by_dates, double times) {
  watch_.resize(network_.links().size());
  ++checks_;
  double most = 0;
  const bool one_by_one = steady.empty();  // rounds, not those of a phase
  if (!one_by_one) {
    // Over TCP a pair that carries its message sooner than others is idle while these go on.
    double least = kEndless;
    double longest = 0;
    for (const Flow& flow : flows) {
      if (!over_tcp(flow)) continue;
      least = std::min(least, flow.seconds);
      longest = std::max(longest, flow.seconds);
    }
    if (longest > least) most = tcp_doubt(flows, longest - least);
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Flow& flow = flows[static_cast<std::size_t>(pairs[i].flow)];
    if (!(flow.wire_bytes > 0)) continue;
    const double end = begins[i] + flow.seconds;
    const double rate = flow.wire_bytes / std::max(flow.seconds, std::numeric_limits<double>::min());
    const std::vector<std::int32_t>& links = links_of(known, flow, pairs[i]);
    watch_.resize(network_.links().size());  // a way that nobody had taken yet may have new ones
    for (const std::int32_t index : links) {
      LinkWatch& link = watch_[static_cast<std::size_t>(index)];
      if (link.round != checks_) {
        if (one_by_one || link.round < phase_begin_) {
          link.busy_until = std::max(link.busy_until, link.until);
          link.busy_behind = link.behind;
        }
        link.round = checks_;
        link.first = kEndless;
        link.last = -kEndless;
        link.fastest = link.behind = link.until = 0;
      }
      link.behind += rate;
      link.until = std::max(link.until, end);
      link.fastest += flow.wire_bytes / alone(flow);
      if (by_dates || (!one_by_one && steady[i])) continue;
      link.first = std::min(link.first, begins[i]);
      link.last = std::max(link.last, begins[i]);
    }
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Flow& flow = flows[static_cast<std::size_t>(pairs[i].flow)];
    if (!(flow.wire_bytes > 0)) continue;
    const double own = flow.wire_bytes / alone(flow);
    double late = 0;
    const std::vector<std::int32_t>& links = links_of(known, flow, pairs[i]);
    for (const std::int32_t index : links) {
      const NetworkLink& shared = network_.link(index);
      if (!shared.shared) continue;
      const LinkWatch& link = watch_[static_cast<std::size_t>(index)];
      if (link.busy_until > begins[i] && own + link.busy_behind > shared.bandwidth * kRoundedRates) {
        late = std::max(late, link.busy_until - begins[i]);
      }
      // Who begins apart would be alone for a while.
      if (!by_dates && link.last > link.first && link.fastest > shared.bandwidth * kRoundedRates) {
        most = std::max(most, std::min(link.last - link.first, flow.seconds - alone(flow)));
      }
    }
    if (!(late > 0)) continue;
    most = std::max(most, late / times);
    for (const std::int32_t index : links) {
      LinkWatch& link = watch_[static_cast<std::size_t>(index)];
      link.until = std::max(link.until, begins[i] + flow.seconds + late);
    }
  }
  doubt_ += times * most;
}

}  // namespace dadsim::sim
