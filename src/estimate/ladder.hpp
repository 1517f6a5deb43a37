#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dadsim::estimate {

/// A network of a family, with the relative steps of a method: its steps ÷ the steps of gradient sharing.
struct Rung {
  std::vector<double> size;  ///< log₁₀ of the size, per kind of size
  double ratio = 1;          ///< relative steps, above 0
  double seed_variance = 0;  ///< variance of ln(ratio) from the seeds; 0: unknown
};

/// Slope of ln(relative steps) along one kind of size.
struct Slope {
  double per_decade = 0;  ///< change of ln(ratio) per decade
  double error = 0;       ///< standard error
  double chance = 1;      ///< probability of a slope this steep without a trend
  bool shown = false;     ///< chance < kTrendChance, in a regression with the other shown slopes
};
inline constexpr double kTrendChance = 0.05;

/// Predicted relative steps of a network of some size, with an interval.
struct LadderPrediction {
  double ratio = 1, low = 1, high = 1;
  double distance = 0;  ///< decades beyond the rungs' range, in the worst kind of size; 0: within the range
};

/// The relative steps of a family of networks against their size: a regression of y = ln(ratio) on x = log₁₀(size),
/// with the prediction interval of a new observation (Draper & Smith, Applied Regression Analysis, 3rd ed., section
/// 1.4, 5.1), made for few rungs:
/// - The variance about the line is that of the residuals, or what seeds leave open on average where that is more:
///   few points lie on a line by luck, no line makes seeds agree.
/// - Kinds of size whose slope is not shown (Student's t, kTrendChance) are left out, least likely first. Without any,
///   the value is the mean over the rungs, and the variance that about the mean. That a slope is not shown does not say
///   that there is none: what the slopes that were left out may be, b ± t · √(dᵀ C d) over the distance d with the
///   covariance C that they have in the whole regression, is added in squares to either side as far as it reaches
///   there. Such an interval leans to the side that the rungs lean to.
/// So the interval grows with the distance from the rungs whether a trend is shown or not.
/// Held against drawn families in tests/estimate/ladder_test.cpp.
class Ladder {
 public:
  /// Fits the rungs, which must have finite ratios above 0. Throws std::invalid_argument unless there are two rungs
  /// more than kinds of size, and at least three. All rungs need the same kinds, and no kind may be constant or follow
  /// from the others.
  explicit Ladder(std::vector<Rung> rungs);

  const std::vector<Rung>& rungs() const { return rungs_; }
  const std::vector<Slope>& slopes() const { return slopes_; }  ///< per kind of size
  bool shows_trend() const;
  double spread() const;  ///< standard deviation of ln(ratio) about the line, or about the mean

  /// Predicts the mean over as many seeds as a rung has, for another network of the family, with an interval of `level`
  /// (0.9).
  LadderPrediction at(const std::vector<double>& size, double level) const;

 private:
  /// Least squares over some kinds of size.
  struct Fit {
    std::vector<std::size_t> kinds;  ///< kinds of size in the regression
    std::vector<double> slopes;      ///< slope per kind
    std::vector<double> inverse;     ///< inverse of Σ (x − x̄)(x − x̄)ᵀ, row by row
    double variance = 0;             ///< variance about the line
    std::int64_t freedom = 1;
  };
  Fit fit_of(const std::vector<std::size_t>& kinds) const;
  double centred(std::size_t rung, std::size_t kind) const { return rungs_[rung].size[kind] - centre_[kind]; }

  std::vector<Rung> rungs_;
  std::vector<double> centre_;  ///< mean size
  double mean_ = 0;             ///< mean of ln(ratio)
  double seed_variance_ = 0;    ///< mean seed variance of the rungs
  Fit whole_, shown_;
  std::vector<Slope> slopes_;
};

}  // namespace dadsim::estimate
