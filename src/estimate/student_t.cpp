#include "estimate/student_t.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

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

}  // namespace dadsim::estimate
