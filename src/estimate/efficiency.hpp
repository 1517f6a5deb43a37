#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "step/trajectory.hpp"
#include "support/statement.hpp"

namespace dadsim::estimate {

/// A number with a 95 % confidence interval.
struct Estimate {
  double value = 0;
  std::optional<double> low, high;  ///< ends of the interval; none with one seed, or if the interval is unbounded
};

/// Returns the ratio of two means from paired samples, mean(y) ÷ mean(x), with the interval of Fieller's theorem
/// (Fieller, J. R. Stat. Soc. B 16, 1954): all θ for which mean(y) − θ·mean(x) is not significantly different from 0,
///     (ȳ − θ x̄)² ≤ t² (s_yy − 2 θ s_xy + θ² s_xx) ÷ n,   t = t(0.975, n − 1).
/// The interval is exact if the pairs are normal, and suits few pairs, for which bootstrap intervals are too narrow. A
/// lower end below 0 becomes 0. Throws std::invalid_argument unless both have the same number of samples, at least one,
/// and mean(x) > 0.
Estimate ratio_of_means(const std::vector<double>& y, const std::vector<double>& x);

/// Steps to the target: more than `after` and at most `at`, the steps of the two evaluations around it.
struct Passage {
  std::int64_t after = 0;  ///< step of the last evaluation before the target
  std::int64_t at = 0;     ///< step of the first evaluation that reached the target; 0: before the first step
  double between = 0;      ///< step at which linear interpolation between both evaluations reaches the target
  bool operator==(const Passage&) const = default;
};

/// Returns the first evaluation of a learning curve that reaches the target, with the previous one; nothing if none
/// reaches it.
std::optional<Passage> passage_of(const std::vector<step::Evaluation>& curve, double target);

/// Steps of one algorithm to the target with each seed; nothing for a seed that missed it.
using StepsToTarget = std::vector<std::optional<Passage>>;

/// Ratio of an algorithm's steps to those of gradient sharing, on the network that learned.
struct RelativeSteps {
  std::optional<Estimate> ratio;          ///< relative steps; above 1: more steps than gradient sharing
  std::optional<Statement> why_not = {};  ///< reason for a missing ratio
};

/// Returns the ratio of the mean steps to the target, with steps interpolated linearly between evaluations. Its
/// interval includes two intervals, one per cause of uncertainty:
///   seeds:        Fieller's interval of these steps (ratio_of_means);
///   evaluations:  steps lie anywhere between two evaluations, possibly at the same place with every seed: from
///                 Σ (after + 1) ÷ Σ at_reference to Σ at ÷ Σ (after_reference + 1).
/// With one seed there is no interval. Both arguments must have the same seeds: each pair shares its data, split and
/// first weights. tests/estimate/coverage_test.cpp checks the interval with 200 random sets of learning curves.
RelativeSteps relative_steps(const StepsToTarget& algorithm, const StepsToTarget& gradient_sharing);

/// Seconds of training in addition to its steps: evaluations and the start.
struct Charges {
  std::int64_t evaluation_every = 0;  ///< steps between evaluations; 0: evaluations are free
  double evaluation_seconds = 0;      ///< seconds per evaluation
  double start_up_seconds = 0;        ///< seconds of the start, once
};

/// Returns the time to accuracy at scale: known steps × relative steps × seconds per step, plus all evaluations begun
/// before the end, plus the start-up. The interval is that of the relative steps alone.
Estimate time_at_scale(double known_steps, const Estimate& relative, double step_seconds, const Charges& charges);

}  // namespace dadsim::estimate
