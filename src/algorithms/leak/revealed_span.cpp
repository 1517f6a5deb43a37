#include "algorithms/leak/revealed_span.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "models/gemm/product.hpp"

namespace dadsim::algorithms {
namespace {

using models::Matrix;
using models::Vector;

/// Combinations beyond the directions that are there, by which it is seen that there are no more.
constexpr Eigen::Index kMore = 8;

Matrix product_with_transposed(const models::ConstBlock& a, const models::ConstBlock& b) {
  Matrix c(a.rows(), b.rows());
  models::multiply_transposed<float>(a, b, Vector(), c);
  return c;
}

/// Numbers between −1 and 1, ÷ √rows, the same for every run.
Matrix mixture(Eigen::Index rows, Eigen::Index columns) {
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

/// Orthonormal rows that span the rows of `matrix`, as far as they are above `least` times the largest (`relative`) or
/// above `least` itself.
Matrix basis_of(const models::ConstBlock& matrix, Eigen::Index likely, float least, bool relative) {
  // More combinations than rows: exactly as many could be ill-conditioned.
  const Eigen::Index most = std::min(matrix.rows() + kMore, matrix.cols());
  for (Eigen::Index tried = std::min(most, likely + kMore);; tried = std::min(most, 2 * tried)) {
    Matrix mixed(tried, matrix.cols());
    models::multiply<float>(mixture(tried, matrix.rows()), matrix, mixed);
    const Eigen::HouseholderQR<Eigen::MatrixXf> qr(mixed.transpose());
    const Vector diagonal = qr.matrixQR().diagonal().cwiseAbs();
    const float limit = relative ? least * diagonal.maxCoeff() : least;
    Eigen::Index found = 0;
    while (found < tried && diagonal(found) > limit) ++found;
    if (found == tried && tried < most) continue;
    const Eigen::MatrixXf columns = qr.householderQ() * Eigen::MatrixXf::Identity(matrix.cols(), found);
    return columns.transpose();
  }
}

/// Singular values and right singular vectors of coordinates k × r, r small; the largest first.
struct Singular {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;  ///< r × r, a column each
};

Singular singular_of(const models::ConstBlock& coordinates) {
  if (coordinates.cols() == 0) return {Eigen::VectorXd(0), Eigen::MatrixXd(0, 0)};  // no direction was found
  const Eigen::MatrixXd numbers = coordinates.cast<double>();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(numbers.transpose() * numbers);
  return {solver.eigenvalues().cwiseMax(0.0).cwiseSqrt().reverse(), solver.eigenvectors().rowwise().reverse()};
}

/// Rows of the matrix that are not zero.
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
  constexpr float kRounding = 3e-6F;
  const Eigen::Index p = directions_.cols();
  if (matrix.cols() < p || !matrix.allFinite()) return;
  const Matrix rows = without_zeros(matrix.leftCols(p));
  if (rows.rows() == 0) return;
  RevealedSpan found(p);
  if (noise > 0) {
    found.directions_ = basis_of(rows, rows.rows(), kRounding, true);
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
    found.directions_ = basis_of(rows, likely, kRounding, true);
  }
  add(found);
}

void RevealedSpan::add(const RevealedSpan& other) {
  if (other.directions_.rows() == 0) return;
  if (directions_.rows() == 0) {
    *this = other;
    return;
  }
  constexpr float kOne = 1e-3F;  // below it two directions are one, up to rounding
  const Eigen::Index p = directions_.cols(), own = directions_.rows();
  if (exact_ && other.exact_) {
    Matrix rest = other.directions_;
    for (int pass = 0; pass < 2; ++pass) {
      models::multiply<float>(Matrix(-product_with_transposed(rest, directions_)), directions_, rest, true);
    }
    const Matrix more = basis_of(rest, rest.rows(), kOne, false);
    directions_.conservativeResize(own + more.rows(), Eigen::NoChange);
    directions_.bottomRows(more.rows()) = more;
    return;
  }
  Matrix both(own + other.directions_.rows(), p);
  both << directions_, other.directions_;
  const Matrix basis = basis_of(both, both.rows(), kOne, true);
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
