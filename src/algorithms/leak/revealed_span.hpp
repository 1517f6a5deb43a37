#pragma once

#include <vector>

#include "models/matrix.hpp"

namespace dadsim::algorithms {

/// The most that a linear reading of messages could reveal of rows of p numbers: the space spanned by the rows of all
/// p-wide matrices, together with a site's mean row (docs/leak.md). A direction's weight is 1 or, with added noise of
/// known deviation σ per number, max(0, 1 − τ² ÷ s²), s its singular value and τ = σ (√p + √q) the edge of the noise of
/// a q × p matrix (Vershynin, arXiv 1011.3027, theorem 5.31).
///
/// Lengths below some 10⁻⁶ of the largest cannot be told from fp32 rounding and give no direction (orthonormal.hpp).
class RevealedSpan {
 public:
  /// Starts with an empty span of rows of p numbers.
  explicit RevealedSpan(Eigen::Index p) : directions_(0, p) {}

  /// Adds a received matrix, its first p columns. `noise`: deviation per number. `likely`: expected number of
  /// directions; only affects speed.
  void add(const models::ConstBlock& matrix, double noise, Eigen::Index likely);
  void add(RevealedSpan other);

  /// Σ ‖row P‖² and Σ ‖row‖² of a group of `per_group` rows, each less the mean row.
  struct Energy {
    double shown = 0, all = 0;
    double share() const { return all > 0 ? shown / all : 0; }
  };
  std::vector<Energy> energies(const models::ConstBlock& rows, const models::Vector& mean,
                               Eigen::Index per_group) const;

  /// Returns the revealed part of one row: the mean, and the rest as far as the directions and the mean span it.
  models::Vector shown(const models::Vector& row, const models::Vector& mean) const;

  Eigen::Index directions() const { return directions_.rows(); }
  /// Returns orthogonal rows of p numbers, whose squared lengths are their weights.
  const models::Matrix& basis() const { return directions_; }
  bool is_exact() const { return exact_; }  ///< all weights are 1
  /// Returns the part of the mean row outside the directions, with length 1; empty if there is none.
  models::Vector beside(const models::Vector& mean) const;

 private:
  models::Matrix directions_;
  bool exact_ = true;
};

}  // namespace dadsim::algorithms
