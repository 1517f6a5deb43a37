#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Common parts of algorithms with local steps. Workers train on their own batches, with an optimizer whose state they
/// keep; the server has an outer optimizer. Steps are numbered as in synchronous training: in step t each worker trains
/// with its batch t, at the learning rate of step t.
class LocalSteps {
 public:
  static constexpr spec::IntegerParameter kPeriod{"period", 1, 1e9, "8", "local steps between synchronisations (H)"};
  static constexpr spec::TextParameter kPeriods{"periods"};
  static constexpr spec::RealParameter kPeriodByRate{
      "period-by-rate", 0, 1e9, "0",
      "a: a round has at least (a / learning rate)^2 local steps, with the rate at its start (QSR); 0: not used"};
  static constexpr spec::IntegerParameter kRounds{
      "rounds", 0, 1e9, "0", "rounds, each of `period` local steps; 0: as many steps as synchronous training takes"};

  /// First step, and the period H of rounds that begin at this step or later.
  using LaterPeriod = std::pair<std::int64_t, std::int64_t>;
  /// Parses a list such as "100:16 400:64"; "none" is empty. Returns nullopt for any other text.
  static std::optional<std::vector<LaterPeriod>> read_periods(const std::string& text);

  explicit LocalSteps(const Setting& setting);

  /// Returns the parameters common to all methods. `period`: default steps between synchronisations, as text.
  static std::vector<spec::ParameterSpec> parameters(const char* period);

  /// Returns MethodInfo::models_held: for every worker, the model that it trains and the model received from it.
  static double models_held(const spec::ParameterValues&, double sites, bool /*fails*/) { return 2 * sites; }

  /// Returns the number of training steps: by the parameter `rounds`, otherwise by the budget's epochs.
  std::int64_t steps() const { return steps_; }
  std::int64_t period() const { return later_.front().second; }
  /// Returns H of a round that begins with step `first`, even if training ends earlier: H = max(h, ⌊(α / η)²⌋), with h
  /// by `period` and `periods`, and η the learning rate at that step, or after the warm-up (Quadratic Synchronization
  /// Rule; Gu, Lyu, Arora, Huang, ICLR 2024, arXiv 2310.14423).
  std::int64_t period_from(std::int64_t first) const;

  /// Returns the first weights of all workers, followed by the optimizer's state.
  world::Value initial() const { return setting_.learning.initial_with_state(); }
  /// Returns these weights, followed by the optimizer's state from `own`.
  world::Value with_state_of(const world::Value& weights, const world::Value& own) const;
  /// Returns a worker's weights and optimizer's state after steps first … first + count − 1.
  world::Value train(std::size_t worker, const world::Value& own, std::int64_t first, std::int64_t count) const;
  /// Returns the work of train(), and counts its samples in the log.
  world::Work begin_training(std::size_t worker, std::int64_t first, std::int64_t count) const;
  /// Returns the number of samples that train() uses for these arguments.
  double samples(std::size_t worker, std::int64_t first, std::int64_t count) const;
  /// Returns a worker's weight in a mean after these steps: its samples, times the weight that the run gives it.
  double weight(std::size_t worker, std::int64_t first, std::int64_t count) const;

 private:
  std::size_t listed_at(std::int64_t first) const;  ///< place in `later_` of a round that begins with this step
  double rate_from(std::int64_t first) const;       ///< learning rate that determines H of such a round
  /// Adds remarks on later periods that no round has, and on a period by the learning rate that lengthens none.
  void remark_on_idle_periods() const;

  Setting setting_;
  std::vector<SiteBatches> batches_;
  std::vector<float> factors_;      ///< the run's weight per worker; empty: 1 for each
  std::vector<LaterPeriod> later_;  ///< H by step; the first entry is for step 0
  double by_rate_ = 0;              ///< α; 0: the learning rate has no effect on H
  std::int64_t steps_ = 1;
};

/// Returns the part of `work` for a share of the parameters. The number of kernels shrinks in proportion.
world::Work share_of(world::Work work, double share);

/// Returns Σ p_i x_i, p_i the weights over their sum.
world::Value weighted_mean(Learning& learning, const std::vector<world::Value>& values, std::vector<double> weights);

}  // namespace dadsim::protocols
