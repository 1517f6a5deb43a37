#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "spec/data_specification.hpp"

namespace dadsim::models {

/// Mean, standard deviation and extremes of a stream of numbers (Welford, Technometrics 4, 1962).
class ColumnMoments {
 public:
  void add(double value) {
    ++count_;
    const double before = value - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (value - mean_);
    least_ = std::min(least_, value);
    largest_ = std::max(largest_, value);
  }

  std::int64_t count() const { return count_; }
  double mean() const { return mean_; }

  /// Returns (value − mean) ÷ standard deviation; 0 if all numbers are equal up to rounding.
  float standardise(double value) const {
    const double deviation = count_ > 0 ? std::sqrt(squares_ / static_cast<double>(count_)) : 0.0;
    if (!(deviation > 1e-9 * std::abs(mean_)) || deviation < 1e-30) return 0;
    return static_cast<float>((value - mean_) / deviation);
  }

  /// Returns the scaled value of a feature. Returns 0 if all numbers of the feature are equal, except with Scale::none.
  float scaled(double value, spec::Scale scale) const {
    if (scale == spec::Scale::none) return static_cast<float>(value);
    if (scale == spec::Scale::standard) return standardise(value);
    return largest_ > least_ ? static_cast<float>((value - least_) / (largest_ - least_)) : 0;
  }

 private:
  std::int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  double largest_ = -std::numeric_limits<double>::infinity();
};

}  // namespace dadsim::models
