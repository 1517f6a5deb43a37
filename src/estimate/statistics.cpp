#include "estimate/statistics.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstddef>

namespace dadsim::estimate {
namespace {

using Distribution = boost::math::students_t_distribution<double>;

}  // namespace

double student_t(std::int64_t freedom, double level) {
  return boost::math::quantile(Distribution(static_cast<double>(freedom)), (1 + level) / 2);
}

double student_tails(double t, std::int64_t freedom) {
  if (!std::isfinite(t)) return 0;
  return 2 * boost::math::cdf(boost::math::complement(Distribution(static_cast<double>(freedom)), std::abs(t)));
}

std::optional<double> kendall_tau(std::span<const PredictedMeasured> compared) {
  if (compared.size() < 2) return {};
  double sum = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j, ++pairs) {
      const double order =
          (compared[i].predicted - compared[j].predicted) * (compared[i].measured - compared[j].measured);
      sum += order > 0 ? 1 : order < 0 ? -1 : 0;
    }
  }
  return sum / pairs;
}

}  // namespace dadsim::estimate
