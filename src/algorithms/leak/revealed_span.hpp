#pragma once

#include <vector>

#include "models/matrix.hpp"

namespace dadsim::algorithms {

/// The most that a linear reading of messages could reveal of rows of p numbers: the space spanned by the rows of all
/// p-wide matrices, together with a site's mean row (docs/leak.md). A direction's weight is 1 or, with added noise of
/// known deviation σ per number, max(0, 1 − τ² ÷ s²), s its singular value and τ = σ (√p + √q) the edge of the noise of
/// a q × p matrix (Vershynin, arXiv 1011.3027, theorem 5.31).
///
/// Ignores lengths below some 10⁻⁶ of the largest, which cannot be distinguished from fp32 rounding (orthonormal.hpp).
class RevealedSpan {
 public:
  /// Starts with an empty span of rows of p numbers.
  explicit RevealedSpan(Eigen::Index p) : directions_(0, p) {}

  /// Adds a received matrix, its first p columns. `noise`: deviation per number. `likely`: expected number of
  /// directions; only affects speed.
  void add(const models::ConstBlock& matrix, double noise, Eigen::Index likely);
  void add(RevealedSpan other);

  /// Returns Σ ‖row P‖² and Σ ‖row‖² per group of `per_group` rows, with the mean row subtracted from each.
  struct Energy {
    double shown = 0, all = 0;
    double share() const { return all > 0 ? shown / all : 0; }
  };
  std::vector<Energy> energies(const models::ConstBlock& rows, const models::Vector& mean,
                               Eigen::Index per_group) const;

  /// Returns the revealed part of a row: the mean row, and the projection of the remainder onto the directions.
  models::Vector shown(const models::Vector& row, const models::Vector& mean) const;

  Eigen::Index directions() const { return directions_.rows(); }
  /// Returns orthogonal rows of p numbers, whose squared lengths are their weights.
  const models::Matrix& basis() const { return directions_; }
  bool is_exact() const { return exact_; }  ///< all weights are 1
  /// Returns the normalised part of the mean row outside the directions; empty if there is none.
  models::Vector beside(const models::Vector& mean) const;

 private:
  models::Matrix directions_;
  bool exact_ = true;
};

}  // namespace dadsim::algorithms
