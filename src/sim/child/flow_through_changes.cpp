#include "sim/child/flow_through_changes.hpp"

#include <algorithm>
#include <cstddef>

namespace dadsim::sim {
namespace {

constexpr std::size_t kMostKept = 8;  // states whose flows are kept: each may take a gigabyte

void add_to(std::vector<double>& sum, const std::vector<double>& more, double share) {
  sum.resize(std::max(sum.size(), more.size()), 0);
  for (std::size_t i = 0; i < more.size(); ++i) sum[i] += share * more[i];
}

}  // namespace

FlowThroughChanges::FlowThroughChanges(const Cluster& cluster, LoadedCluster& loaded, bool closed_form)
    : loaded_(loaded), closed_form_(closed_form), quick_(cluster.flow_alone) {}

FlowThroughChanges::Steady& FlowThroughChanges::steady_at(double date) {
  const SteadyStates::State state = loaded_.states.at(date);
  if (const auto found = known_.find(state); found != known_.end()) return found->second;
  if (known_.size() == kMostKept) known_.erase(known_.begin());
  Steady& made = known_[state];
  if (!loaded_.states.empty()) {
    std::vector<Interconnect::Fixed> fixed;
    for (const SteadyStates::Numbers& one : loaded_.states.numbers(state))
      fixed.push_back({one.link, one.bandwidth, one.latency});
    made.network = std::make_unique<Interconnect>(*loaded_.network, fixed);
  }
  Interconnect& network = made.network ? *made.network : *loaded_.network;
  made.steps = std::make_unique<StepsByFlow>(loaded_.nodes, network, closed_form_, quick_);
  return made;
}

Refused FlowThroughChanges::time_in(Steady& steady, const collectives::RankLayout& layout,
                                    const schedule::Schedule& schedule, const std::vector<double>& slowdown,
                                    TimelineRecorder* recorder) {
  const bool again = steady.schedule != nullptr && slowdown.empty() && recorder == nullptr &&
                     (steady.schedule == &schedule || *steady.schedule == schedule);
  if (again) return {};
  steady.schedule = nullptr;
  if (Refused refused = steady.steps->time(layout, schedule, slowdown, steady.last, recorder)) return refused;
  if (slowdown.empty()) steady.schedule = &schedule;
  return {};
}

void FlowThroughChanges::add(const FlowStep& step, const Steady& steady, double share, FlowStep& sum) {
  step::StepTiming& all = sum.timing;
  const step::StepTiming& one = step.timing;
  all.seconds += share * one.seconds;
  all.compute_seconds += share * one.compute_seconds;
  all.exposed_seconds += share * one.exposed_seconds;
  all.compression_seconds += share * one.compression_seconds;
  all.waiting_seconds += share * one.waiting_seconds;
  add_to(all.bytes_sent, one.bytes_sent, share);
  add_to(all.bytes_received, one.bytes_received, share);
  add_to(all.busy_seconds, one.busy_seconds, share);
  for (const step::Bound& bound : one.bounds) {
    const auto known = std::ranges::find_if(all.bounds, [&](const step::Bound& other) {
      return other.resource == bound.resource && other.kind == bound.kind;
    });
    if (known != all.bounds.end()) {
      known->seconds += share * bound.seconds;
    } else {
      all.bounds.emplace_back(bound).seconds *= share;
    }
  }
  sum.overlooked += share * step.overlooked;
  sum.wrong_by += share * step.wrong_by;
  sum.shared_wrong_by += share * step.shared_wrong_by;
  for (std::size_t i = 0; i < step.loads.size(); ++i) {
    const auto link = static_cast<std::size_t>(loaded_.network->index_of(steady.network->links()[i].link));
    if (link >= sum.loads.size()) sum.loads.resize(link + 1);
    sum.loads[link].payload += share * step.loads[i].payload;
    sum.loads[link].wire += share * step.loads[i].wire;
  }
}

Refused FlowThroughChanges::time(double date, const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                                 const std::vector<double>& slowdown, FlowStep& result, TimelineRecorder* recorder) {
  double left = 1, least = 0, most = 0;
  for (double now = date; left > 0;) {
    Steady& steady = steady_at(now);
    last_ = &steady;
    if (Refused refused = time_in(steady, layout, schedule, slowdown, now == date ? recorder : nullptr)) return refused;
    const FlowStep& step = steady.last;
    if (loaded_.states.empty()) {
      result = step;
      return {};
    }
    const double seconds = step.timing.seconds, until = loaded_.states.next(now);
    const double share = seconds > 0 ? std::min(left, (until - now) / seconds) : left;
    add(step, steady, share, result);
    least = now == date ? seconds : std::min(least, seconds);
    most = std::max(most, seconds);
    left = share < left ? left - share : 0;
    now = until;
  }
  std::ranges::sort(result.timing.bounds, std::ranges::greater{}, &step::Bound::seconds);
  for (step::Bound& bound : result.timing.bounds) bound.share = bound.seconds / result.timing.seconds;
  result.across_changes = std::max(most - result.timing.seconds, result.timing.seconds - least);
  return {};
}

}  // namespace dadsim::sim
