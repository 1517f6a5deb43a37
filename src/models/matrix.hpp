#pragma once

#include <Eigen/Core>

namespace dadsim {

/// Row-major, so that the rows of a site (samples, tokens) are one block of memory. Learning runs in float; double is for
/// gradient checks.
template <class T>
using MatrixOf = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using VectorOf = Eigen::Matrix<T, Eigen::Dynamic, 1>;

using Matrix = MatrixOf<float>;
using Vector = VectorOf<float>;
using ConstBlock = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;  ///< some rows of a matrix, without a copy

}  // namespace dadsim
