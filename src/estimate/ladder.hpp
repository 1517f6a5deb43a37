#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dadsim::estimate {

/// A network of a family, and the relative steps of a method on it: its steps ÷ the steps of gradient sharing.
struct Rung {
  std::vector<double> size;  ///< log₁₀ of the size, per kind of size
  double ratio = 1;          ///< relative steps, above 0
  double seed_variance = 0;  ///< variance of ln(ratio) between seeds; 0: unknown
};

/// Slope of ln(relative steps) with one kind of size.
struct Slope {
  double per_decade = 0;  ///< change of ln(ratio) per decade
  double error = 0;       ///< standard error of per_decade
  double chance = 1;      ///< p-value: probability of a slope this steep without a trend
  bool shown = false;     ///< true: chance < kTrendChance in a regression with the other significant slopes
};
inline constexpr double kTrendChance = 0.05;

/// Predicted relative steps of a network of some size, with an interval.
struct LadderPrediction {
  double ratio = 1, low = 1, high = 1;
  double distance = 0;  ///< decades outside of the rungs' range, for the kind of size that is farthest outside; 0:
                        ///< inside
};

/// The relative steps of a family of networks against their size: a regression of y = ln(ratio) on x = log₁₀(size),
/// with the prediction interval of a new observation (Draper & Smith, Applied Regression Analysis, 3rd ed., section
/// 1.4, 5.1), made for few rungs:
/// - The variance about the line is that of the residuals, or the mean variance between seeds if larger, because
///   few points may lie on a line by chance.
/// - Kinds of size whose slope is not significant (Student's t, kTrendChance) are left out, least significant first.
///   If none remains, the prediction is the mean over the rungs, with the variance about this mean.
/// - A slope that is not significant may still exist. At distance d its effect is between b ± t · √(dᵀ C d), with the
///   covariance C of the regression over all kinds of size. This range is added to the interval in quadrature, on each
///   side as far as it extends, so the interval is wider on the side of the rungs' trend.
/// The interval thus grows with the distance from the rungs, with or without a significant trend.
/// tests/estimate/ladder_test.cpp checks the interval with random families.
class Ladder {
 public:
  /// Fits the rungs, which must have finite ratios above 0. Throws std::invalid_argument unless there are at least
  /// three rungs, and two more than kinds of size. All rungs need the same kinds. No kind may be constant, or a linear
  /// combination of others.
  explicit Ladder(std::vector<Rung> rungs);

  const std::vector<Rung>& rungs() const { return rungs_; }
  const std::vector<Slope>& slopes() const { return slopes_; }  ///< slope of each kind of size
  bool shows_trend() const;
  double spread() const;  ///< standard deviation of ln(ratio) about the line, or about the mean

  /// Predicts the mean relative steps of another network of the family, over as many seeds as a rung has, with an
  /// interval of `level` (0.9).
  LadderPrediction at(const std::vector<double>& size, double level) const;

 private:
  /// Least-squares fit over some kinds of size.
  struct Fit {
    std::vector<std::size_t> kinds;  ///< kinds of size in the regression
    std::vector<double> slopes;      ///< slope of each kind
    std::vector<double> inverse;     ///< inverse of Σ (x − x̄)(x − x̄)ᵀ, row by row
    double variance = 0;             ///< variance about the line
    std::int64_t freedom = 1;
  };
  Fit fit_of(const std::vector<std::size_t>& kinds) const;
  double centred(std::size_t rung, std::size_t kind) const { return rungs_[rung].size[kind] - centre_[kind]; }

  std::vector<Rung> rungs_;
  std::vector<double> centre_;  ///< mean of each kind of size
  double mean_ = 0;             ///< mean of ln(ratio)
  double seed_variance_ = 0;    ///< mean seed variance of the rungs
  Fit whole_, shown_;
  std::vector<Slope> slopes_;
};

}  // namespace dadsim::estimate
