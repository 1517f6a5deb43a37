#include "sim/network/round_patterns.hpp"

#include <algorithm>
#include <bit>

#include "support/flat_map.hpp"

namespace dadsim::sim {
namespace {

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
    // Rounds often have the pairs of the one before.
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
      memory_.keep(result->pattern.pairs.size());
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

/// What a pair sends in rounds that are in flight together counts as one message.
FlowPattern RoundPatterns::collect(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end,
                                   bool numbered) const {
  FlowPattern pattern;
  KindNumbers kinds(pattern.kinds);
  FlatMap<std::size_t> pair_of;  // of earlier rounds
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

}  // namespace dadsim::sim
