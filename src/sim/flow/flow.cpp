#include "sim/flow/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "sim/flow/flow_events.hpp"
#include "support/flat_map.hpp"

namespace dadsim::sim {
namespace {

constexpr double kSameDates = 1e-12;               // seconds within which events count as simultaneous
constexpr std::size_t kMostTimesKept = 2'000'000;  // largest number of kept times of messages, of 16 bytes each

}  // namespace

EventRounds::EventRounds(FlowNetwork& ranks) : ranks_(ranks) {}
EventRounds::~EventRounds() = default;

bool EventRounds::again(const collectives::Rounds& rounds, std::vector<double>& dates) const {
  if (known_ != &rounds || !is_last_) return false;
  const double begin = *std::ranges::min_element(dates);
  const auto is_same = [&](double date, double before) { return std::abs(date - begin - before) < kSameDates; };
  if (!std::ranges::equal(dates, begun_, is_same)) return false;
  for (std::size_t rank = 0; rank < dates.size(); ++rank) dates[rank] = begin + rounds.start_seconds() + ended_[rank];
  return true;
}

bool EventRounds::may_lose(const collectives::Rounds& rounds) const {
  return !FlowEvents::serves(ranks_.network) &&
         (rounds.pace().handshake != collectives::Pace::Handshake::eager ||
          MessageGraph(rounds, ranks_.routes(), ranks_.network, ranks_.hosts).may_lose());
}

Refused EventRounds::run(const collectives::Rounds& rounds, std::vector<double>& dates, FlowAccount& account,
                         MaxPlusRounds* solved, bool of_ranks) {
  if (known_ != &rounds && may_lose(rounds)) {
    return FlowRefusal{"several lines may overload a TCP link and lose packets"};
  }
  for (double& date : dates) date += rounds.start_seconds();
  const double begin = *std::ranges::min_element(dates);
  const bool together = begin == *std::ranges::max_element(dates);
  of_ranks = of_ranks || repeats(rounds);
  if (known_ != &rounds || (classes_ && !classes_->hold_for(dates))) {
    classes_.reset();
    if (ranks_.by_classes && rounds.pace().handshake == collectives::Pace::Handshake::eager) {
      MessageGraph graph(rounds, ranks_.routes(), ranks_.network, ranks_.hosts);
      if (auto classes = graph.classes(dates, solved != nullptr && of_ranks))
        classes_ = std::make_shared<const EventClasses>(*std::move(classes));
    }
  }
  auto running = std::make_unique<FlowEvents>(ranks_.network, ranks_.hosts);
  FlowEvents& events = *running;
  const bool keeps = together && solved == nullptr && !(of_ranks && classes_ != nullptr);
  if (solved != nullptr || keeps) events.take_down();
  known_ = nullptr;
  begun_ = dates;
  if (Refused refused = events.run(rounds, dates, classes_.get())) return refused;
  if (solved != nullptr) events.describe(*solved, of_ranks);
  ended_ = dates;
  for (double& date : begun_) date -= begin;
  for (double& date : ended_) date -= begin;
  account.set(events.spent(), events.loads());
  known_ = &rounds;
  is_last_ = true;
  if (keeps && events.times() <= kMostTimesKept) {
    events.keep_times();
    together_ = {&rounds, classes_, std::move(running)};
  }
  return {};
}

bool EventRounds::describe_together(const collectives::Rounds& rounds, MaxPlusRounds& solved, bool of_ranks) {
  if (together_.rounds != &rounds || (of_ranks && together_.classes != nullptr)) return false;
  together_.events->describe(solved, false);
  together_ = {};
  return true;
}

namespace {

std::uint64_t key_of(const FlowPattern::Pair& pair) {
  return static_cast<std::uint64_t>(pair.from) << 32U | static_cast<std::uint32_t>(pair.to);
}

/// Numbers kinds of messages in the order of first appearance.
class KindNumbers {
 public:
  explicit KindNumbers(std::vector<FlowPattern::Kind>& kinds) : kinds_(kinds) {}

