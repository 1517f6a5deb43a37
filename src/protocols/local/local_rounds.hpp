#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "protocols/local/local_steps.hpp"
#include "protocols/local/outer_rule.hpp"
#include "spec/parameter.hpp"

namespace dadsim::protocols {

/// Receivers of the rows that workers send after their local steps.
enum class SentTo : std::uint8_t { aggregator, peers, pair, graph, store, region };
/// Contents of a row: Δ = θ − θ_i, or a random subset of the worker's weights.
enum class SentNumbers : std::uint8_t { change, subset };
enum class SentBy : std::uint8_t { compress, chunk_top_k, four_bits, low_rank, low_rank_four_bits, int8_ring };
/// End of a round at an aggregator or a store, which hears from all workers.
enum class When : std::uint8_t { barrier, quorum, asynchronous, window, overlap };
/// Way in which a worker merges a received θ into its weights.
enum class Merge : std::uint8_t { replace, mix, add };

/// Mean of the rows that workers send.
enum class Average : std::uint8_t { all, contributors, direction };
inline constexpr auto kAverage = spec::choice<Average>(
    "average", {{"all", Average::all}, {"contributors", Average::contributors}, {"direction", Average::direction}},
    "all: mean over all workers; contributors: mean of each number over the workers that sent a number other than 0; "
    "direction: mean direction of each matrix, scaled to the mean length of updates (RDA)");

/// Returns Σ p_i x_i with p_i the normalised weights, or the mean over contributors, or of directions. Parameters come
/// first in each row.
world::Value averaged(Average how, Learning& learning, const std::vector<world::Value>& rows,
                      std::vector<double> weights);
/// Returns the work of averaged() for `rows` rows, beyond summing them.
world::Work averaging_work(Average how, const Sizing& sizing, step::Role who, std::size_t rows);

/// Local steps in rounds. All workers train for H steps and send their change of θ through a compressor. An outer rule
/// makes the next θ from the changes. Each part is a choice of the run; subclasses carry the messages.
class LocalRounds : public Protocol {
 public:
  static constexpr spec::RealParameter kPostLocal{"post-local", 0, 1e6, "0", "first epochs, with a period of 1"};
  static constexpr auto kTo = spec::choice<SentTo>(
      "to",
      {{"aggregator", SentTo::aggregator},
       {"peers", SentTo::peers},
       {"pair", SentTo::pair},
       {"graph", SentTo::graph},
       {"store", SentTo::store},
       {"region", SentTo::region}},
      "aggregator: send to the aggregator, which returns the new weights; peers: sum by the collective library (an "
      "all-gather if messages do not add up); pair: exchange with a random partner; graph: exchange with all "
      "neighbours; store: write to an object store at the aggregator's host, and read all other updates there; region: "
      "sum within each region of the platform, then as peers among one worker of each region, then send back");
  static constexpr auto kSends =
      spec::choice<SentNumbers>("sends", {{"change", SentNumbers::change}, {"subset", SentNumbers::subset}},
                                "change: send the change of the worker's weights; subset: average weights at random "
                                "positions, equal for all workers, and keep all other weights");
  static constexpr auto kEncoding = spec::choice<SentBy>(
      "encoding",
      {{"compress", SentBy::compress},
       {"chunk-top-k", SentBy::chunk_top_k},
       {"e3m0", SentBy::four_bits},
       {"low-rank", SentBy::low_rank},
       {"low-rank-e3m0", SentBy::low_rank_four_bits},
       {"int8-ring", SentBy::int8_ring}},
      "compress: as <compress> of the run; chunk-top-k: the largest of every 4096 numbers, in two bits, with a memory; "
      "e3m0: all numbers in four bits, with a memory; low-rank: two factors of each matrix, with a memory; "
      "low-rank-e3m0: these factors in four bits; int8-ring: a ring sum in eight bits, quantised again at every peer");
  static constexpr spec::RealParameter kShare{"share", 1e-6, 1, "0.005",
                                              "share of the numbers sent (subset, chunk-top-k)"};
  static constexpr spec::IntegerParameter kRank{"rank", 1, 1e6, "4", "rank of the factors (low-rank, low-rank-e3m0)"};
  static constexpr spec::RealParameter kDecay{"memory-decay", 0, 1, "1",
                                              "decay of the memory of compression errors per round"};
  static constexpr auto kMerge =
      spec::choice<Merge>("merge", {{"replace", Merge::replace}, {"mix", Merge::mix}, {"add", Merge::add}},
                          "replace: take the new weights; mix: alpha × own weights + (1 − alpha) × new weights; add: "
                          "add the change of the new weights to the own weights");
  static constexpr spec::RealParameter kAlpha{"alpha", 0, 1, "0.5", "weight of the own weights (mix)"};
  static constexpr spec::RealParameter kMix{
      "gossip", 0, 2, "1", "strength of averaging with partners (pair, graph): 1 with a single partner is the mean"};
  static constexpr auto kMixing =
      spec::choice<bool>("mixing", {{"after", false}, {"factored", true}},
                         "after: neighbours average after the local steps; factored: neighbours also average the "
                         "weights of the round's beginning during the steps, if these arrive in time (graph)");
  static constexpr auto kWhen = spec::choice<When>(
      "when",
      {{"barrier", When::barrier},
       {"quorum", When::quorum},
       {"asynchronous", When::asynchronous},
       {"window", When::window},
       {"overlap", When::overlap}},
      "barrier: a round ends when all workers have answered; quorum: when enough have answered, after a grace, and "
      "late answers count in a later round; asynchronous: with every answer; window: after a time, and late answers "
      "are dropped; overlap: as barrier, while workers take the steps of the next round");
  static constexpr spec::IntegerParameter kQuorum{"quorum", 1, 1e6, "1", "answers that a round waits for (quorum)"};
  static constexpr spec::RealParameter kGrace{"grace", 0, 1e9, "0",
                                              "seconds that a round waits for more answers after the quorum (quorum)"};
  static constexpr spec::RealParameter kWindow{"window", 1e-6, 1e9, "60", "seconds that a round lasts (window)"};
  static constexpr spec::RealParameter kStaleness{
      "staleness", 0, 100, "0", "a: a change that is s rounds old has weight (1 + s)^-a (quorum, asynchronous)"};
  static constexpr spec::IntegerParameter kFirstMoments{
      "first-moments", 0, 1e6, "0", "rounds between averages of the first moments of Adam; 0: no averages"};
  static constexpr spec::IntegerParameter kSecondMoments{
      "second-moments", 0, 1e6, "0", "rounds between averages of the second moments of Adam; 0: no averages"};
  // Parameters of a method whose workers train while fragments of the model travel.
  static constexpr spec::IntegerParameter kFragments{"fragments", 1, 1e6, "3",
                                                     "fragments of the model (P); at most the number of matrices"};
  static constexpr spec::IntegerParameter kDelay{
      "delay", 0, 1e9, "1", "inner steps between sending a fragment and applying its mean (tau); 0: workers wait"};
  static constexpr spec::RealParameter kFragmentAlpha{"alpha", 0, 1, "0.5",
                                                      "share of the own weights when a fragment is applied"};
  static constexpr auto kOuterGradients =
      spec::choice<bool>("outer-gradients", {{"e3m0", false}, {"compress", true}},
                         "e3m0: four bits a number; compress: as <compress> of the run");

