#include "sim/network/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "sim/network/flow_events.hpp"
#include "support/flat_map.hpp"

namespace dadsim::sim {
namespace {

constexpr double kSameDates = 1e-12;  // seconds, as events count as one
constexpr double kPlainDoubt = 0.01;  // of the time: three times what is let pass

std::uint64_t key_of(const FlowPattern::Pair& pair) {
  return static_cast<std::uint64_t>(pair.from) << 32U | static_cast<std::uint32_t>(pair.to);
}

/// Numbers for kinds of messages, in the order in which they are met.
class KindNumbers {
 public:
  explicit KindNumbers(std::vector<FlowPattern::Kind>& kinds) : kinds_(kinds) {}

  std::int32_t of(const FlowPattern::Kind& kind) {
    if (last_ < kinds_.size() && kinds_[last_] == kind) return static_cast<std::int32_t>(last_);
    const std::uint64_t key = std::bit_cast<std::uint64_t>(kind.bytes) ^
                              (std::bit_cast<std::uint64_t>(kind.share) * 31) ^
                              (static_cast<std::uint64_t>(kind.number) << 52U);
    for (std::uint64_t probe = key;; ++probe) {  // two kinds hardly ever have the same key
      const auto [number, added] = number_of_.try_emplace(probe, static_cast<std::int32_t>(kinds_.size()));
      if (added) kinds_.push_back(kind);
      last_ = static_cast<std::size_t>(*number);
      if (kinds_[last_] == kind) return *number;
    }
  }

