#pragma once

#include <Eigen/Core>

namespace dadsim::models {

/// Matrices are row-major, so that the rows of a site (samples, tokens) are contiguous. Learning runs in float; double
/// is for gradient checks.
template <class T>
using MatrixOf = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using VectorOf = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// Views of some rows or columns of a matrix, without a copy: read-only, or mutable.
template <class T>
using ConstBlockOf = Eigen::Ref<const MatrixOf<T>, 0, Eigen::OuterStride<>>;
template <class T>
using MutableBlockOf = Eigen::Ref<MatrixOf<T>, 0, Eigen::OuterStride<>>;

using Matrix = MatrixOf<float>;
using Vector = VectorOf<float>;
using ConstBlock = ConstBlockOf<float>;
using MutableBlock = MutableBlockOf<float>;

}  // namespace dadsim::models
