#include "sim/network/rank_dates.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "support/flat_map.hpp"

namespace dadsim::sim {
namespace {

constexpr std::int64_t kStepsBySteps = 4'000'000;  // pairs × rounds that are gone through one by one
constexpr double kSameSpeed = 1e-9;                // relative
constexpr int kUsesToCondense = 3;                 // of a pattern, before classes of its ranks are looked for
constexpr int kPassesOverRanks = 16;

constexpr const char* kInLine =
    "messages wait in line on TCP connections that share links, and lose more the more there are";
constexpr const char* kSeveralMessages = "many rounds in which ranks send or receive several messages";

/// Whether no rank sends or receives more than one message.
bool in_single_file(const std::vector<FlowPattern::Pair>& pairs, std::size_t ranks) {
  std::vector<bool> sends(ranks);
  std::vector<bool> receives(ranks);
  for (const FlowPattern::Pair& pair : pairs) {
    const auto from = static_cast<std::size_t>(pair.from);
    const auto to = static_cast<std::size_t>(pair.to);
    if (sends[from] || receives[to]) return false;
    sends[from] = receives[to] = true;
  }
  return true;
}

std::uint64_t rank_colour(std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = a * 0x9e3779b97f4a7c15ULL + b + 1;
  h ^= h >> 32U;
  h *= 0xd6e8feb86659fd93ULL;
  h ^= h >> 32U;
  h *= 0xd6e8feb86659fd93ULL;
  return h ^ (h >> 32U);
}

}  // namespace

Refused RankDates::go_on(const RoundFlows& timed, std::vector<double>& dates, double& seconds) {
  KnownPattern& known = *timed.known;
  const bool many = timed.rounds > 1;
  const auto steps_of = [&](std::size_t pairs) { return timed.rounds * static_cast<std::int64_t>(pairs); };
  const bool step_by_step = !many || steps_of(known.pattern.pairs.size()) <= kStepsBySteps;
  const bool as_rings = !step_by_step && in_single_file(known.pattern.pairs, dates.size());
  // Where links are shared it matters when each pair begins.
  const bool checked = many && step_by_step && timed.contended;
  if (condensed_ != &known || as_rings || checked) expand(dates);
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what has just been compared with an address is not at it
  if (condensed_ == nullptr && !as_rings && !checked && (known.used >= kUsesToCondense || many)) condense(known, dates);
  std::vector<double>& current = condensed_ != nullptr ? class_dates_ : dates;
  const std::vector<Pair>& pairs = condensed_ != nullptr ? known.ranks->pairs : known.pattern.pairs;
  const double begin = *std::ranges::max_element(current);
  if (!many) {
    if (check_.begins_in_step(timed, pairs, current)) {
      one_round(pairs, timed.flows, current);
    } else {
      expand(dates);
      std::vector<Pair> apart;
      std::vector<RoundFlow> flows;
      if (Refused refused = check_.out_of_step(timed, dates, apart, flows)) return refused;
      one_round(apart, flows, dates);
      seconds = *std::ranges::max_element(dates) - begin;
      return {};
    }
  } else if (as_rings) {
    if (Refused refused = around_rings(timed, current)) return refused;
  } else if (steps_of(pairs.size()) <= kStepsBySteps) {
    if (Refused refused = many_rounds(pairs, timed, checked, current)) return refused;
  } else {
    return FlowRefusal{kSeveralMessages};
  }
  seconds = *std::ranges::max_element(current) - begin;
  return {};
}

void RankDates::condense(KnownPattern& known, const std::vector<double>& dates) {
  if (!known.ranks) find_classes_of_ranks(known, dates.size());
  const RankClasses& ranks = *known.ranks;
  if (ranks.count == 0) return;
  class_dates_.assign(ranks.count, -std::numeric_limits<double>::infinity());
  for (std::size_t rank = 0; rank < dates.size(); ++rank) {
    double& of_class = class_dates_[static_cast<std::size_t>(ranks.class_of[rank])];
    if (of_class >= 0 && of_class != dates[rank]) return;
    of_class = dates[rank];
  }
  condensed_ = &known;
}

void RankDates::expand(std::vector<double>& dates) {
  if (condensed_ == nullptr) return;
  const std::vector<std::int32_t>& class_of = condensed_->ranks->class_of;
  for (std::size_t rank = 0; rank < dates.size(); ++rank) {
    dates[rank] = class_dates_[static_cast<std::size_t>(class_of[rank])];
  }
  condensed_ = nullptr;
}

/// By colour refinement, as of flows and links (FlowPattern): what arrives at a rank says when it goes on.
void RankDates::find_classes_of_ranks(KnownPattern& known, std::size_t ranks) {
  RankClasses& result = known.ranks.emplace(RankClasses{});
  const std::vector<Pair>& pairs = known.pattern.pairs;
  const std::size_t most = ranks / 4;
  std::vector<std::uint64_t> colours(ranks, 0);
  std::vector<std::uint64_t> arriving(ranks);
  std::size_t distinct = 1;
  for (int pass = 0;; ++pass) {
    std::ranges::fill(arriving, 0);
    for (const Pair& pair : pairs) {
      arriving[static_cast<std::size_t>(pair.to)] +=
          rank_colour(colours[static_cast<std::size_t>(pair.from)], static_cast<std::uint64_t>(pair.flow));
    }
    FlatMap<std::int32_t> class_of_colour;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      colours[rank] = rank_colour(colours[rank], arriving[rank]);
      class_of_colour.try_emplace(colours[rank], static_cast<std::int32_t>(class_of_colour.size()));
      if (class_of_colour.size() > most) return;
    }
    if (class_of_colour.size() == distinct) {
      for (const std::uint64_t colour : colours) result.class_of.push_back(*class_of_colour.find(colour));
      break;
    }
    if (pass == kPassesOverRanks) return;
    distinct = class_of_colour.size();
  }
  // What arrives at the first rank of each class.
  std::vector<std::int32_t> first(distinct, -1);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::int32_t& of_class = first[static_cast<std::size_t>(result.class_of[rank])];
    if (of_class < 0) of_class = static_cast<std::int32_t>(rank);
  }
  for (const Pair& pair : pairs) {
    const std::int32_t to = result.class_of[static_cast<std::size_t>(pair.to)];
    if (first[static_cast<std::size_t>(to)] != pair.to) continue;
    result.pairs.push_back({result.class_of[static_cast<std::size_t>(pair.from)], to, pair.flow});
  }
  result.count = distinct;
}