 private:
  std::vector<FlowPattern::Kind>& kinds_;
  FlatMap<std::int32_t> number_of_;
  std::size_t last_ = 0;
};

}  // namespace

void FlowModel::run(const collectives::Rounds& rounds, std::vector<double>& dates) {
  if (by_events_ == &rounds) return by_events(rounds, dates);
  const std::vector<double> begin = dates;
  const bool overlap = rounds.pace().in_flight > 1;
  bool to_the_end = !FlowEvents(network_, hosts_).serves();
  std::string reason;
  double seconds = 0;
  for (;; to_the_end = true, dates = begin) {
    try {
      if (overlap && !to_the_end) throw OutOfStep();
      in_step(rounds, dates, to_the_end);
      seconds = *std::ranges::max_element(dates) - *std::ranges::max_element(begin);
      if (doubt_ <= kMostDoubt * seconds && !overlap) return;
      reason = overlap ? "ranks are in several rounds at a time"
                       : fmt::format("ranks get out of step, by up to {:.3g} s of {:.3g} s", doubt_, seconds);
    } catch (const FlowRefused& refused) {
      reason = refused.what();
    } catch (const OutOfStep&) {
      reason.clear();
    }
    if (!FlowEvents(network_, hosts_).serves()) throw FlowRefused(reason, seconds);
    dates = begin;
    try {
      return by_events(rounds, dates);
    } catch (const FlowRefused& refused) {
      // What it would come to is part of the answer.
      if (!reason.empty()) throw FlowRefused(reason + ", and " + refused.what(), seconds);
    }
  }
}

void FlowModel::by_events(const collectives::Rounds& rounds, std::vector<double>& dates) {
  for (double& date : dates) date += rounds.start_seconds();
  const double begin = *std::ranges::min_element(dates);
  const bool again = by_events_ == &rounds;
  // As long after one another as before: the same, later or earlier.
  const auto is_same = [begin](double date, double before) { return std::abs(date - begin - before) < kSameDates; };
  if (again && std::ranges::equal(dates, begun_, is_same)) {
    for (std::size_t rank = 0; rank < dates.size(); ++rank) dates[rank] = begin + ended_[rank];
    return;
  }
  if (!again) keep_nothing();  // what was worked out in step is of no use any more
  if (!again || (event_classes_ && !event_classes_->hold_for(dates))) {
    event_classes_.reset();
    if (by_classes_ && rounds.pace().ready == collectives::Pace::Ready::is_taken_for_granted) {
      if (!routes_) routes_ = std::make_unique<FlowRoutes>(network_, hosts_);
      MessageGraph graph(rounds, *routes_, network_, hosts_);
      event_classes_ = graph.classes(dates);
    }
  }
  FlowEvents events(network_, hosts_);
  by_events_ = nullptr;
  begun_ = dates;
  events.run(rounds, dates, event_classes_ ? &*event_classes_ : nullptr);
  ended_ = dates;
  for (double& date : begun_) date -= begin;
  for (double& date : ended_) date -= begin;
  spent_ = events.spent();
  loads_ = events.loads();
  by_events_ = &rounds;
}

void FlowModel::keep_nothing() {
  known_ = nullptr;
  condensed_ = nullptr;
  last_in_step_ = {};
  played_.clear();
  patterns_.clear();
  memory_->kept -= kept_;
  kept_ = 0;
}

void FlowModel::in_step(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end) {
  spent_.clear();
  watch_.clear();
  last_in_step_ = {};
  busy_until_ = 0;
  doubt_ = 0;
  by_events_ = nullptr;
  lanes_ = rounds.lanes();
  protocol_ = rounds.protocol();
  for (double& date : dates) date += rounds.start_seconds();
  if (lanes_ == 1) return run_lanes(rounds, dates, to_the_end);
  const auto lanes = static_cast<std::size_t>(lanes_);
  std::vector<double> of_lanes(dates.size() * lanes);
  for (std::size_t i = 0; i < of_lanes.size(); ++i) of_lanes[i] = dates[i / lanes];
  run_lanes(rounds, of_lanes, to_the_end);
  for (std::size_t i = 0; i < of_lanes.size(); ++i) dates[i / lanes] = std::max(dates[i / lanes], of_lanes[i]);
}

void FlowModel::run_lanes(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end) {
  condensed_ = nullptr;
  if (known_ == &rounds) {
    for (const Played& played : played_) go_on(played, dates);
    return expand(dates);
  }
  const bool from_one_date = std::ranges::adjacent_find(dates, std::not_equal_to()) == dates.end();
  keeps_ = !from_one_date || once_ == &rounds;
  once_ = &rounds;
  work_out(rounds, dates, to_the_end);
  expand(dates);
  if (keeps_) {
    known_ = &rounds;
  } else {
    keep_nothing();
  }
}

void FlowModel::work_out(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end) {
  keep_nothing();
  loads_.clear();
  classes_and_pairs_ = {};
  if (!routes_) routes_ = std::make_unique<FlowRoutes>(network_, hosts_);
  const double begin = *std::ranges::max_element(dates);
  const collectives::Pace pace = rounds.pace();
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    const std::int64_t times = phase.uniform ? 1 : phase.rounds;
    const std::int64_t together = phase.uniform ? 1 : pace.in_flight;
    for (std::int64_t i = 0; i < times; i += together) {
      const std::int64_t first = phase.first + i;
      const std::int64_t end = phase.first + std::min(i + together, times);
      if (pace.ready != collectives::Pace::Ready::is_taken_for_granted) {
        // Receivers say that they are ready: a round of messages without bytes, the other way.
        if (KnownPattern* ready = pattern_of(rounds, first, end, true)) play(*ready, 1, dates);
      }
      if (KnownPattern* known = pattern_of(rounds, first, end, false)) {
        play(*known, phase.uniform ? phase.rounds : 1, dates);
      }
      if (to_the_end || !(doubt_ > 0)) continue;
      // As if the rounds that are left took as long each, and nothing more came to be in doubt.
      const std::vector<double>& reached = condensed_ != nullptr ? class_dates_ : dates;
      const double each = (*std::ranges::max_element(reached) - begin) /
                          static_cast<double>(phase.uniform ? phase.first + phase.rounds : end);
      if (doubt_ > kPlainDoubt * each * static_cast<double>(rounds.count())) throw OutOfStep();
    }
  }
  for (const auto& known : patterns_) count_loads(*known);
}

