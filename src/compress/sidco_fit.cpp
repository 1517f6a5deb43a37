#include "compress/sidco_fit.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace dadsim::compress {
namespace {

constexpr double kFirstShare = 0.25;

/// Diverged numbers have no quantiles: the result is NaN, without an error.
using Quietly =
    boost::math::policies::policy<boost::math::policies::domain_error<boost::math::policies::ignore_error>,
                                  boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
                                  boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;

double exponential_quantile(const SidcoMoments& moments, double share) { return -moments.mean * std::log(share); }

double pareto_quantile(const SidcoMoments& moments, double share) {
  // All numbers are equal: none is above the mean.
  if (moments.variance <= 0) return moments.mean;
  const double ratio = moments.mean * moments.mean / moments.variance;
  const double shape = 0.5 * (ratio - 1.0);
  const double scale = 0.5 * moments.mean * (ratio + 1.0);
  constexpr double kNoShape = 1e-9;  // the limit is the exponential distribution
  if (std::abs(shape) < kNoShape) return -scale * std::log(share);
  return -scale * std::expm1(shape * std::log(share)) / shape;
}

double gamma_quantile(const SidcoMoments& moments, double share, bool asymptotic) {
  const double share_of_positive = share / moments.positive;
  if (share_of_positive >= 1) return 0;
  const double mean = moments.mean / moments.positive;
  const double s = std::log(mean) - moments.mean_log;
  // All numbers are equal: none is above the mean.
  if (s <= 0) return mean;
  const double alpha = (3.0 - s + std::sqrt((s - 3.0) * (s - 3.0) + 24.0 * s)) / (12.0 * s);
  const double beta = mean / alpha;
  if (asymptotic) return std::max(0.0, -beta * (std::log(share_of_positive) + std::lgamma(alpha)));
  return beta * boost::math::gamma_q_inv(alpha, share_of_positive, Quietly());
}

/// Returns the moments of x − `from` over magnitudes x.
SidcoMoments moments_of(std::span<const float> magnitudes, float from, bool logs) {
  SidcoMoments moments;
  double squares = 0;
  for (const float x : magnitudes) {
    const double above = static_cast<double>(x) - from;
    moments.mean += above;
    squares += above * above;
    if (logs && !(above <= 0)) {
      moments.mean_log += std::log(above);
      moments.positive += 1;
    }
  }
  const auto count = static_cast<double>(magnitudes.size());
  moments.mean /= count;
  moments.variance = squares / count - moments.mean * moments.mean;
  if (logs && moments.positive > 0) moments.mean_log /= moments.positive;
  moments.positive /= count;
  return moments;
}

/// Returns the numbers above a threshold.
std::vector<float> exceedances(std::span<const float> magnitudes, double threshold) {
  std::vector<float> above;
  std::ranges::copy_if(magnitudes, std::back_inserter(above), [&](float x) { return x > threshold; });
  return above;
}

}  // namespace

double sidco_quantile(const SidcoFit& fit, bool tail, const SidcoMoments& moments, double share) {
  if (moments.mean == 0) return 0;
  switch (fit.law) {
    case SidcoFit::Law::exponential:
      return exponential_quantile(moments, share);
    case SidcoFit::Law::pareto:
      return pareto_quantile(moments, share);
    case SidcoFit::Law::gamma:
      return tail ? pareto_quantile(moments, share) : gamma_quantile(moments, share, fit.asymptotic);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double sidco_stage_share(double fraction, int stages, int stage) {
  if (stages == 1 || fraction >= kFirstShare) return stage == 1 ? fraction : 1.0;
  if (stage == 1) return kFirstShare;
  return std::pow(fraction / kFirstShare, 1.0 / (stages - 1));
}

double sidco_threshold(std::span<const float> numbers, double fraction, int stages, const SidcoFit& fit) {
  if (numbers.empty()) return 0;
  std::vector<float> magnitudes(numbers.size());
  std::ranges::transform(numbers, magnitudes.begin(), [](float x) { return std::abs(x); });
  const bool logs = fit.law == SidcoFit::Law::gamma;
  double threshold =
      sidco_quantile(fit, false, moments_of(magnitudes, 0.0F, logs), sidco_stage_share(fraction, stages, 1));
  if (fraction >= kFirstShare) return threshold;
  for (int stage = 2; stage <= stages; ++stage) {
    magnitudes = exceedances(magnitudes, threshold);
    if (magnitudes.empty()) return threshold;
    const float least = *std::ranges::min_element(magnitudes);
    const SidcoMoments tail = moments_of(magnitudes, least, false);
    threshold = least + sidco_quantile(fit, true, tail, sidco_stage_share(fraction, stages, stage));
  }
  return threshold;
}

}  // namespace dadsim::compress