void RankDates::one_round(const std::vector<Pair>& pairs, const std::vector<RoundFlow>& flows,
                          std::vector<double>& dates) {
  std::vector<double> after = dates;
  for (const Pair& pair : pairs) {
    const RoundFlow& flow = flows[static_cast<std::size_t>(pair.flow)];
    const double arrival =
        dates[static_cast<std::size_t>(pair.from)] + flow.before + flow.in_turn + flow.seconds + flow.after;
    double& date = after[static_cast<std::size_t>(pair.to)];
    date = std::max(date, arrival);
  }
  dates.swap(after);
}

Refused RankDates::many_rounds(const std::vector<Pair>& pairs, const RoundFlows& timed, bool checked,
                               std::vector<double>& dates) {
  std::int64_t most_in_line = kManyInLine;
  for (const RoundFlow& flow : timed.flows) most_in_line = std::min(most_in_line, flow.most_in_line);
  check_.begin_phase(checked);
  std::vector<double> begins(pairs.size());
  std::vector<bool> steady(pairs.size());
  std::vector<double> free(pairs.size(), -1);  // when the pair's last transfer was over
  std::vector<double> after(dates.size());
  for (std::int64_t round = 0; round < timed.rounds; ++round) {
    after = dates;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const RoundFlow& flow = timed.flows[static_cast<std::size_t>(pairs[i].flow)];
      const double sent = dates[static_cast<std::size_t>(pairs[i].from)];
      if (sent + static_cast<double>(most_in_line - 1) * flow.seconds < free[i] && most_in_line < kManyInLine) {
        return FlowRefusal{kInLine};
      }
      steady[i] = sent + (flow.beside ? flow.before : 0) <= free[i];
      begins[i] = steady[i] ? free[i] : sent + flow.before;
      free[i] = begins[i] + flow.seconds;
      double& date = after[static_cast<std::size_t>(pairs[i].to)];
      date = std::max(date, free[i] + flow.after);
    }
    if (checked && std::has_single_bit(static_cast<std::uint64_t>(round + 1))) {
      const auto stands_for = static_cast<double>(std::min(round + 1, timed.rounds - round));
      check_.check(*timed.known, pairs, timed.flows, begins, steady, false, stands_for);
    }
    dates.swap(after);
  }
  for (const double end : free) check_.is_busy_until(end);
  return {};
}

