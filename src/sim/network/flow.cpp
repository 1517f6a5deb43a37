#include "sim/network/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>

#include "sim/network/max_min.hpp"

namespace dadsim::sim {
namespace {

constexpr std::int64_t kStepsBySteps = 4'000'000;  // ranks × rounds that are gone through one by one
constexpr int kMostChanges = 64;                   // distinct beginnings and ends of transfers of one round
constexpr double kSameTime = 1e-9;                 // relative
constexpr double kNegligible = 1e-3;               // relative

constexpr const char* in_line =
    "messages wait in line on TCP connections that share links, and lose more the more there are";

}  // namespace

void FlowModel::run(const collectives::Rounds& rounds, std::vector<double>& dates) {
  spent_.clear();
  loads_.clear();
  if (!rounds.even()) throw FlowRefused("ranks inside a tree have more to send than its leaves, and get out of step");
  lanes_ = rounds.lanes();
  in_bulk_ = rounds.in_bulk();
  for (double& date : dates) date += rounds.start_seconds();
  if (lanes_ == 1) return run_lanes(rounds, dates);
  const auto lanes = static_cast<std::size_t>(lanes_);
  std::vector<double> of_lanes(dates.size() * lanes);
  for (std::size_t i = 0; i < of_lanes.size(); ++i) of_lanes[i] = dates[i / lanes];
  run_lanes(rounds, of_lanes);
  for (std::size_t i = 0; i < of_lanes.size(); ++i) dates[i / lanes] = std::max(dates[i / lanes], of_lanes[i]);
}

void FlowModel::run_lanes(const collectives::Rounds& rounds, std::vector<double>& dates) {
  const collectives::Pace pace = rounds.pace();
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    const std::int64_t times = phase.alike ? 1 : phase.rounds;
    const std::int64_t together = phase.alike ? 1 : pace.in_flight;
    for (std::int64_t i = 0; i < times; i += together) {
      flows_.clear();
      for (std::int64_t k = i; k < std::min(i + together, times); ++k) collect(rounds, phase.first + k);
      if (flows_.empty()) continue;
      if (pace.ready != collectives::Pace::Ready::is_taken_for_granted) say_ready(dates);
      prepare();
      const double begin = *std::ranges::max_element(dates);
      const std::int64_t repeated = phase.alike ? phase.rounds : 1;
      if (repeated == 1) {
        share_and_finish();
        one_round(dates);
      } else {
        share_once();
        many_rounds(repeated, dates);
      }
      account(*std::ranges::max_element(dates) - begin, repeated);
      count(repeated);
    }
  }
}

/// What a pair sends in rounds that are in flight together counts as one message.
void FlowModel::collect(const collectives::Rounds& rounds, std::int64_t round) {
  const std::size_t before = flows_.size();
  for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
    for (collectives::Rank lane = 0; lane < lanes_; ++lane) {
      transfers_.clear();
      rounds.lane_sends(rank, lane, round, transfers_);
      for (const collectives::Transfer& transfer : transfers_) {
        const collectives::Rank from = rank * lanes_ + lane;
        const collectives::Rank to = transfer.peer * lanes_ + lane;
        const auto earlier = std::span(flows_).first(before);
        const auto same = [&](const Flow& flow) { return flow.from == from && flow.to == to; };
        if (const auto known = std::ranges::find_if(earlier, same); known != earlier.end()) {
          known->bytes += transfer.bytes;
          continue;
        }
        Flow& flow = flows_.emplace_back();
        flow.from = from;
        flow.to = to;
        flow.bytes = transfer.bytes;
        flow.share = rounds.lane_share(rank, transfer.peer);
        flow.path = network_.path(host_of(flow.from), host_of(flow.to));
      }
    }
  }
}

/// Receivers say that they are ready: a round of messages without bytes, the other way.
void FlowModel::say_ready(std::vector<double>& dates) {
  const std::vector<Flow> messages = flows_;
  for (Flow& flow : flows_) {
    std::swap(flow.from, flow.to);
    flow.bytes = 0;
    flow.path = network_.path(hosts_[static_cast<std::size_t>(flow.from)], hosts_[static_cast<std::size_t>(flow.to)]);
  }
  const double begin = *std::ranges::max_element(dates);
  prepare();
  share_and_finish();
  one_round(dates);
  account(*std::ranges::max_element(dates) - begin, 1);
  flows_ = messages;
}

