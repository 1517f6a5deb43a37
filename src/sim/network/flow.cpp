#include "sim/network/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

#include "sim/network/flow_events.hpp"

namespace dadsim::sim {
namespace {

constexpr double kPlainDoubt = 0.01;  // of the time: three times what is let pass

}  // namespace

Refused FlowModel::run(const collectives::Rounds& rounds, std::vector<double>& dates) {
  if (followed_.again(rounds, dates)) return {};
  const std::vector<double> begin = dates;
  const bool may_follow = FlowEvents::serves_without_loss(ranks_.network);
  const bool overlap = rounds.pace().in_flight > 1 || (follows_ && may_follow);
  double seconds = 0;
  for (bool to_the_end = !may_follow;; to_the_end = true, dates = begin) {
    std::string reason;
    InStep how{.to_the_end = false};
    if (!overlap || to_the_end) how = in_step(rounds, dates, to_the_end);
    if (how.refused) {
      reason = how.refused->fault;
    } else if (how.to_the_end) {
      seconds = *std::ranges::max_element(dates) - *std::ranges::max_element(begin);
      if (check_.doubt() <= kMostDoubt * seconds && !overlap) return {};
      reason = overlap ? "ranks are in several rounds at a time"
                       : fmt::format("ranks get out of step, by up to {:.3g} s of {:.3g} s", check_.doubt(), seconds);
    }
    // Which links there are is known better by now.
    if (!FlowEvents::serves_without_loss(ranks_.network)) return FlowRefusal{reason, seconds};
    dates = begin;
    keep_nothing();  // what was worked out in step is of no use any more
    const Refused refused = followed_.run(rounds, dates, account_, solved_);
    if (!refused) return {};
    // What it would come to is part of the answer.
    if (!reason.empty()) return FlowRefusal{reason + ", and " + refused->fault, seconds};
  }
}

Refused FlowModel::solve(const collectives::Rounds& rounds, std::vector<double>& done, MaxPlusRounds& solved) {
  solved_ = &solved;
  Refused refused = run(rounds, done);
  solved_ = nullptr;
  if (!refused && followed_.may_lose(rounds)) solved.give_up();  // what is lost depends on who comes when
  if (!refused) solved.settle(done);
  return refused;
}

void FlowModel::keep_nothing() {
  known_ = nullptr;
  dates_.forget_patterns();
  check_.forget_patterns();
  timed_.clear();
  patterns_.forget();
  memory_.forget();
}

FlowModel::InStep FlowModel::in_step(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end) {
  if (solved_ != nullptr) solved_->begin(rounds);
  account_.forget_spent();
  check_.start();
  followed_.others_follow(rounds);
  ranks_.lanes = rounds.lanes();
  ranks_.protocol = rounds.protocol();
  ranks_.post_seconds = rounds.post_seconds();
  for (double& date : dates) date += rounds.start_seconds();
  if (ranks_.lanes == 1) return run_lanes(rounds, dates, to_the_end);
  const auto lanes = static_cast<std::size_t>(ranks_.lanes);
  std::vector<double> of_lanes(dates.size() * lanes);
  for (std::size_t i = 0; i < of_lanes.size(); ++i) of_lanes[i] = dates[i / lanes];
  InStep how = run_lanes(rounds, of_lanes, to_the_end);
  for (std::size_t i = 0; i < of_lanes.size(); ++i) dates[i / lanes] = std::max(dates[i / lanes], of_lanes[i]);
  return how;
}

FlowModel::InStep FlowModel::run_lanes(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end) {
  dates_.forget_patterns();
  if (known_ == &rounds) {
    const double begin = *std::ranges::max_element(dates);
    for (const RoundFlows& timed : timed_) {
      if (Refused refused = go_on(timed, dates)) return {.refused = std::move(refused)};
      if (!to_the_end && timed.reached > 0 && is_plain(timed.reached, rounds.count(), dates, begin))
        return {.to_the_end = false};
    }
    dates_.expand(dates);
    return {};
  }
  const bool from_one_date = std::ranges::adjacent_find(dates, std::not_equal_to()) == dates.end();
  keeps_ = !from_one_date || once_ == &rounds;
  once_ = &rounds;
  InStep how = work_out(rounds, dates, to_the_end);
  if (how.refused || !how.to_the_end) return how;
  dates_.expand(dates);
  if (keeps_) {
    known_ = &rounds;
  } else {
    keep_nothing();
  }
  return how;
}

FlowModel::InStep FlowModel::work_out(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end) {
  keep_nothing();
  account_.forget_loads();
  patterns_.start_counting();
  const double begin = *std::ranges::max_element(dates);
  const collectives::Pace pace = rounds.pace();
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    const std::int64_t times = phase.uniform ? 1 : phase.rounds;
    const std::int64_t together = phase.uniform ? 1 : pace.in_flight;
    for (std::int64_t i = 0; i < times; i += together) {
      const std::int64_t first = phase.first + i;
      const std::int64_t end = phase.first + std::min(i + together, times);
      if (pace.handshake != collectives::Pace::Handshake::eager) {
        // Receivers say that they are ready: a round of messages without bytes, the other way.
        if (KnownPattern* ready = patterns_.of(rounds, first, end, true, flows_)) {
          if (Refused refused = time_rounds(*ready, 1, dates)) return {.refused = std::move(refused)};
        }
      }
      if (KnownPattern* known = patterns_.of(rounds, first, end, false, flows_)) {
        if (Refused refused = time_rounds(*known, phase.uniform ? phase.rounds : 1, dates))
          return {.refused = std::move(refused)};
      }
      const std::int64_t reached = phase.uniform ? phase.first + phase.rounds : end;
      if (!timed_.empty()) timed_.back().reached = reached;
      if (!to_the_end && is_plain(reached, rounds.count(), dates, begin)) return {.to_the_end = false};
    }
  }
  for (const auto& known : patterns_.all()) account_.count_loads(*known);
  return {};
}