  std::int32_t of(const FlowPattern::Kind& kind) {
    if (last_ < kinds_.size() && kinds_[last_] == kind) return static_cast<std::int32_t>(last_);
    const std::uint64_t key = std::bit_cast<std::uint64_t>(kind.bytes) ^
                              (std::bit_cast<std::uint64_t>(kind.share) * 31) ^
                              (static_cast<std::uint64_t>(kind.number) << 52U);
    for (std::uint64_t probe = key;; ++probe) {  // continues after a collision of keys, which is rare
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

KnownPattern* RoundPatterns::of(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end, bool reversed,
                                std::vector<RoundFlow>& flows) {
  const bool numbered = !reversed && end == first + 1 && rounds.sizes_of(first, sizes_);
  const auto size_of = [&](const FlowPattern::Kind& kind) {
    if (reversed) return 0.0;
    return numbered ? sizes_.bytes[static_cast<std::size_t>(kind.number)] : kind.bytes;
  };
  KnownPattern* result = nullptr;
  if (numbered) {
    for (const auto& known : known_) {
      if (known->number == sizes_.pattern) result = known.get();
    }
  }
  if (result == nullptr) {
    FlowPattern pattern = collect(rounds, first, end, numbered);
    if (pattern.pairs.empty()) return nullptr;
    if (reversed) {
      for (FlowPattern::Pair& pair : pattern.pairs) std::swap(pair.from, pair.to);
    }
    // Uses one of the last two patterns if its pairs are the same, which is often so.
    const auto is_same = [&](const FlowPattern& known) {
      return known.kinds.size() == pattern.kinds.size() && known.pairs.size() == pattern.pairs.size() &&
             std::ranges::equal(known.pairs, pattern.pairs,
                                [&](const FlowPattern::Pair& a, const FlowPattern::Pair& b) {
                                  return a.from == b.from && a.to == b.to &&
                                         known.flows[static_cast<std::size_t>(a.flow)].kind == b.flow;
                                }) &&
             std::ranges::equal(known.kinds, pattern.kinds, {}, &FlowPattern::Kind::share, &FlowPattern::Kind::share);
    };
    for (std::size_t back = 1; back <= std::min<std::size_t>(2, known_.size()) && !numbered; ++back) {
      KnownPattern& known = *known_[known_.size() - back];
      if (known.number >= 0 || !is_same(known.pattern)) continue;
      result = &known;
      result->pattern.kinds = std::move(pattern.kinds);
      break;
    }
    if (result == nullptr) {
      result = known_.emplace_back(std::make_unique<KnownPattern>()).get();
      result->pattern = std::move(pattern);
      result->number = numbered ? sizes_.pattern : -1;
      find_classes(result->pattern, ranks_.lanes, ranks_.routes(), ranks_.network, ranks_.hosts, ranks_.by_classes);
      result->carried.resize(result->pattern.flows.size());
      memory_.keep(result->pattern.pairs.size() + result->pattern.way_links.size());
      classes_and_pairs_.first += result->pattern.flows.size();
      classes_and_pairs_.second += result->pattern.pairs.size();
    }
  }
  flows.clear();
  for (const FlowPattern::FlowClass& one : result->pattern.flows) {
    const FlowPattern::Kind& kind = result->pattern.kinds[static_cast<std::size_t>(one.kind)];
    RoundFlow& flow = flows.emplace_back();
    flow.from = one.from;
    flow.to = one.to;
    flow.bytes = size_of(kind);
    flow.share = kind.share;
    flow.path = one.path;
  }
  return result;
}

/// Collects the pairs of rounds. Messages of a pair count as one if their rounds are in flight together.
FlowPattern RoundPatterns::collect(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end,
                                   bool numbered) const {
  FlowPattern pattern;
  KindNumbers kinds(pattern.kinds);
  FlatMap<std::size_t> pair_of;  // places of the pairs of earlier rounds
  std::vector<collectives::Transfer> transfers;
  for (std::int64_t round = first; round < end; ++round) {
    for (std::size_t i = 0; i < pattern.pairs.size(); ++i) pair_of.try_emplace(key_of(pattern.pairs[i]), i);
    for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
      for (collectives::Rank lane = 0; lane < ranks_.lanes; ++lane) {
        transfers.clear();
        rounds.lane_sends(rank, lane, round, transfers);
        if (rank == 0 && lane == 0 && round == first) {
          pattern.pairs.reserve(transfers.size() * static_cast<std::size_t>(rounds.ranks() * ranks_.lanes));
        }
        for (const collectives::Transfer& transfer : transfers) {
          FlowPattern::Pair pair{rank * ranks_.lanes + lane, transfer.peer * ranks_.lanes + lane, 0};
          const double share = rounds.lane_share(rank, transfer.peer);
          if (numbered) {
            pair.flow = kinds.of({0, share, rounds.kind_of(rank, transfer.peer)});
          } else {
            pair.flow = kinds.of({transfer.bytes, share, 0});
          }
          if (const std::size_t* earlier = round == first ? nullptr : pair_of.find(key_of(pair))) {
            FlowPattern::Pair& known = pattern.pairs[*earlier];
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

namespace {

constexpr std::int64_t kStepsBySteps = 4'000'000;  // largest pairs × rounds that are simulated individually
constexpr double kSameSpeed = 1e-9;                // relative difference of equal speeds
constexpr int kUsesToCondense = 3;                 // uses of a pattern before its ranks are divided into classes
constexpr int kPassesOverRanks = 16;

constexpr const char* kInLine = "messages queue on TCP connections that share links, so losses increase";
constexpr const char* kSeveralMessages = "ranks send or receive several messages in many rounds";

/// Returns whether every rank sends and receives at most one message.
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
  // Checks pairs individually if links are shared, because the date of each then matters.
  const bool checked = many && step_by_step && timed.contended;
  if (condensed_ != &known || as_rings || checked) expand(dates);
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the comparison with an address does not dereference
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

/// Divides ranks into classes by colour refinement, as FlowPattern does with flows and links. A rank's colour depends
/// on the messages that arrive, because they determine when the rank continues.
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
  // Finds the messages that arrive at the first rank of each class.
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
  std::vector<double> free(pairs.size(), -1);  // date at which the pair's last transfer ends
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

/// Times rings with many rounds. In each round the longest chain of causes stays on a pair, or moves to the next pair.
/// On the slowest pair, a round takes its transfer. Moving through a pair adds (its whole time, with latency − the
/// slowest transfer). The total is therefore the slowest pair's transfer in every round, plus the largest sum of these
/// additions over consecutive pairs. A chain moves over at most `rounds` pairs, possibly around the ring more than
/// once.
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
      if (out[rank] < 0) return FlowRefusal{"many rounds run along a chain of ranks"};
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
      // Refuses a ring with a pair that is quicker than this pair, because messages would queue at this pair.
      if (quickest < (1 - kSameSpeed) * flow_of(pair).seconds) return FlowRefusal{kInLine};
    }
    const auto size = static_cast<std::int64_t>(ring.size());
    std::vector<double> gain;
    double whole = 0;
    for (const std::size_t pair : ring) {
      gain.push_back(flow_of(pair).before + flow_of(pair).seconds + flow_of(pair).after - slowest);
      whole += gain.back();
    }
    // Takes as many whole turns as fit if they gain, then the best remaining stretch, which may cross the start of the
    // ring.
    const std::int64_t turns = whole > 0 ? rounds / size : 0;
    const std::int64_t longest = std::min(rounds - turns * size, size);
    double best = 0;
    std::vector<double> sum{0};  // prefix sums of gains, over two turns
    for (std::int64_t i = 0; i < 2 * size; ++i) sum.push_back(sum.back() + gain[static_cast<std::size_t>(i % size)]);
    std::vector<std::int64_t> least;  // candidates for the start of a stretch, with rising sums, at most `longest` back
    std::size_t head = 0;
    for (std::int64_t i = 0; i <= 2 * size; ++i) {
      while (head < least.size() && least[head] < i - longest) ++head;
      while (least.size() > head && sum[static_cast<std::size_t>(least.back())] >= sum[static_cast<std::size_t>(i)])
        least.pop_back();
      least.push_back(i);
      best = std::max(best, sum[static_cast<std::size_t>(i)] - sum[static_cast<std::size_t>(least[head])]);
    }
    // Adds at least the smallest latency of a message.
    double last = std::numeric_limits<double>::infinity();
    for (const std::size_t pair : ring) last = std::min(last, flow_of(pair).before + flow_of(pair).after);
    const double seconds =
        static_cast<double>(rounds) * slowest + std::max(last, static_cast<double>(turns) * whole + best);
    for (const std::size_t pair : ring) dates[static_cast<std::size_t>(pairs[pair].to)] = begin + seconds;
  }
  return {};
}

namespace {

constexpr double kPlainDoubt = 0.01;  // share of the time: three times the accepted doubt

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
    // Checks again, because more links of the network are known by now.
    if (!FlowEvents::serves_without_loss(ranks_.network)) return FlowRefusal{reason, seconds};
    dates = begin;
    keep_nothing();  // discards results computed in step
    const Refused refused = followed_.run(rounds, dates, account_, solved_, of_ranks_);
    if (!refused) return {};
    // Reports the time of in-step rounds with the refusal.
    if (!reason.empty()) return FlowRefusal{reason + ", and " + refused->fault, seconds};
  }
}

Refused FlowModel::solve(const collectives::Rounds& rounds, std::vector<double>& done, MaxPlusRounds& solved,
                         bool of_ranks) {
  solved_ = &solved;
  of_ranks_ = of_ranks;
  Refused refused = run(rounds, done);
  solved_ = nullptr;
  if (!refused && followed_.may_lose(rounds)) solved.give_up();  // losses depend on the order in which messages arrive
  if (!refused) solved.settle(done);
  return refused;
}

bool FlowModel::solve_again(const collectives::Rounds& rounds, const std::vector<double>& seconds,
                            MaxPlusRounds& solved, bool of_ranks) {
  if (!followed_.describe_together(rounds, solved, of_ranks)) return false;
  if (followed_.may_lose(rounds)) solved.give_up();
  solved.settle(seconds);
  return true;
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
        // Adds a round of messages without bytes in the other direction: receivers announce that they are ready.
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

/// Assumes that the remaining rounds take as long each and add no doubt.
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
  // Frees other patterns because memory is full, and keeps this one: the next round may have it too.
  keeps_ = false;
  timed_.clear();
  memory_.forget();
  memory_.keep(known.pattern.pairs.size() + known.pattern.way_links.size());
  if (patterns_.all().size() == 1) return {};
  dates_.expand(dates);
  for (const auto& one : patterns_.all()) {
    if (one.get() != &known) account_.count_loads(*one);
  }
  patterns_.forget_all_but(known);
  return {};
}

void FlowModel::describe(const RoundFlows& timed) {
  std::vector<MaxPlusRounds::RoundMessage> messages;
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