void FlowModel::prepare() {
  floors_.assign(flows_.size(), 0);
  bool with_tcp = false;
  for (Flow& flow : flows_) {
    const Path& path = network_[flow.path];
    if (path.use.transport == spec::Transport::tcp) {
      with_tcp = true;
      continue;
    }
    const PathUse::Cost cost = path.use.cost(flow.bytes, in_bulk_);
    flow.wire_bytes = cost.wire_bytes;
    flow.after = path.latency + cost.overhead;
  }
  if (!with_tcp) return;
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
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
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
    flow.before = tcp::kSoftware;
    for (std::size_t k = 0; k < fare.tightest; ++k) flow.before += network_.link(there[k]).latency;
    flow.after = latency - flow.before;
    floors_[i] = fare.floor;
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

std::vector<double> FlowModel::rates(const std::vector<std::size_t>& flows) {
  std::vector<double> capacity;
  std::unordered_map<std::int32_t, std::int32_t> index_of;
  std::vector<std::vector<std::int32_t>> links(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    for (const std::int32_t link : network_[flows_[flows[i]].path].links) {
      const NetworkLink& entry = network_.link(link);
      if (entry.shared) {
        const auto [position, added] = index_of.try_emplace(link, static_cast<std::int32_t>(capacity.size()));
        if (added) capacity.push_back(entry.bandwidth);
        links[i].push_back(position->second);
      } else {
        links[i].push_back(static_cast<std::int32_t>(capacity.size()));  // everybody has all of it
        capacity.push_back(entry.bandwidth);
      }
    }
  }
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const Flow& flow = flows_[flows[i]];
    if (flow.share >= 1) continue;
    const PathUse& use = network_[flow.path].use;
    links[i].push_back(static_cast<std::int32_t>(capacity.size()));
    capacity.push_back(flow.share * use.payload_rate / use.efficiency);
  }
  std::vector<const std::vector<std::int32_t>*> on_path;
  on_path.reserve(links.size());
  for (const auto& of_flow : links) on_path.push_back(&of_flow);
  return max_min_rates(capacity, on_path);
}

/// All pairs go on at the same time throughout.
void FlowModel::share_once() {
  std::vector<std::size_t> all(flows_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<double> rate = rates(all);
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    flows_[i].seconds = std::max(flows_[i].wire_bytes / rate[i], floors_[i]);
  }
}

/// All begin together, or in turn; who is through leaves its share to the others.
void FlowModel::share_and_finish() {
  std::vector<std::size_t> active;
  std::vector<std::size_t> to_come;  // by when they begin, the last first
  std::vector<double> left(flows_.size());
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    left[i] = flows_[i].wire_bytes;
    flows_[i].seconds = std::max(0.0, floors_[i] - flows_[i].in_turn);
    if (left[i] > 0) to_come.push_back(i);
  }
  std::ranges::stable_sort(to_come, std::greater(), [this](std::size_t flow) { return flows_[flow].in_turn; });
  double time = 0;
  for (int change = 0; !active.empty() || !to_come.empty(); ++change) {
    if (change == kMostChanges) {
      throw FlowRefused(
          fmt::format("messages of one round begin and end at more than {} different times", kMostChanges));
    }
    if (active.empty()) time = std::max(time, flows_[to_come.back()].in_turn);
    while (!to_come.empty() && flows_[to_come.back()].in_turn <= time * (1 + kSameTime)) {
      active.push_back(to_come.back());
      to_come.pop_back();
    }
    const std::vector<double> rate = rates(active);
    double next = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < active.size(); ++i) next = std::min(next, left[active[i]] / rate[i]);
    if (!to_come.empty()) next = std::min(next, flows_[to_come.back()].in_turn - time);
    time += next;
    std::vector<std::size_t> going_on;
    for (std::size_t i = 0; i < active.size(); ++i) {
      const std::size_t flow = active[i];
      left[flow] -= rate[i] * next;
      if (left[flow] <= kSameTime * flows_[flow].wire_bytes) {
        flows_[flow].seconds = std::max(time, floors_[flow]) - flows_[flow].in_turn;
      } else {
        going_on.push_back(flow);
      }
    }
    active.swap(going_on);
  }
}

void FlowModel::one_round(std::vector<double>& dates) const {
  std::vector<double> after = dates;
  for (const Flow& flow : flows_) {
    const double arrival =
        dates[static_cast<std::size_t>(flow.from)] + flow.before + flow.in_turn + flow.seconds + flow.after;
    double& date = after[static_cast<std::size_t>(flow.to)];
    date = std::max(date, arrival);
  }
  dates.swap(after);
}

