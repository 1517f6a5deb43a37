#pragma once

#include <vector>

#include "models/matrix.hpp"

namespace dadsim::algorithms {

/// Cholesky factor of a Gram matrix with pivoting by the largest remainder, which reveals its rank: gram(pivots,
/// pivots) = factor · factorᵀ; the remainder is at most `least` (a squared length).
struct PivotedCholesky {
  std::vector<Eigen::Index> pivots;
  Eigen::MatrixXd factor;  ///< r × r, lower

  /// Replaces X by factor⁻¹ X for X of r rows.
  void solve(Eigen::MatrixXd& x) const;
  /// Replaces long rows X by factor⁻¹ X in products of blocks.
  void solve(models::Matrix& rows) const;
};
PivotedCholesky pivoted_cholesky(const Eigen::MatrixXd& gram, double least);

/// Returns A Bᵀ.
models::Matrix product_with_transposed(const models::ConstBlock& a, const models::ConstBlock& b);
/// Removes the part of `rows` that orthonormal rows span.
void project_out(const models::ConstBlock& basis, models::Matrix& rows);

/// Share of the largest length below which a length cannot be told from fp32 rounding.
inline constexpr double kFp32Rounding = 3e-6;
/// Remaining length of a direction below which it counts as already present, up to rounding.
inline constexpr double kOneDirection = 1e-2;

/// Returns orthonormal rows that span the rows of `matrix`. Directions in which rows are no longer than `least` times
/// the longest (`relative`), or than `least` itself, are left out. `likely`: expected number of directions; only
/// affects speed.
///
/// Gram matrices in fp32 resolve lengths down to some 10⁻³ of the longest: rows are taken in levels of 1/256 each,
/// which are made orthonormal twice (Cholesky QR2: Yamamoto, Nakatsukasa, Yanagisawa, Fukaya, ETNA 44, 2015, pages
/// 306-326). With many more rows than directions, random combinations of rows take their place (Halko, Martinsson,
/// Tropp, arXiv 0909.4061).
models::Matrix orthonormal_rows(const models::ConstBlock& matrix, Eigen::Index likely, double least, bool relative);

}  // namespace dadsim::algorithms
