#pragma once

#include <cmath>
#include <cstdint>

namespace dadsim::models {

/// Mean and standard deviation of numbers that come one by one (Welford, Technometrics 4, 1962).
class Moments {
 public:
  void add(double value) {
    ++count_;
    const double before = value - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (value - mean_);
  }

  std::int64_t count() const { return count_; }
  double mean() const { return mean_; }

  /// (value − mean) ÷ standard deviation; 0 where all numbers are the same up to rounding.
  float standardise(double value) const {
    const double deviation = count_ > 0 ? std::sqrt(squares_ / static_cast<double>(count_)) : 0.0;
    if (!(deviation > 1e-9 * std::abs(mean_)) || deviation < 1e-30) return 0;
    return static_cast<float>((value - mean_) / deviation);
  }

 private:
  std::int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace dadsim::models