  /// Returns the value of a parameter; its default if the method lacks the parameter.
  static auto chosen(const spec::ParameterValues& values, const auto& parameter) {
    const spec::ParameterSpec& own = parameter;
    return parameter.of(values.contains(own.name) ? values : spec::ParameterValues{{own.name, own.default_value}});
  }

 protected:
  explicit LocalRounds(const Setting& setting);

  /// Returns the local steps of the round that begins with step `first`.
  std::int64_t steps_of_round(std::int64_t first) const;
  /// Returns the initial θ, followed by the state of the outer rule.
  world::Value outer_begin() const;
  /// Returns θ of a result of outer_begin() or outer_after().
  world::Value theta_of(const world::Value& outer) const;
  /// Returns θ and the outer rule's state after step `round`. `moved`: mean Δ; `apart`: see OuterNumbers.
  world::Value outer_after(const world::Value& outer, const world::Value& moved, std::int64_t round,
                           const world::Value& apart = {}) const;
  /// Returns the weights and optimizer's state with which a worker continues after it has received θ. `before`: the θ
  /// that it received last; no value: none.
  world::Value merged(const world::Value& own, const world::Value& before, const world::Value& theta) const;
  /// Encodes the row of worker `number` after the round that begins with step `first`. `memory`: its compression error,
  /// updated in place.
  world::Value encoded(const world::Value& row, world::Value& memory, std::size_t number, std::int64_t first) const;
  /// Returns the mean of rows, computed as the run's `average` says; mean_work() returns the work.
  world::Value mean_of(const std::vector<world::Value>& rows, std::vector<double> weights) const;
  world::Work mean_work(step::Role who, std::size_t rows) const;

