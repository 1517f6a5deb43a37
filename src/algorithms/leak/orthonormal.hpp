#pragma once

#include <vector>

#include "models/matrix.hpp"

namespace dadsim::algorithms {

/// Cholesky's factor of a Gram matrix with the largest rest first, so that it tells its rank: gram(pivots, pivots) =
/// factor · factorᵀ, and what is left of the rest is at most `least` (a squared length).
struct PivotedCholesky {
  std::vector<Eigen::Index> pivots;
  Eigen::MatrixXd factor;  ///< r × r, lower

  /// X ← factor⁻¹ X for X of r rows.
  void solve(Eigen::MatrixXd& x) const;
  /// The same of long rows, in products of blocks.
  void solve(models::Matrix& rows) const;
};
PivotedCholesky pivoted_cholesky(const Eigen::MatrixXd& gram, double least);

/// A Bᵀ.
models::Matrix product_with_transposed(const models::ConstBlock& a, const models::ConstBlock& b);
/// What orthonormal rows leave of `rows`.
void project_out(const models::ConstBlock& basis, models::Matrix& rows);

/// What is at most this share of the largest cannot be told from the rounding of fp32.
inline constexpr double kFp32Rounding = 3e-6;
/// Where a length of at most this is left of a direction, it is one that is there already, up to rounding.
inline constexpr double kOneDirection = 1e-2;

/// Orthonormal rows that span the rows of `matrix` as far as these, less what others span, are longer than `least`
/// times the longest (`relative`) or than `least` itself. `likely`: directions that there may well be; a matter of
/// speed.
///
/// Gram matrices in fp32 tell lengths down to some 10⁻³ of the longest: rows are taken in levels of 1/256 each, which
/// are made orthonormal twice (Cholesky QR2: Yamamoto, Nakatsukasa, Yanagisawa, Fukaya, ETNA 44, 2015, pages 306-326).
/// Where there are many more rows than directions, random combinations of them take their place (Halko, Martinsson,
/// Tropp, arXiv 0909.4061).
models::Matrix orthonormal_rows(const models::ConstBlock& matrix, Eigen::Index likely, double least, bool relative);

}  // namespace dadsim::algorithms
