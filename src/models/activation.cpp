#include "models/activation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <type_traits>

#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

constexpr std::size_t kActivatedRows = 128;

/// Φ(z), the standard normal distribution; erfc keeps its digits for z ≪ 0, where 1 + erf would lose them.
template <class T>
T normal_cdf(T z) {
  return T(0.5) * std::erfc(-z * std::numbers::sqrt2_v<T> / T(2));
}

template <class T>
T normal_density(T z) {
  return std::exp(T(-0.5) * z * z) * std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
}

/// ½ erfc(x ÷ √2) and, if wanted, φ(x) for x = |z|, for `size` ≤ kPiece numbers. In float erfc(y) = t exp(−y² + P(t))
/// with t = 1 ÷ (1 + y/2), where P is fitted by least squares at 2000 Chebyshev nodes of 0 ≤ y ≤ 9.5: the relative
/// error is 3e-7 wherever the result is a normal number, without calls in the loops.
constexpr Eigen::Index kPiece = 256;
template <class T>
void upper_tail(const T* z, Eigen::Index size, T* tail, T* density) {
  if constexpr (std::is_same_v<T, double>) {
    for (Eigen::Index i = 0; i < size; ++i) {
      tail[i] = normal_cdf(-std::abs(z[i]));
      if (density != nullptr) density[i] = normal_density(z[i]);
    }
  } else {
    using Array = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
    const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> x(z, size);
    Array h(tail, size);
    T polynomial[kPiece];
    for (Eigen::Index i = 0; i < size; ++i) {
      const T t = T(1) / (T(1) + std::abs(z[i]) * T(0.353553391));
      T sum = T(0.140507134);
      for (const T coefficient : {-0.656615832F, 1.09943846F, -0.619523332F, -0.144173503F, 0.0354678626F,
                                  0.0228741432F, 0.389117147F, 0.998341449F, -1.26543349F}) {
        sum = sum * t + coefficient;
      }
      polynomial[i] = sum;
      tail[i] = T(0.5) * t;
    }
    const Array p(polynomial, size);
    h *= (p - T(0.5) * x.square()).exp();
    if (density != nullptr) Array(density, size) = (T(-0.5) * x.square()).exp() * T(0.398942280);
  }
}

/// Calls `body(row, column, size)` for pieces of a block's rows.
template <class Block, class Body>
void for_pieces(const Block& block, const Body& body) {
  for (Eigen::Index row = 0; row < block.rows(); ++row) {
    for (Eigen::Index i = 0; i < block.cols(); i += kPiece) body(row, i, std::min(kPiece, block.cols() - i));
  }
}

/// z Φ(z), which is max(z, 0) − |z| (1 − Φ(|z|)).
template <class T>
void gelu(MutableBlockOf<T>& block) {
  for_pieces(block, [&](Eigen::Index row, Eigen::Index column, Eigen::Index size) {
    T* z = block.data() + row * block.outerStride() + column;
    T tail[kPiece];
    upper_tail<T>(z, size, tail, nullptr);
    for (Eigen::Index i = 0; i < size; ++i) z[i] = (z[i] < T(0) ? T(0) : z[i]) - std::abs(z[i]) * tail[i];
  });
}

/// Δ ⊙ (Φ(z) + z φ(z))
template <class T>
void multiply_gelu_derivative(const ConstBlockOf<T>& pre_activation, MutableBlockOf<T>& block) {
  for_pieces(block, [&](Eigen::Index row, Eigen::Index column, Eigen::Index size) {
    const T* z = pre_activation.data() + row * pre_activation.outerStride() + column;
    T* delta = block.data() + row * block.outerStride() + column;
    T tail[kPiece], density[kPiece];
    upper_tail<T>(z, size, tail, density);
    for (Eigen::Index i = 0; i < size; ++i) {
      delta[i] *= (z[i] > T(0) ? T(1) - tail[i] : tail[i]) + z[i] * density[i];
    }
  });
}

// Plain loops, which the compiler vectorises (Eigen does not vectorise select). A comparison that fails keeps NaN, so
// that a run that diverges shows it.
// Rows that follow each other in memory are gone through as one.
template <class T>
void relu(MutableBlockOf<T>& z) {
  const bool whole = z.outerStride() == z.cols();
  const Eigen::Index size = whole ? z.size() : z.cols();
  for (Eigen::Index row = 0; row < (whole ? 1 : z.rows()); ++row) {
    T* values = z.data() + row * z.outerStride();
    for (Eigen::Index i = 0; i < size; ++i) values[i] = values[i] < T(0) ? T(0) : values[i];
  }
}

/// The choice is made by the bits: a conditional expression becomes a store behind a branch, which is not vectorised
/// and is foretold wrongly half of the time.
template <class T>
void keep_where_positive(Eigen::Index size, const T* __restrict sign, T* __restrict values) {
  using Bits = std::conditional_t<sizeof(T) == sizeof(std::int32_t), std::int32_t, std::int64_t>;
  for (Eigen::Index i = 0; i < size; ++i) {
    const Bits keep = sign[i] > T(0) ? Bits(-1) : Bits(0);
    values[i] = std::bit_cast<T>(std::bit_cast<Bits>(values[i]) & keep);
  }
}