FlowModel::KnownPattern* FlowModel::pattern_of(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end,
                                               bool reversed) {
  const bool numbered = !reversed && end == first + 1 && rounds.sizes_of(first, sizes_);
  const auto size_of = [&](const FlowPattern::Kind& kind) {
    if (reversed) return 0.0;
    return numbered ? sizes_.bytes[static_cast<std::size_t>(kind.number)] : kind.bytes;
  };
  KnownPattern* result = nullptr;
  if (numbered) {
    for (const auto& known : patterns_) {
      if (known->number == sizes_.pattern) result = known.get();
    }
  }
  if (result == nullptr) {
    FlowPattern pattern = collect(rounds, first, end, numbered);
    if (pattern.pairs.empty()) return nullptr;
    if (reversed) {
      for (Pair& pair : pattern.pairs) std::swap(pair.from, pair.to);
    }
    // Rounds often have the pairs of the one before.
    const auto is_same = [&](const FlowPattern& known) {
      return known.kinds.size() == pattern.kinds.size() && known.pairs.size() == pattern.pairs.size() &&
             std::ranges::equal(known.pairs, pattern.pairs,
                                [&](const Pair& a, const Pair& b) {
                                  return a.from == b.from && a.to == b.to &&
                                         known.flows[static_cast<std::size_t>(a.flow)].kind == b.flow;
                                }) &&
             std::ranges::equal(known.kinds, pattern.kinds, {}, &FlowPattern::Kind::share, &FlowPattern::Kind::share);
    };
    for (std::size_t back = 1; back <= std::min<std::size_t>(2, patterns_.size()) && !numbered; ++back) {
      KnownPattern& known = *patterns_[patterns_.size() - back];
      if (known.number >= 0 || !is_same(known.pattern)) continue;
      result = &known;
      result->pattern.kinds = std::move(pattern.kinds);
      break;
    }
    if (result == nullptr) {
      result = patterns_.emplace_back(std::make_unique<KnownPattern>()).get();
      result->pattern = std::move(pattern);
      result->number = numbered ? sizes_.pattern : -1;
      find_classes(result->pattern, lanes_, *routes_, network_, hosts_, by_classes_);
      result->carried.resize(result->pattern.flows.size());
      keep(result->pattern.pairs.size());
      classes_and_pairs_.first += result->pattern.flows.size();
      classes_and_pairs_.second += result->pattern.pairs.size();
    }
  }
  flows_.clear();
  for (const FlowPattern::FlowClass& one : result->pattern.flows) {
    const FlowPattern::Kind& kind = result->pattern.kinds[static_cast<std::size_t>(one.kind)];
    Flow& flow = flows_.emplace_back();
    flow.from = one.from;
    flow.to = one.to;
    flow.bytes = size_of(kind);
    flow.share = kind.share;
    flow.path = one.path;
  }
  return result;
}

/// What a pair sends in rounds that are in flight together counts as one message.
FlowPattern FlowModel::collect(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end,
                               bool numbered) const {
  FlowPattern pattern;
  KindNumbers kinds(pattern.kinds);
  FlatMap<std::size_t> pair_of;  // of earlier rounds
  std::vector<collectives::Transfer> transfers;
  for (std::int64_t round = first; round < end; ++round) {
    for (std::size_t i = 0; i < pattern.pairs.size(); ++i) pair_of.try_emplace(key_of(pattern.pairs[i]), i);
    for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
      for (collectives::Rank lane = 0; lane < lanes_; ++lane) {
        transfers.clear();
        rounds.lane_sends(rank, lane, round, transfers);
        if (rank == 0 && lane == 0 && round == first) {
          pattern.pairs.reserve(transfers.size() * static_cast<std::size_t>(rounds.ranks() * lanes_));
        }
        for (const collectives::Transfer& transfer : transfers) {
          Pair pair{rank * lanes_ + lane, transfer.peer * lanes_ + lane, 0};
          const double share = rounds.lane_share(rank, transfer.peer);
          if (numbered) {
            pair.flow = kinds.of({0, share, rounds.kind_of(rank, transfer.peer)});
          } else {
            pair.flow = kinds.of({transfer.bytes, share, 0});
          }
          if (const std::size_t* earlier = round == first ? nullptr : pair_of.find(key_of(pair))) {
            Pair& known = pattern.pairs[*earlier];
            const FlowPattern::Kind before = pattern.kinds[static_cast<std::size_t>(known.flow)];
            known.flow = kinds.of({before.bytes + transfer.bytes, before.share, 0});
            continue;
          }
          pattern.pairs.push_back(pair);
        }
      }
    }
  }
  return pattern;
}

void FlowModel::play(KnownPattern& known, std::int64_t rounds, std::vector<double>& dates) {
  prepare();
  if (rounds == 1) {
    share_and_finish(known);
  } else {
    share_once(known.pattern);
  }
  Played played;
  played.known = &known;
  played.rounds = rounds;
  played.flows = flows_;
  played.contended = is_contended(flows_);
  describe(played);
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    known.carried[i].payload += static_cast<double>(rounds) * flows_[i].bytes;
    known.carried[i].wire += static_cast<double>(rounds) * flows_[i].wire_bytes;
  }
  ++known.used;
  go_on(played, dates);
  if (keeps_) {
    keep(8 * flows_.size());
    played_.push_back(std::move(played));
  }
  if (memory_->kept <= kMostKept) return;
  // Too much to keep: this pattern may be the next round's too.
  keeps_ = false;
  played_.clear();
  memory_->kept -= kept_;
  kept_ = 0;
  keep(known.pattern.pairs.size());
  if (patterns_.size() == 1) return;
  expand(dates);
  for (const auto& one : patterns_) {
    if (one.get() != &known) count_loads(*one);
  }
  std::erase_if(patterns_, [&](const auto& one) { return one.get() != &known; });
}

}  // namespace dadsim::sim
