#include "estimate/privacy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace dadsim::estimate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Sum of numbers of either sign, given by their logarithms, because e^1000 and e^−1000 are not representable.
class LogSum {
 public:
  void add(double logarithm, bool negative) {
    double& sum = negative ? negative_ : positive_;
    if (logarithm == -kInfinity) return;
    const double larger = std::max(sum, logarithm);
    sum = larger + std::log1p(std::exp(std::min(sum, logarithm) - larger));
  }
  double logarithm() const { return positive_ + std::log1p(-std::exp(negative_ - positive_)); }

 private:
  double positive_ = -kInfinity, negative_ = -kInfinity;
};

/// Returns ln erfc(x), by the asymptotic series (Abramowitz & Stegun 7.1.23) if erfc itself underflows.
double log_erfc(double x) {
  constexpr double kFar = 20.0;
  if (x < kFar) return std::log(std::erfc(x));
  const double y = 1.0 / (2.0 * x * x);
  return -x * x - std::log(x * std::sqrt(std::numbers::pi)) + std::log1p(-y + 3.0 * y * y - 15.0 * y * y * y);
}

double log_moment_whole(double q, double sigma, std::int64_t order) {
  const double log_q = std::log(q);
  const double log_rest = std::log1p(-q);
  LogSum sum;
  double binomial = 0;  // ln C(α, k)
  for (std::int64_t k = 0; k <= order; ++k) {
    const auto i = static_cast<double>(k);
    const auto left = static_cast<double>(order - k);
    sum.add(binomial + left * log_rest + i * log_q + i * (i - 1.0) / (2.0 * sigma * sigma), false);
    binomial += std::log(left) - std::log(i + 1.0);
  }
  return sum.logarithm();
}

double log_moment_fractional(double q, double sigma, double order) {
  constexpr double kNegligible = 40.0;  // stops at terms below e^−40 of the sum, which rounding would drop
  constexpr std::int64_t kMostTerms = 100'000;
  const double cut = sigma * sigma * (std::log1p(-q) - std::log(q)) + 0.5;
  const double width = std::numbers::sqrt2 * sigma;
  const double log_q = std::log(q);
  const double log_rest = std::log1p(-q);
  const auto exponent = [&](double k) { return k * (k - 1.0) / (2.0 * sigma * sigma); };
  LogSum sum;
  double binomial = 0;  // ln |C(α, k)|; its sign alternates once k exceeds α
  bool negative = false;
  for (std::int64_t k = 0; k < kMostTerms; ++k) {
    const auto i = static_cast<double>(k);
    const double j = order - i;
    const double below =
        binomial + i * log_q + j * log_rest + exponent(i) + log_erfc((i - cut) / width) - std::numbers::ln2;
    const double above =
        binomial + j * log_q + i * log_rest + exponent(j) + log_erfc((cut - j) / width) - std::numbers::ln2;
    sum.add(below, negative);
    sum.add(above, negative);
    if (i > order && std::max(below, above) < sum.logarithm() - kNegligible) break;
    binomial += std::log(std::abs(j)) - std::log(i + 1.0);
    negative = negative != (j < 0);
  }
  return sum.logarithm();
}

void check_arguments(double rate, double noise_multiplier) {
  if (!(rate >= 0 && rate <= 1)) throw std::invalid_argument("the sampling rate must be in [0, 1]");
  if (!(noise_multiplier >= 0)) throw std::invalid_argument("the noise multiplier must not be negative");
}

std::vector<double> accounted_orders() {
  std::vector<double> orders{1.01, 1.025, 1.05, 1.075};
  for (int tenth = 11; tenth < 110; ++tenth) orders.push_back(tenth / 10.0);
  for (int order = 11; order < 64; ++order) orders.push_back(order);
  for (int order = 64; order < 128; order += 4) orders.push_back(order);
  for (const double order : {128., 144., 160., 192., 224., 256., 320., 384., 448., 512., 640., 768., 896., 1024.})
    orders.push_back(order);
  return orders;
}

}  // namespace