template <class T>
void keep_where_positive(const ConstBlockOf<T>& source, MutableBlockOf<T>& delta) {
  const bool whole = source.outerStride() == source.cols() && delta.outerStride() == delta.cols();
  const Eigen::Index size = whole ? delta.size() : delta.cols();
  for (Eigen::Index row = 0; row < (whole ? 1 : delta.rows()); ++row) {
    const T* sign = source.data() + row * source.outerStride();
    keep_where_positive(size, sign, delta.data() + row * delta.outerStride());
  }
}

template <class T>
void require_same_shape(const MatrixOf<T>& a, const MatrixOf<T>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) throw std::logic_error("activation derivative: shapes differ");
}

}  // namespace

template <class T>
void activate_block(spec::Activation activation, MutableBlockOf<T> z) {
  switch (activation) {
    case spec::Activation::identity:
      return;
    case spec::Activation::relu:
      relu<T>(z);
      return;
    case spec::Activation::tanh:
      z.array() = z.array().tanh();
      return;
    case spec::Activation::sigmoid:
      z.array() = T(1) / (T(1) + (-z.array()).exp());
      return;
    case spec::Activation::gelu:
      gelu<T>(z);
      return;
  }
  throw std::logic_error("unknown activation");
}

template <class T>
void multiply_derivative_from_output_block(spec::Activation activation, ConstBlockOf<T> output,
                                           MutableBlockOf<T> delta) {
  const auto a = output.array();
  switch (activation) {
    case spec::Activation::identity:
      return;
    case spec::Activation::relu:
      keep_where_positive<T>(output, delta);
      return;
    case spec::Activation::tanh:
      delta.array() *= T(1) - a.square();
      return;
    case spec::Activation::sigmoid:
      delta.array() *= a * (T(1) - a);
      return;
    case spec::Activation::gelu:
      throw std::logic_error("the derivative of GELU needs the pre-activation");
  }
  throw std::logic_error("unknown activation");
}

template <class T>
void multiply_derivative_block(spec::Activation activation, ConstBlockOf<T> pre_activation, MutableBlockOf<T> delta) {
  const auto z = pre_activation.array();
  switch (activation) {
    case spec::Activation::identity:
      return;
    case spec::Activation::relu:
      keep_where_positive<T>(pre_activation, delta);
      return;
    case spec::Activation::tanh:
      delta.array() *= T(1) - z.tanh().square();
      return;
    case spec::Activation::sigmoid:
      // σ' = σ(z)·σ(−z): the second factor keeps its digits where σ(z) is near 1.
      delta.array() *= (T(1) / (T(1) + (-z).exp())) * (T(1) / (T(1) + z.exp()));
      return;
    case spec::Activation::gelu:
      multiply_gelu_derivative<T>(pre_activation, delta);
      return;
  }
  throw std::logic_error("unknown activation");
}

template <class T>
void activate(spec::Activation activation, MatrixOf<T>& z) {
  if (activation == spec::Activation::identity) return;
  parallel_for_blocks(static_cast<std::size_t>(z.rows()), kActivatedRows, [&](std::size_t begin, std::size_t end) {
    activate_block<T>(activation, z.middleRows(begin, end - begin));
  });
}

template <class T>
void multiply_derivative_from_output(spec::Activation activation, const MatrixOf<T>& output, MatrixOf<T>& delta) {
  require_same_shape(output, delta);
  if (!derivative_from_output(activation)) throw std::logic_error("the derivative of GELU needs the pre-activation");
  if (activation == spec::Activation::identity) return;
  parallel_for_blocks(static_cast<std::size_t>(delta.rows()), kActivatedRows, [&](std::size_t begin, std::size_t end) {
    multiply_derivative_from_output_block<T>(activation, output.middleRows(begin, end - begin),
                                             delta.middleRows(begin, end - begin));
  });
}

template <class T>
void multiply_derivative(spec::Activation activation, const MatrixOf<T>& pre_activation, MatrixOf<T>& delta) {
  require_same_shape(pre_activation, delta);
  if (activation == spec::Activation::identity) return;
  parallel_for_blocks(static_cast<std::size_t>(delta.rows()), kActivatedRows, [&](std::size_t begin, std::size_t end) {
    multiply_derivative_block<T>(activation, pre_activation.middleRows(begin, end - begin),
                                 delta.middleRows(begin, end - begin));
  });
}

bool derivative_from_output(spec::Activation activation) { return activation != spec::Activation::gelu; }

template void activate(spec::Activation, MatrixOf<float>&);
template void activate(spec::Activation, MatrixOf<double>&);
template void multiply_derivative_from_output(spec::Activation, const MatrixOf<float>&, MatrixOf<float>&);
template void multiply_derivative_from_output(spec::Activation, const MatrixOf<double>&, MatrixOf<double>&);
template void multiply_derivative(spec::Activation, const MatrixOf<float>&, MatrixOf<float>&);
template void multiply_derivative(spec::Activation, const MatrixOf<double>&, MatrixOf<double>&);
template void activate_block<float>(spec::Activation, MutableBlockOf<float>);
template void activate_block<double>(spec::Activation, MutableBlockOf<double>);
template void multiply_derivative_from_output_block<float>(spec::Activation, ConstBlockOf<float>,
                                                           MutableBlockOf<float>);
template void multiply_derivative_from_output_block<double>(spec::Activation, ConstBlockOf<double>,
                                                            MutableBlockOf<double>);
template void multiply_derivative_block<float>(spec::Activation, ConstBlockOf<float>, MutableBlockOf<float>);
template void multiply_derivative_block<double>(spec::Activation, ConstBlockOf<double>, MutableBlockOf<double>);

}  // namespace dadsim::models
