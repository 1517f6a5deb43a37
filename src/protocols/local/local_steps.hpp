#pragma once

#include <cstdint>
#include <vector>

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Parts shared by algorithms with local steps: workers train on batches of their own with an optimizer whose state
/// stays with them; the server has an outer optimizer. Steps are numbered as those of synchronous training: in step t
/// each worker trains with its batch t at the learning rate of step t.
class LocalSteps {
 public:
  static constexpr spec::IntegerParameter kPeriod{"period", 1, 1e9, "8", "local steps between synchronisations (H)"};
  static constexpr spec::IntegerParameter kRounds{
      "rounds", 0, 1e9, "0", "of so many steps each; 0: as many steps as synchronous training takes"};

  static constexpr spec::RealParameter kOuterRate{"outer-rate", 1e-9, 1e3, "0.7",
                                                  "learning rate of the outer optimizer"};
  static constexpr spec::RealParameter kOuterMomentum{"outer-momentum", 0, 0.9999, "0.9", "its Nesterov momentum"};

  explicit LocalSteps(const Setting& setting);

  /// The parameters that all have: steps between synchronisations, rounds. `period` by default, for the description of
  /// what is sent after it.
  static std::vector<spec::ParameterSpec> parameters(const char* period);
  /// Returns the parameters of the outer optimizer.
  static std::vector<spec::ParameterSpec> outer_parameters(const char* rate);

  /// See MethodInfo::models_held: of every worker what it trains, and what has arrived of it.
  static double models_held(const spec::ParameterValues&, double sites, bool /*fails*/) { return 2 * sites; }

  /// Returns the steps of the whole training: so many rounds, or else the epochs of the budget.
  std::int64_t steps() const { return steps_; }
  std::int64_t period() const { return period_; }

  /// Returns the first weights of all workers, followed by the optimizer's state.
  world::Value initial() const { return setting_.learning.initial_with_state(); }
  /// Returns these weights with the optimizer's state of `own`.
  world::Value with_state_of(const world::Value& weights, const world::Value& own) const;
  /// Returns a worker's weights and optimizer's state after steps first … first + count − 1.
  world::Value train(std::size_t worker, const world::Value& own, std::int64_t first, std::int64_t count) const;
  /// Returns the work of train(), and counts its samples in the log.
  world::Work begin_training(std::size_t worker, std::int64_t first, std::int64_t count) const;
  /// Returns the samples of those steps.
  double samples(std::size_t worker, std::int64_t first, std::int64_t count) const;
  /// Returns a worker's weight in a mean after those steps: its samples, times the run's weight for it.
  double weight(std::size_t worker, std::int64_t first, std::int64_t count) const;

 private:
  Setting setting_;
  std::vector<SiteBatches> batches_;
  std::vector<float> factors_;  ///< per worker; empty: 1
  std::int64_t period_ = 1, steps_ = 1;
};

/// Stochastic gradient descent with Nesterov momentum on what workers have moved away: with Δ = θ − mean of θ_i,
///   v ← μ v + Δ,  θ ← θ − η (Δ + μ v)
/// v starts at 0 (the outer optimizer of DiLoCo; Douillard et al., arXiv 2311.08105). What comes behind the parameters
/// (running statistics) is averaged: θ ← θ − Δ.
class OuterOptimizer {
 public:
  OuterOptimizer(double rate, double momentum) : rate_(rate), momentum_(momentum) {}

  /// θ with v behind it, at the beginning; `parameters` of the numbers of θ are learned.
  static world::Value begin(world::History& history, const world::Value& theta, std::size_t parameters);
  world::Value step(world::History& history, const world::Value& theta_and_v, const world::Value& difference,
                    std::size_t parameters) const;
  /// Arithmetic and numbers read and written per parameter.
  static constexpr double kFlops = 6, kFloats = 5;

 private:
  double rate_, momentum_;
};

/// Returns the first `count` numbers.
world::Value first_numbers(world::History& history, const world::Value& row, std::size_t count);

/// Returns that share of some work, for a share of the parameters; the number of kernels shrinks in proportion.
world::Work share_of(world::Work work, double share);

/// Returns Σ p_i x_i, p_i the weights over their sum.
world::Value weighted_mean(Learning& learning, const std::vector<world::Value>& values, std::vector<double> weights);

}  // namespace dadsim::protocols