void FlowModel::many_rounds(std::int64_t rounds, std::vector<double>& dates) {
  if (rounds * static_cast<std::int64_t>(flows_.size()) > kStepsBySteps) {
    around_rings(rounds, dates);
    return;
  }
  std::int64_t most_in_line = kManyInLine;
  for (const Flow& flow : flows_) most_in_line = std::min(most_in_line, flow.most_in_line);
  std::vector<double> free(flows_.size(), -1);  // when the pair's last transfer was over
  std::vector<double> after(dates.size());
  for (std::int64_t round = 0; round < rounds; ++round) {
    after = dates;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      const Flow& flow = flows_[i];
      const double sent = dates[static_cast<std::size_t>(flow.from)];
      if (sent + static_cast<double>(most_in_line - 1) * flow.seconds < free[i] && most_in_line < kManyInLine) {
        throw FlowRefused(in_line);
      }
      free[i] = (sent > free[i] ? sent + flow.before : free[i]) + flow.seconds;
      double& date = after[static_cast<std::size_t>(flow.to)];
      date = std::max(date, free[i] + flow.after);
    }
    dates.swap(after);
  }
}

/// Rings with many rounds. In each round the longest chain of causes either stays on a pair, whose transfers follow one
/// another, or moves on to the next pair with the message's latency. Staying pays on the slowest pair; moving through a
/// pair gains (its whole time − the slowest transfer). So the time is that of the slowest pair in every round, plus the
/// best gain of a stretch of at most `rounds` pairs in a row, which may go around more than once.
void FlowModel::around_rings(std::int64_t rounds, std::vector<double>& dates) const {
  std::vector<std::int32_t> out(dates.size(), -1);
  std::vector<int> in(dates.size(), 0);
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    std::int32_t& of_rank = out[static_cast<std::size_t>(flows_[i].from)];
    if (of_rank >= 0 || ++in[static_cast<std::size_t>(flows_[i].to)] > 1) {
      throw FlowRefused("many rounds in which ranks send or receive several messages");
    }
    of_rank = static_cast<std::int32_t>(i);
  }
  std::vector<bool> seen(dates.size(), false);
  for (std::size_t first = 0; first < dates.size(); ++first) {
    if (seen[first] || out[first] < 0) continue;
    std::vector<std::size_t> ring;  // flows in order
    for (std::size_t rank = first; !seen[rank]; rank = static_cast<std::size_t>(flows_[ring.back()].to)) {
      if (out[rank] < 0) throw FlowRefused("many rounds along a chain of ranks");
      seen[rank] = true;
      ring.push_back(static_cast<std::size_t>(out[rank]));
    }
    double slowest = 0;
    double begin = 0;
    for (const std::size_t flow : ring) {
      slowest = std::max(slowest, flows_[flow].seconds);
      begin = std::max(begin, dates[static_cast<std::size_t>(flows_[flow].from)]);
    }
    for (const std::size_t flow : ring) {
      if (flows_[flow].most_in_line == kManyInLine) continue;
      // A quicker pair of the ring hands on faster than this one carries.
      for (const std::size_t other : ring) {
        if (flows_[other].seconds < (1 - kSameTime) * flows_[flow].seconds) throw FlowRefused(in_line);
      }
    }
    const auto size = static_cast<std::int64_t>(ring.size());
    std::vector<double> gain;
    double whole = 0;
    for (const std::size_t flow : ring) {
      gain.push_back(flows_[flow].before + flows_[flow].seconds + flows_[flow].after - slowest);
      whole += gain.back();
    }
    // Whole turns, as many as fit if they gain; then the best stretch of what is left, twice around at most.
    const std::int64_t turns = whole > 0 ? rounds / size : 0;
    const std::int64_t longest = std::min(rounds - turns * size, size);
    double best = 0;
    std::vector<double> sum{0};  // of gains up to a place, two turns long
    for (std::int64_t i = 0; i < 2 * size; ++i) sum.push_back(sum.back() + gain[static_cast<std::size_t>(i % size)]);
    std::vector<std::int64_t> least;  // places with rising sums, within `longest` behind
    std::size_t head = 0;
    for (std::int64_t i = 0; i <= 2 * size; ++i) {
      while (head < least.size() && least[head] < i - longest) ++head;
      while (least.size() > head && sum[static_cast<std::size_t>(least.back())] >= sum[static_cast<std::size_t>(i)])
        least.pop_back();
      least.push_back(i);
      best = std::max(best, sum[static_cast<std::size_t>(i)] - sum[static_cast<std::size_t>(least[head])]);
    }
    // The last message of all has its latency behind it, moved on or not.
    double last = std::numeric_limits<double>::infinity();
    for (const std::size_t flow : ring) last = std::min(last, flows_[flow].before + flows_[flow].after);
    const double seconds =
        static_cast<double>(rounds) * slowest + std::max(last, static_cast<double>(turns) * whole + best);
    for (const std::size_t flow : ring) dates[static_cast<std::size_t>(flows_[flow].to)] = begin + seconds;
  }
}

}  // namespace dadsim::sim