  /// Resends a node's lost messages on `channel`, some seconds after the notice of the loss, if the receiver is then up
  /// and `needs` returns true.
  world::Task<> sends_again(std::size_t number, world::Channel channel, world::Channel news,
                            std::function<bool(const world::Parcel&)> needs) const;

  world::Work outer_work(step::Role who) const;
  world::Work merge_work() const;
  /// Returns the bytes of a row encoded by encoded(), and of an unencoded row.
  double row_bytes() const { return row_bytes_; }
  double plain_bytes() const { return setting_.sizing.plain_bytes(); }
  const spec::CompressSpec& encoding() const { return encoding_; }
  SentNumbers sends() const { return sends_; }
  Average average() const { return average_; }

  const Setting& setting() const { return setting_; }
  Learning& learning() const { return setting_.learning; }
  const LocalSteps& local() const { return local_; }
  const OuterRule& rule() const { return rule_; }
  static world::Node node_of(std::size_t number) { return static_cast<world::Node>(number); }

 private:
  Setting setting_;
  LocalSteps local_;
  std::int64_t until_ = 0;  ///< number of first steps of the training with H = 1
  OuterRule rule_;
  spec::CompressSpec encoding_;
  SentNumbers sends_;
  Merge merge_;
  double alpha_, decay_, row_bytes_ = 0;
  Average average_;
};

/// A sum by a ring with eight bits a number (INTELLECT-1; PrimeIntellect-ai/prime, 5cc57a0, collectives.cpp). Each
/// matrix is cut into 2 n chunks, two for each of the n peers. On its way round, a chunk is decoded, added to and
/// quantised anew at every peer. The sum is quantised once more, and this message goes round unchanged. All peers end
/// with the same bits, after n quantisations of every number.
namespace quantised_ring {
/// Returns the encoding of a peer's whole vector in the ring, each part of which is sent twice.
spec::CompressSpec encoding(std::size_t peers);
/// Returns the sum of rows. `matrices`: number of parameters of each matrix, one after the other. The numbers after
/// them (running statistics) are added without encoding.
std::vector<float> sum(const std::vector<std::vector<float>>& rows, const std::vector<std::size_t>& matrices);
/// Returns Σ p_i x_i with p_i the normalised weights: peers scale their rows before the ring.
world::Value mean(Learning& learning, const std::vector<world::Value>& rows, const std::vector<double>& weights);
}  // namespace quantised_ring

/// Makes rounds for the run's `to` and method: through an aggregator or a store, among peers, with partners, or by
/// fragments.
std::unique_ptr<Protocol> server_rounds(const Setting& setting);
std::unique_ptr<Protocol> peer_rounds(const Setting& setting);
std::unique_ptr<Protocol> partner_rounds(const Setting& setting);
std::unique_ptr<Protocol> fragment_rounds(const Setting& setting);

}  // namespace dadsim::protocols
