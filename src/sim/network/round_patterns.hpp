#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/network/flow_network.hpp"
#include "sim/network/round_flows.hpp"

namespace dadsim::sim {

/// What the models of a step's collectives keep together, to go through their rounds again from other dates.
struct FlowMemory {
  std::size_t kept = 0;  ///< pairs, and eight times classes of rounds
};

/// What one of them has of it.
class KeptMemory {
 public:
  explicit KeptMemory(std::shared_ptr<FlowMemory> all) : all_(std::move(all)) {}
  ~KeptMemory() { forget(); }
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

  void keep(std::size_t more) {
    own_ += more;
    all_->kept += more;
  }
  void forget() { all_->kept -= std::exchange(own_, 0); }
  bool is_full() const { return all_->kept > kMostKept; }

 private:
  static constexpr std::size_t kMostKept = 24'000'000;  // as FlowMemory counts
  std::shared_ptr<FlowMemory> all_;
  std::size_t own_ = 0;
};

/// The patterns of a collective's rounds: who sends to whom, and the equivalence classes of these pairs.
class RoundPatterns {
 public:
  RoundPatterns(FlowNetwork& ranks, KeptMemory& memory) : ranks_(ranks), memory_(memory) {}

  /// The pattern of rounds, and the messages of its classes without what they cost; nullptr: they have no messages.
  /// `reversed`: of messages without bytes, the other way.
  KnownPattern* of(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end, bool reversed,
                   std::vector<RoundFlow>& flows);

  const std::vector<std::unique_ptr<KnownPattern>>& all() const { return known_; }
  void forget() { known_.clear(); }
  void forget_all_but(const KnownPattern& one) {
    std::erase_if(known_, [&](const auto& known) { return known.get() != &one; });
  }

  /// Classes of pairs, and pairs that they stand for, since start_counting.
  std::pair<std::size_t, std::size_t> classes_and_pairs() const { return classes_and_pairs_; }
  void start_counting() { classes_and_pairs_ = {}; }

 private:
  /// The pairs of rounds and the kinds of their messages. With `numbered` a kind is what the rounds say, else a size.
  FlowPattern collect(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end, bool numbered) const;

  FlowNetwork& ranks_;
  KeptMemory& memory_;
  std::vector<std::unique_ptr<KnownPattern>> known_;
  collectives::RoundSizes sizes_;
  std::pair<std::size_t, std::size_t> classes_and_pairs_;
};

}  // namespace dadsim::sim
