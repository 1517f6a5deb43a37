#pragma once

#include <vector>

#include "models/matrix.hpp"

namespace dadsim::algorithms {

/// What any linear reading of messages could show of rows of p numbers: the space that the rows of all p-wide matrices
/// span, together with the mean row of a site (docs/leak.md). A direction counts with its weight: 1, or where noise of
/// known deviation σ per number has been added max(0, 1 − τ² ÷ s²), s its singular value and τ = σ (√p + √q) the edge
/// of the noise of a q × p matrix (Vershynin, arXiv 1011.3027, theorem 5.31).
///
/// What is below some 10⁻⁶ of the largest cannot be told from the rounding of fp32 and is no direction
/// (orthonormal.hpp).
class RevealedSpan {
 public:
  /// Of nothing yet, of rows of p numbers.
  explicit RevealedSpan(Eigen::Index p) : directions_(0, p) {}

  /// A matrix was received: its first p columns. `noise`: deviation per number. `likely`: directions that it may well
  /// have; a matter of speed.
  void add(const models::ConstBlock& matrix, double noise, Eigen::Index likely);
  void add(RevealedSpan other);

  /// Per group of `per_group` rows, each less the mean row: Σ ‖row P‖² and Σ ‖row‖².
  struct Energy {
    double shown = 0, all = 0;
    double share() const { return all > 0 ? shown / all : 0; }
  };
  std::vector<Energy> energies(const models::ConstBlock& rows, const models::Vector& mean,
                               Eigen::Index per_group) const;

  /// What can be shown of one row: the mean, and the rest as far as the directions and the mean hold it.
  models::Vector shown(const models::Vector& row, const models::Vector& mean) const;

  Eigen::Index directions() const { return directions_.rows(); }
  /// Orthogonal rows of p numbers, whose squared lengths are their weights.
  const models::Matrix& basis() const { return directions_; }
  bool is_exact() const { return exact_; }  ///< all weights are 1
  /// The mean row as far as it is not among the directions, of length 1; empty where it is.
  models::Vector beside(const models::Vector& mean) const;

 private:
  models::Matrix directions_;
  bool exact_ = true;
};

}  // namespace dadsim::algorithms
