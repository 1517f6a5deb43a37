#include "estimate/student_t.hpp"

#include <boost/math/distributions/students_t.hpp>

namespace dadsim::estimate {

double student_t(std::int64_t freedom) {
  constexpr double kTail = 0.975;
  return boost::math::quantile(boost::math::students_t_distribution<double>(static_cast<double>(freedom)), kTail);
}

}  // namespace dadsim::estimate
