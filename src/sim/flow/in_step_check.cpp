#include "sim/flow/in_step_check.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace dadsim::sim {
namespace {

constexpr double kAtOnce = 1e-4;  // difference of dates that count as simultaneous, as a share of a transfer's time
                                  // alone
constexpr std::size_t kMostFollowed = 200'000;  // largest number of pairs of a round with individual dates
constexpr double kNotYet = std::numeric_limits<double>::infinity();

}  // namespace

void InStepCheck::start() {
  watch_.clear();
  last_in_step_ = {};
  busy_until_ = 0;
  doubt_ = 0;
}

void InStepCheck::begin_phase(bool checked) {
  if (checked) check_last_in_step();
  last_in_step_ = {};
  phase_begin_ = checks_ + 1;
}

void InStepCheck::is_busy_until(double date) { busy_until_ = std::max(busy_until_, date); }

bool InStepCheck::begins_in_step(const RoundFlows& timed, const std::vector<Pair>& pairs,
                                 const std::vector<double>& dates) {
  double first = kNotYet;
  double last = -kNotYet;
  double least = kNotYet;
  double until = busy_until_;
  for (const Pair& pair : pairs) {
    const RoundFlow& flow = timed.flows[static_cast<std::size_t>(pair.flow)];
    if (!(flow.wire_bytes > 0)) continue;
    const double begin = dates[static_cast<std::size_t>(pair.from)] + flow.before;
    first = std::min(first, begin);
    last = std::max(last, begin);
    until = std::max(until, begin + flow.in_turn + flow.seconds);
  }
  for (const RoundFlow& flow : timed.flows) {
    if (flow.wire_bytes > 0) least = std::min(least, rates_.alone(flow));
  }
  if (first == kNotYet) return true;  // no pair sends bytes
  if (last - first > kAtOnce * least || first < busy_until_) return false;
  last_in_step_ = {timed.known, timed.flows, first};
  busy_until_ = until;
  return true;
}

void InStepCheck::check_last_in_step() {
  if (last_in_step_.known == nullptr) return;
  const LastInStep last = std::exchange(last_in_step_, {});
  std::vector<double> begins;
  for (const Pair& pair : last.known->pattern.pairs)
    begins.push_back(last.begin + last.flows[static_cast<std::size_t>(pair.flow)].in_turn);
  check(*last.known, last.known->pattern.pairs, last.flows, begins, {}, true, 1);
}

Refused InStepCheck::out_of_step(const RoundFlows& timed, const std::vector<double>& dates, std::vector<Pair>& pairs,
                                 std::vector<RoundFlow>& flows) {
  check_last_in_step();
  const KnownPattern& known = *timed.known;
  pairs = known.pattern.pairs;
  flows = timed.flows;
  std::vector<double> begins;
  begins.reserve(pairs.size());
  double least = kNotYet;
  double most = -kNotYet;
  for (const Pair& pair : pairs) {
    const RoundFlow& flow = flows[static_cast<std::size_t>(pair.flow)];
    const double date = dates[static_cast<std::size_t>(pair.from)];
    begins.push_back(date + flow.before + flow.in_turn);
    if (!rates_.over_tcp(flow)) continue;
    least = std::min(least, date);
    most = std::max(most, date);
  }
  // Computes each pair's rates from its own date, if dates matter and pairs are few enough.
  const bool by_dates = !timed.contended || !known.pattern.is_divided || pairs.size() <= kMostFollowed;
  if (by_dates && timed.contended) {
    std::vector<RoundFlow> of_pairs;
    of_pairs.reserve(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      of_pairs.push_back(flows[static_cast<std::size_t>(pairs[i].flow)]);
      pairs[i].flow = static_cast<std::int32_t>(i);
    }
    flows = std::move(of_pairs);
    if (Refused refused = rates_.share_by_dates(known.pattern, flows, begins)) return refused;
  }
  if (most > least) doubt_ += rates_.tcp_doubt(flows, most - least);
  check(known, pairs, flows, begins, {}, by_dates, 1);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    busy_until_ = std::max(busy_until_, begins[i] + flows[static_cast<std::size_t>(pairs[i].flow)].seconds);
  }
  return {};
}

void InStepCheck::check(const KnownPattern& known, const std::vector<Pair>& pairs, const std::vector<RoundFlow>& flows,
                        const std::vector<double>& begins, const std::vector<bool>& steady, bool by_dates,
                        double times) {
  watch_.resize(ranks_.network.links().size());
  ++checks_;
  double most = 0;
  const bool one_by_one = steady.empty();  // false: the rounds belong to a phase
  if (!one_by_one) {
    // Adds doubt over TCP: a pair that finishes its message early is idle while others continue.
    double least = kNotYet;
    double longest = 0;
    for (const RoundFlow& flow : flows) {
      if (!rates_.over_tcp(flow)) continue;
      least = std::min(least, flow.seconds);
      longest = std::max(longest, flow.seconds);
    }
    if (longest > least) most = rates_.tcp_doubt(flows, longest - least);
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const RoundFlow& flow = flows[static_cast<std::size_t>(pairs[i].flow)];
    if (!(flow.wire_bytes > 0)) continue;
    const double end = begins[i] + flow.seconds;
    const double rate = flow.wire_bytes / std::max(flow.seconds, std::numeric_limits<double>::min());
    const std::span<const std::int32_t> links = ranks_.links_of(known.pattern, flow.path, i);
    watch_.resize(ranks_.network.links().size());  // allows for links added by paths used for the first time
    for (const std::int32_t index : links) {
      LinkWatch& link = watch_[static_cast<std::size_t>(index)];
      if (link.round != checks_) {
        if (one_by_one || link.round < phase_begin_) {
          link.busy_until = std::max(link.busy_until, link.until);
          link.busy_behind = link.behind;
        }
        link.round = checks_;
        link.first = kNotYet;
        link.last = -kNotYet;
        link.fastest = link.behind = link.until = 0;
      }
      link.behind += rate;
      link.until = std::max(link.until, end);
      link.fastest += flow.wire_bytes / rates_.alone(flow);
      if (by_dates || (!one_by_one && steady[i])) continue;
      link.first = std::min(link.first, begins[i]);
      link.last = std::max(link.last, begins[i]);
    }
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const RoundFlow& flow = flows[static_cast<std::size_t>(pairs[i].flow)];
    if (!(flow.wire_bytes > 0)) continue;
    const double own = flow.wire_bytes / rates_.alone(flow);
    double late = 0;
    const std::span<const std::int32_t> links = ranks_.links_of(known.pattern, flow.path, i);
    for (const std::int32_t index : links) {
      const NetworkLink& shared = ranks_.network.link(index);
      if (!shared.shared) continue;
      const LinkWatch& link = watch_[static_cast<std::size_t>(index)];
      if (link.busy_until > begins[i] && own + link.busy_behind > shared.bandwidth * kRoundedRates) {
        late = std::max(late, link.busy_until - begins[i]);
      }
      // Adds the time for which pairs with different dates have the link to themselves.
      if (!by_dates && link.last > link.first && link.fastest > shared.bandwidth * kRoundedRates) {
        most = std::max(most, std::min(link.last - link.first, flow.seconds - rates_.alone(flow)));
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
