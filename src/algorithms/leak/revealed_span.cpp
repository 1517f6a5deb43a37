#include "algorithms/leak/revealed_span.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/leak/orthonormal.hpp"

namespace dadsim::algorithms {
namespace {

using models::Matrix;
using models::Vector;

/// Singular values and right singular vectors of coordinates k × r, r small, in descending order.
struct Singular {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;  ///< right singular vectors, r × r, one per column
};

Singular singular_of(const models::ConstBlock& coordinates) {
  if (coordinates.cols() == 0) return {Eigen::VectorXd(0), Eigen::MatrixXd(0, 0)};  // no direction was found
  const Eigen::MatrixXd numbers = coordinates.cast<double>();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(numbers.transpose() * numbers);
  return {solver.eigenvalues().cwiseMax(0.0).cwiseSqrt().reverse(), solver.eigenvectors().rowwise().reverse()};
}

/// Returns the rows of the matrix that are not zero.
Matrix without_zeros(const models::ConstBlock& matrix) {
  Matrix result(matrix.rows(), matrix.cols());
  Eigen::Index rows = 0;
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    if (!matrix.row(r).isZero(0)) result.row(rows++) = matrix.row(r);
  }
  result.conservativeResize(rows, Eigen::NoChange);
  return result;
}

}  // namespace

void RevealedSpan::add(const models::ConstBlock& matrix, double noise, Eigen::Index likely) {
  const Eigen::Index p = directions_.cols();
  if (matrix.cols() < p || !matrix.allFinite()) return;
  const Matrix rows = without_zeros(matrix.leftCols(p));
  if (rows.rows() == 0) return;
  RevealedSpan found(p);
  if (noise > 0) {
    found.directions_ = orthonormal_rows(rows, rows.rows(), kFp32Rounding, true);
    const double edge = noise * (std::sqrt(static_cast<double>(p)) + std::sqrt(static_cast<double>(matrix.rows())));
    const Singular singular = singular_of(product_with_transposed(rows, found.directions_));
    Eigen::Index kept = 0;
    while (kept < singular.values.size() && singular.values(kept) > edge) ++kept;
    Matrix turn(kept, found.directions_.rows());
    for (Eigen::Index k = 0; k < kept; ++k) {
      const double ratio = edge / singular.values(k);
      turn.row(k) = (std::sqrt(1 - ratio * ratio) * singular.vectors.col(k).transpose()).cast<float>();
    }
    found.directions_ = turn * found.directions_;
    found.exact_ = false;
  } else {
    found.directions_ = orthonormal_rows(rows, likely, kFp32Rounding, true);
  }
  add(std::move(found));
}

void RevealedSpan::add(RevealedSpan other) {
  if (directions_.rows() < other.directions_.rows()) std::swap(*this, other);
  if (other.directions_.rows() == 0) return;
  const Eigen::Index p = directions_.cols(), own = directions_.rows();
  if (exact_ && other.exact_) {
    Matrix rest = std::move(other.directions_);
    for (int pass = 0; pass < 2; ++pass) project_out(directions_, rest);
    const Matrix more = orthonormal_rows(rest, rest.rows(), kOneDirection, false);
    directions_.conservativeResize(own + more.rows(), Eigen::NoChange);
    directions_.bottomRows(more.rows()) = more;
    return;
  }
  Matrix both(own + other.directions_.rows(), p);
  both << directions_, other.directions_;
  const Matrix basis = orthonormal_rows(both, both.rows(), kOneDirection, true);
  const Singular singular = singular_of(product_with_transposed(both, basis));
  Matrix turn(basis.rows(), basis.rows());
  for (Eigen::Index k = 0; k < basis.rows(); ++k) {
    turn.row(k) = (std::min(1.0, singular.values(k)) * singular.vectors.col(k).transpose()).cast<float>();
  }
  directions_ = turn * basis;
  exact_ = false;
}

Vector RevealedSpan::beside(const Vector& mean) const {
  Vector beside = mean;
  if (directions() > 0) {
    for (int pass = 0; pass < 2; ++pass) beside -= directions_.transpose() * (directions_ * beside).eval();
  }
  const float norm = beside.norm();
  constexpr float kApart = 1e-4F;
  if (!(norm > kApart * mean.norm())) return {};
  return beside / norm;
}

Vector RevealedSpan::shown(const Vector& row, const Vector& mean) const {
  const Vector centred = row - mean;
  Vector shown = mean;
  if (directions() > 0) shown += directions_.transpose() * (directions_ * centred).eval();
  const Vector apart = beside(mean);
  if (apart.size() > 0) shown += apart.dot(centred) * apart;
  return shown;
}

std::vector<RevealedSpan::Energy> RevealedSpan::energies(const models::ConstBlock& rows, const Vector& mean,
                                                         Eigen::Index per_group) const {
  const Matrix centred = rows.rowwise() - mean.transpose();
  Matrix seen(rows.rows(), directions());
  if (directions() > 0) seen = product_with_transposed(centred, directions_);
  Vector along = Vector::Zero(rows.rows());
  if (const Vector apart = beside(mean); apart.size() > 0) along = centred * apart;
  std::vector<Energy> result(static_cast<std::size_t>(rows.rows() / std::max<Eigen::Index>(1, per_group)));
  for (std::size_t g = 0; g < result.size(); ++g) {
    const Eigen::Index first = static_cast<Eigen::Index>(g) * per_group;
    result[g].all = centred.middleRows(first, per_group).squaredNorm();
    result[g].shown = std::min(result[g].all, static_cast<double>(seen.middleRows(first, per_group).squaredNorm() +
                                                                  along.segment(first, per_group).squaredNorm()));
  }
  return result;
}

}  // namespace dadsim::algorithms
