#include "estimate/efficiency.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "estimate/statistics.hpp"

namespace dadsim::estimate {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / static_cast<double>(a.size() - 1);
}

std::size_t missed(const StepsToTarget& steps) {
  return static_cast<std::size_t>(std::ranges::count_if(steps, [](const auto& one) { return !one; }));
}

Statement not_reached(std::size_t missing, std::size_t seeds, bool of_gradient_sharing) {
  return Statement{"target-not-reached"}
      .with("of_gradient_sharing", of_gradient_sharing)
      .with("seeds_missed", static_cast<double>(missing))
      .with("seeds", static_cast<double>(seeds));
}

std::vector<double> between_evaluations(const StepsToTarget& steps) {
  std::vector<double> values;
  for (const auto& one : steps) values.push_back(one.value().between);
  return values;
}

double fewest(const StepsToTarget& steps) {
  double sum = 0;
  for (const auto& one : steps) sum += static_cast<double>(std::min(one->after + 1, one->at));
  return sum;
}

double most(const StepsToTarget& steps) {
  double sum = 0;
  for (const auto& one : steps) sum += static_cast<double>(one->at);
  return sum;
}

}  // namespace

Estimate ratio_of_means(const std::vector<double>& y, const std::vector<double>& x) {
  if (y.size() != x.size() || x.empty()) throw std::invalid_argument("a ratio needs pairs");
  const double mean_x = mean(x);
  const double mean_y = mean(y);
  if (!(mean_x > 0)) throw std::invalid_argument("a ratio needs a positive denominator");
  Estimate estimate{mean_y / mean_x, {}, {}};
  if (x.size() < 2) return estimate;

  const auto n = static_cast<double>(x.size());
  const double t = student_t(static_cast<std::int64_t>(x.size()) - 1);
  // Returns the interval of θ for which a θ² − 2 b θ + c ≤ 0.
  const double a = mean_x * mean_x - t * t * covariance(x, x) / n;
  const double b = mean_x * mean_y - t * t * covariance(x, y) / n;
  const double c = mean_y * mean_y - t * t * covariance(y, y) / n;
  if (!(a > 0)) return estimate;  // mean(x) may be 0, so the ratio has no bounds
  const double root = std::sqrt(std::max(0.0, b * b - a * c));
  // Includes the estimate, which rounding could put outside of its own interval.
  estimate.low = std::clamp((b - root) / a, 0.0, estimate.value);
  estimate.high = std::max((b + root) / a, estimate.value);
  return estimate;
}

std::optional<Passage> passage_of(const std::vector<step::Evaluation>& curve, double target) {
  const auto reached = std::ranges::find_if(curve, [&](const step::Evaluation& at) { return at.accuracy >= target; });
  if (reached == curve.end()) return std::nullopt;
  if (reached == curve.begin()) return Passage{0, reached->step, static_cast<double>(reached->step)};
  const step::Evaluation& before = *std::prev(reached);
  const double share = (target - before.accuracy) / (reached->accuracy - before.accuracy);  // in (0, 1]
  return Passage{before.step, reached->step,
                 static_cast<double>(before.step) + share * static_cast<double>(reached->step - before.step)};
}

RelativeSteps relative_steps(const StepsToTarget& algorithm, const StepsToTarget& gradient_sharing) {
  if (algorithm.size() != gradient_sharing.size() || algorithm.empty())
    throw std::invalid_argument("both runs need the same seeds");
  if (const std::size_t missing = missed(gradient_sharing); missing > 0) {
    return {std::nullopt, not_reached(missing, gradient_sharing.size(), true)};
  }
  if (const std::size_t missing = missed(algorithm); missing > 0) {
    return {std::nullopt, not_reached(missing, algorithm.size(), false)};
  }
  if (std::ranges::any_of(gradient_sharing, [](const auto& steps) { return steps->at == 0; }))
    return {std::nullopt, Statement{"met-before-training"}};
  Estimate ratio = ratio_of_means(between_evaluations(algorithm), between_evaluations(gradient_sharing));
  if (ratio.low) ratio.low = std::min(*ratio.low, fewest(algorithm) / most(gradient_sharing));
  if (ratio.high) ratio.high = std::max(*ratio.high, most(algorithm) / fewest(gradient_sharing));
  return {ratio};
}

Estimate time_at_scale(double known_steps, const Estimate& relative, double step_seconds, const Charges& charges) {
  const auto seconds = [&](double ratio) {
    const double steps = known_steps * ratio;
    const double evaluations =
        charges.evaluation_every > 0 ? std::ceil(steps / static_cast<double>(charges.evaluation_every)) : 0;
    return steps * step_seconds + evaluations * charges.evaluation_seconds + charges.start_up_seconds;
  };
  Estimate time{seconds(relative.value), {}, {}};
  if (relative.low) time.low = seconds(*relative.low);
  if (relative.high) time.high = seconds(*relative.high);
  return time;
}

}  // namespace dadsim::estimate
