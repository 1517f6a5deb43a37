#include "algorithms/leak/orthonormal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "models/gemm/product.hpp"

namespace dadsim::algorithms {
namespace {

using Eigen::Index;
using models::Matrix;

/// Returns fixed pseudorandom numbers between −1 and 1, ÷ √rows, the same for every run.
Matrix mixture(Index rows, Index columns) {
  Matrix result(rows, columns);
  const float size = 1.0F / std::sqrt(static_cast<float>(rows));
  constexpr float kHalf = 2147483648.0F;
  std::uint32_t state = 0x2545F491U;
  for (float& x : result.reshaped<Eigen::RowMajor>()) {
    state ^= state << 13U;
    state ^= state >> 17U;
    state ^= state << 5U;
    x = size * (static_cast<float>(state) / kHalf - 1.0F);
  }
  return result;
}

Eigen::MatrixXd gram_of(const Matrix& rows) { return product_with_transposed(rows, rows).cast<double>(); }

/// Returns the chosen rows of a matrix, in that order.
Matrix chosen_rows(const Matrix& matrix, const std::vector<Index>& chosen) {
  Matrix result(static_cast<Index>(chosen.size()), matrix.cols());
  for (std::size_t i = 0; i < chosen.size(); ++i) result.row(static_cast<Index>(i)) = matrix.row(chosen[i]);
  return result;
}

Matrix orthonormal_levels(Matrix rows, double least, bool relative) {
  constexpr double kLevel = 1.0 / 256, kStillThere = 0.25;
  Matrix basis(0, rows.cols());
  double limit = relative ? -1 : least;
  while (rows.rows() > 0) {
    const Eigen::MatrixXd gram = gram_of(rows);
    const double longest = std::sqrt(std::max(0.0, gram.diagonal().maxCoeff()));
    if (limit < 0) limit = least * longest;
    if (!(longest > limit)) break;
    const double shortest = std::max(limit, kLevel * longest);
    const PivotedCholesky found = pivoted_cholesky(gram, shortest * shortest);
    Matrix more = chosen_rows(rows, found.pivots);
    found.solve(more);
    if (basis.rows() > 0) project_out(basis, more);
    const PivotedCholesky again = pivoted_cholesky(gram_of(more), kStillThere);
    more = chosen_rows(more, again.pivots);
    again.solve(more);
    basis.conservativeResize(basis.rows() + more.rows(), Eigen::NoChange);
    basis.bottomRows(more.rows()) = more;

    std::vector<char> taken(static_cast<std::size_t>(rows.rows()), 0);
    for (const Index row : found.pivots) taken[static_cast<std::size_t>(row)] = 1;
    std::vector<Index> left;
    for (Index row = 0; row < rows.rows(); ++row) {
      if (taken[static_cast<std::size_t>(row)] == 0) left.push_back(row);
    }
    rows = chosen_rows(rows, left);
    if (rows.rows() > 0) project_out(more, rows);
  }
  return basis;
}

}  // namespace

void PivotedCholesky::solve(Eigen::MatrixXd& x) const {
  for (Index c = 0; c < x.cols(); ++c) {
    for (Index t = 0; t < factor.cols(); ++t) {
      x(t, c) /= factor(t, t);
      for (Index i = t + 1; i < factor.rows(); ++i) x(i, c) -= factor(i, t) * x(t, c);
    }
  }
}

void PivotedCholesky::solve(Matrix& rows) const {
  constexpr Index kBlock = 32;
  const Matrix less = -factor.cast<float>();
  for (Index first = 0; first < rows.rows(); first += kBlock) {
    const Index size = std::min(kBlock, rows.rows() - first);
    if (first > 0) {
      models::multiply<float>(less.block(first, 0, size, first), rows.topRows(first), rows.middleRows(first, size),
                              true);
    }
    const PivotedCholesky block{{}, factor.block(first, first, size, size)};
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(size, size);
    block.solve(inverse);
    const Matrix right = rows.middleRows(first, size);
    models::multiply<float>(Matrix(inverse.cast<float>()), right, rows.middleRows(first, size));
  }
}

PivotedCholesky pivoted_cholesky(const Eigen::MatrixXd& gram, double least) {
  const Index size = gram.rows();
  Eigen::VectorXd rest = gram.diagonal();
  Eigen::MatrixXd columns(size, size);
  PivotedCholesky result;
  Index rank = 0;
  for (; rank < size; ++rank) {
    Index pivot = 0;
    if (!(rest.maxCoeff(&pivot) > least)) break;
    result.pivots.push_back(pivot);
    // Subtracts column by column, each number separately, to get the same bits for any memory address.
    columns.col(rank) = gram.col(pivot);
    for (Index t = 0; t < rank; ++t) columns.col(rank) -= columns(pivot, t) * columns.col(t);
    columns.col(rank) /= std::sqrt(rest(pivot));
    columns(pivot, rank) = std::sqrt(rest(pivot));
    rest.array() -= columns.col(rank).array().square();
    for (const Index taken : result.pivots) rest(taken) = -1;
  }
  result.factor = Eigen::MatrixXd::Zero(rank, rank);
  for (Index i = 0; i < rank; ++i) {
    for (Index t = 0; t <= i; ++t) result.factor(i, t) = columns(result.pivots[static_cast<std::size_t>(i)], t);
  }
  return result;
}

Matrix product_with_transposed(const models::ConstBlock& a, const models::ConstBlock& b) {
  Matrix c(a.rows(), b.rows());
  models::multiply_transposed<float>(a, b, models::Vector(), c);
  return c;
}

void project_out(const models::ConstBlock& basis, Matrix& rows) {
  models::multiply<float>(Matrix(-product_with_transposed(rows, basis)), basis, rows, true);
}

Matrix orthonormal_rows(const models::ConstBlock& matrix, Index likely, double least, bool relative) {
  // Draws a few more combinations than expected directions: the surplus shows that no directions are missing.
  constexpr Index kMore = 8;
  const Index most = matrix.cols() + kMore;
  for (Index tried = std::min(most, likely + kMore); 2 * tried <= matrix.rows(); tried = std::min(most, 2 * tried)) {
    Matrix mixed(tried, matrix.cols());
    models::multiply<float>(mixture(tried, matrix.rows()), matrix, mixed);
    Matrix found = orthonormal_levels(std::move(mixed), least, relative);
    if (found.rows() < tried) return found;
  }
  return orthonormal_levels(matrix, least, relative);
}

}  // namespace dadsim::algorithms