double renyi_divergence(double rate, double noise_multiplier, double order) {
  check_arguments(rate, noise_multiplier);
  if (!(order > 1 && order < 1e9)) throw std::invalid_argument("the order of a Rényi divergence must be above one");
  if (rate == 0) return 0;
  if (noise_multiplier == 0) return kInfinity;
  if (rate == 1) return order / (2.0 * noise_multiplier * noise_multiplier);
  const double log_moment = order == std::floor(order)
                                ? log_moment_whole(rate, noise_multiplier, static_cast<std::int64_t>(order))
                                : log_moment_fractional(rate, noise_multiplier, order);
  // Clamps at 0: rounding may make a tiny divergence negative.
  return std::max(0.0, log_moment / (order - 1.0));
}

double epsilon_spent(std::span<const SampledGaussian> mechanisms, double delta, Conversion conversion) {
  if (!(delta > 0 && delta < 1)) throw std::invalid_argument("δ lies in (0, 1)");
  bool any = false;
  for (const SampledGaussian& one : mechanisms) {
    check_arguments(one.rate, one.noise_multiplier);
    any = any || (one.rate > 0 && one.steps > 0);
  }
  if (!any) return 0;
  static const std::vector<double> kOrders = accounted_orders();
  const auto divergence = [&](double order) {
    double sum = 0;
    for (const SampledGaussian& one : mechanisms) {
      if (one.steps > 0)
        sum += static_cast<double>(one.steps) * renyi_divergence(one.rate, one.noise_multiplier, order);
    }
    return sum;
  };
  const auto price = [&](double order) {  // cost of the conversion
    return conversion == Conversion::classic
               ? -std::log(delta) / (order - 1.0)
               : std::log1p(-1.0 / order) - (std::log(delta) + std::log(order)) / (order - 1.0);
  };
  double least = kInfinity;
  for (const double order : {2.0, 4.0, 8.0, 16.0, 64.0, 256.0})
    least = std::min(least, divergence(order) + price(order));
  // Divergences do not decrease with the order, so orders that cannot improve the best ε are skipped.
  double at_least = 0;
  for (const double order : kOrders) {
    if (!(at_least + price(order) < least)) continue;
    at_least = std::max(at_least, divergence(order));
    least = std::min(least, at_least + price(order));
  }
  return std::max(0.0, least);
}

double epsilon_spent(const SampledGaussian& mechanism, double delta, Conversion conversion) {
  return epsilon_spent(std::span(&mechanism, 1), delta, conversion);
}

double noise_multiplier_for(double epsilon, const std::function<double(double noise_multiplier)>& spent) {
  if (!(epsilon > 0)) throw std::invalid_argument("ε is above zero");
  constexpr double kMost = 1e6;
  double high = 1.0;
  while (spent(high) > epsilon) {
    high *= 2.0;
    if (high > kMost) throw std::invalid_argument("no noise multiplier up to 10⁶ reaches this ε");
  }
  double low = high / 2.0;
  constexpr double kLeast = 1e-3;
  while (low > kLeast && spent(low) <= epsilon) {
    high = low;
    low /= 2.0;
  }
  constexpr double kTolerance = 1e-6;
  while (high - low > kTolerance * high) {
    const double middle = 0.5 * (low + high);
    (spent(middle) <= epsilon ? high : low) = middle;
  }
  return high;
}

double noise_multiplier_for(double epsilon, double delta, double rate, std::int64_t steps) {
  if (!(epsilon > 0)) throw std::invalid_argument("ε is above zero");
  if (rate == 0 || steps == 0) return 0;
  // Caches results, because checking, learning and describing a run ask for the same ones.
  static std::mutex mutex;
  static std::map<std::tuple<double, double, double, std::int64_t>, double> found;
  const std::tuple question{epsilon, delta, rate, steps};
  {
    const std::lock_guard lock(mutex);
    if (const auto known = found.find(question); known != found.end()) return known->second;
  }
  const double sigma = noise_multiplier_for(epsilon, [&](double least) {
    return epsilon_spent({rate, least, steps}, delta);
  });
  const std::lock_guard lock(mutex);
  found.emplace(question, sigma);
  return sigma;
}

}  // namespace dadsim::estimate