/// Rings with many rounds. In each round the longest chain of causes either stays on a pair, whose transfers follow one
/// another, or moves on to the next pair with the message's latency. Staying pays on the slowest pair; moving through a
/// pair gains (its whole time − the slowest transfer). So the time is that of the slowest pair in every round, plus the
/// best gain of a stretch of at most `rounds` pairs in a row, which may go around more than once.
Refused RankDates::around_rings(const RoundFlows& timed, std::vector<double>& dates) {
  const std::vector<Pair>& pairs = timed.known->pattern.pairs;
  const auto flow_of = [&](std::size_t pair) -> const RoundFlow& {
    return timed.flows[static_cast<std::size_t>(pairs[pair].flow)];
  };
  const std::int64_t rounds = timed.rounds;
  std::vector<std::int32_t> out(dates.size(), -1);
  std::vector<int> in(dates.size(), 0);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    std::int32_t& of_rank = out[static_cast<std::size_t>(pairs[i].from)];
    if (of_rank >= 0 || ++in[static_cast<std::size_t>(pairs[i].to)] > 1) {
      return FlowRefusal{kSeveralMessages};
    }
    of_rank = static_cast<std::int32_t>(i);
  }
  std::vector<bool> seen(dates.size(), false);
  for (std::size_t first = 0; first < dates.size(); ++first) {
    if (seen[first] || out[first] < 0) continue;
    std::vector<std::size_t> ring;  // pairs in order
    for (std::size_t rank = first; !seen[rank]; rank = static_cast<std::size_t>(pairs[ring.back()].to)) {
      if (out[rank] < 0) return FlowRefusal{"many rounds along a chain of ranks"};
      seen[rank] = true;
      ring.push_back(static_cast<std::size_t>(out[rank]));
    }
    double slowest = 0;
    double quickest = std::numeric_limits<double>::infinity();
    double begin = 0;
    for (const std::size_t pair : ring) {
      slowest = std::max(slowest, flow_of(pair).seconds);
      quickest = std::min(quickest, flow_of(pair).seconds);
      begin = std::max(begin, dates[static_cast<std::size_t>(pairs[pair].from)]);
    }
    for (const std::size_t pair : ring) {
      if (flow_of(pair).most_in_line == kManyInLine) continue;
      // A quicker pair of the ring hands on faster than this one carries.
      if (quickest < (1 - kSameSpeed) * flow_of(pair).seconds) return FlowRefusal{kInLine};
    }
    const auto size = static_cast<std::int64_t>(ring.size());
    std::vector<double> gain;
    double whole = 0;
    for (const std::size_t pair : ring) {
      gain.push_back(flow_of(pair).before + flow_of(pair).seconds + flow_of(pair).after - slowest);
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
    for (const std::size_t pair : ring) last = std::min(last, flow_of(pair).before + flow_of(pair).after);
    const double seconds =
        static_cast<double>(rounds) * slowest + std::max(last, static_cast<double>(turns) * whole + best);
    for (const std::size_t pair : ring) dates[static_cast<std::size_t>(pairs[pair].to)] = begin + seconds;
  }
  return {};
}

}  // namespace dadsim::sim