/// As if the rounds that are left took as long each, and nothing more came to be in doubt.
bool FlowModel::is_plain(std::int64_t rounds, std::int64_t all, const std::vector<double>& dates, double begin) const {
  if (!(check_.doubt() > 0)) return false;
  const double each = (*std::ranges::max_element(dates_.reached(dates)) - begin) / static_cast<double>(rounds);
  return check_.doubt() > kPlainDoubt * each * static_cast<double>(all);
}

Refused FlowModel::time_rounds(KnownPattern& known, std::int64_t rounds, std::vector<double>& dates) {
  rates_.prepare(flows_);
  if (rounds == 1) {
    if (Refused refused = rates_.share_and_finish(known.pattern, flows_)) return refused;
  } else {
    rates_.share_once(known.pattern, flows_);
  }
  RoundFlows timed;
  timed.known = &known;
  timed.rounds = rounds;
  timed.flows = flows_;
  timed.contended = rates_.is_contended(flows_);
  account_.describe(timed);
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    known.carried[i].payload += static_cast<double>(rounds) * flows_[i].bytes;
    known.carried[i].wire += static_cast<double>(rounds) * flows_[i].wire_bytes;
  }
  ++known.used;
  if (solved_ != nullptr) describe(timed);
  if (Refused refused = go_on(timed, dates)) return refused;
  if (keeps_) {
    memory_.keep(8 * flows_.size());
    timed_.push_back(std::move(timed));
  }
  if (!memory_.is_full()) return {};
  // Too much to keep: this pattern may be the next round's too.
  keeps_ = false;
  timed_.clear();
  memory_.forget();
  memory_.keep(known.pattern.pairs.size());
  if (patterns_.all().size() == 1) return {};
  dates_.expand(dates);
  for (const auto& one : patterns_.all()) {
    if (one.get() != &known) account_.count_loads(*one);
  }
  patterns_.forget_all_but(known);
  return {};
}

void FlowModel::describe(const RoundFlows& timed) {
  std::vector<MaxPlusRounds::Message> messages;
  for (const RoundFlow& flow : timed.flows) {
    messages.push_back({flow.before + flow.in_turn, flow.seconds, flow.after,
                        flow.wire_bytes > 0 ? std::min(flow.seconds, rates_.alone(flow)) : 0});
  }
  solved_->add_round(timed.rounds);
  for (const FlowPattern::Pair& pair : timed.known->pattern.pairs) {
    solved_->add(pair.from, pair.to, 0, messages[static_cast<std::size_t>(pair.flow)]);
  }
}

Refused FlowModel::go_on(const RoundFlows& timed, std::vector<double>& dates) {
  double seconds = 0;
  if (Refused refused = dates_.go_on(timed, dates, seconds)) return refused;
  account_.spend(timed, seconds);
  return {};
}

}  // namespace dadsim::sim
