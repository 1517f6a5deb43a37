#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <type_traits>

#include "models/kernels/registers.hpp"

// GELU (Hendrycks & Gimpel, arXiv:1606.08415) and its derivative.

namespace dadsim::models {
namespace {

/// Returns Φ(z), the standard normal distribution; erfc keeps its digits for z ≪ 0, where 1 + erf would lose them.
template <class T>
T normal_cdf(T z) {
  return T(0.5) * std::erfc(-z * std::numbers::sqrt2_v<T> / T(2));
}

template <class T>
T normal_density(T z) {
  return std::exp(T(-0.5) * z * z) * std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
}

/// Computes ½ erfc(x ÷ √2) and, if wanted, φ(x) for x = |z|, for `size` ≤ kPiece numbers. In float erfc(y) = t exp(−y²
/// + P(t)) with t = 1 ÷ (1 + y/2), P fitted by least squares at 2000 Chebyshev nodes of 0 ≤ y ≤ 9.5. The relative error
/// is 3e-7 wherever the result is a normal number. The loops have no calls.
constexpr Eigen::Index kPiece = 256;
template <class T>
void upper_tail(const T* z, Eigen::Index size, T* tail, T* density) {
  if constexpr (std::is_same_v<T, double>) {
    for (Eigen::Index i = 0; i < size; ++i) {
      tail[i] = normal_cdf(-std::abs(z[i]));
      if (density != nullptr) density[i] = normal_density(z[i]);
    }
  } else {
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
    in_registers(
        size, [](auto h, const auto& p, const auto& x) { h *= (p - T(0.5) * x.square()).exp(); }, tail,
        static_cast<const T*>(polynomial), z);
    if (density == nullptr) return;
    in_registers(
        size, [](auto phi, const auto& x) { phi = (T(-0.5) * x.square()).exp() * T(0.398942280); }, density, z);
  }
}

/// Calls `body(row, column, size)` for pieces of a block's rows.
template <class Block, class Body>
void for_pieces(const Block& block, const Body& body) {
  for (Eigen::Index row = 0; row < block.rows(); ++row) {
    for (Eigen::Index i = 0; i < block.cols(); i += kPiece) body(row, i, std::min(kPiece, block.cols() - i));
  }
}

#if EIGEN_MAX_ALIGN_BYTES > 16
// With fused multiply-add vectors, Φ and GELU's derivative Φ(z) + z φ(z) in float are computed as ½ plus an odd
// rational function, z N(z²) ÷ D(z²). It was fitted by least squares at 4000 Chebyshev nodes, with weights that even
// out the error. The errors of the fits are 7e-9 and 4e-9; in float they are 2.1e-7 and 2.7e-7, as large as that of ½
// (1 + erf(z ÷ √2)). Compared with the portable loops, only digits of Φ near 0 are lost.
using Floats = Packet<float>;

/// c0 + c1 u + c2 u² + …
template <std::size_t size>
Floats polynomial(const float (&c)[size], const Floats& u) {
  Floats sum = Floats{} + c[size - 1];
  for (std::size_t i = size - 1; i-- > 0;) sum = sum * u + c[i];
  return sum;
}

/// Returns ½ + z N(z²) ÷ D(z²), 0 below `-end` and 1 above `end`. NaN fails both comparisons, and so stays NaN.
template <std::size_t above, std::size_t below>
Floats half_and_ratio(const float (&n)[above], const float (&d)[below], float end, const Floats& z) {
  const Floats most = Floats{} + end;
  Floats near = z > most ? most : z;
  near = near < -most ? -most : near;
  const Floats u = near * near;
  Floats value = 0.5F + near * polynomial(n, u) / polynomial(d, u);
  value = z > most ? Floats{} + 1.0F : value;
  return z < -most ? Floats{} : value;
}

constexpr float kCdfAbove[] = {0.398942232F,    0.0338521078F,   0.00467722537F,
                               0.000168819839F, 6.35204788e-06F, 2.27496493e-08F};
constexpr float kCdfBelow[] = {1.0F, 0.251520574F, 0.0286455564F, 0.00188441214F, 7.36454676e-05F, 1.197507e-06F};
constexpr float kDerivativeAbove[] = {0.797884524F,   -0.0223736577F,  0.0138574336F,  0.000202686904F,
                                      3.4091925e-05F, 9.22402648e-07F, 1.70449557e-08F};
constexpr float kDerivativeBelow[] = {
    1.0F,           0.305291742F, 0.0441327058F, 0.00397138391F, 0.000245312665F, 1.03071798e-05F, 3.38938463e-07F,
    1.31469624e-09F};

/// Multiplies values by ½ + the ratio of z; both pointers may be equal.
template <std::size_t above, std::size_t below>
void multiply_ratio(const float (&n)[above], const float (&d)[below], float end, Eigen::Index size, const float* z,
                    float* values) {
  constexpr int kLanes = kPacketLanes<float>;
  Eigen::Index i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const Floats at = load_packet(z + i);
    store_packet(values + i, load_packet(values + i) * half_and_ratio(n, d, end, at));
  }
  if (i == size) return;
  float last[2][kLanes] = {};
  std::copy_n(z + i, size - i, last[0]);
  std::copy_n(values + i, size - i, last[1]);
  store_packet(last[1], load_packet(last[1]) * half_and_ratio(n, d, end, load_packet(last[0])));
  std::copy_n(last[1], size - i, values + i);
}

template <std::size_t above, std::size_t below>
void multiply_ratio(const float (&n)[above], const float (&d)[below], float end, const ConstBlockOf<float>& z,
                    MutableBlockOf<float>& values) {
  const bool whole = z.outerStride() == z.cols() && values.outerStride() == values.cols();
  const Eigen::Index size = whole ? z.size() : z.cols();
  for (Eigen::Index row = 0; row < (whole ? 1 : z.rows()); ++row) {
    multiply_ratio(n, d, end, size, z.data() + row * z.outerStride(), values.data() + row * values.outerStride());
  }
}

void gelu(MutableBlockOf<float>& block) {
  const ConstBlockOf<float> z(block.data(), block.rows(), block.cols(), Eigen::OuterStride<>(block.outerStride()));
  multiply_ratio(kCdfAbove, kCdfBelow, 5.5F, z, block);
}
void multiply_gelu_derivative(const ConstBlockOf<float>& pre_activation, MutableBlockOf<float>& block) {
  multiply_ratio(kDerivativeAbove, kDerivativeBelow, 6.0F, pre_activation, block);
}
#endif

/// Applies z Φ(z) = max(z, 0) − |z| (1 − Φ(|z|)).
template <class T>
void gelu(MutableBlockOf<T>& block) {
  for_pieces(block, [&](Eigen::Index row, Eigen::Index column, Eigen::Index size) {
    T* z = block.data() + row * block.outerStride() + column;
    T tail[kPiece];
    upper_tail<T>(z, size, tail, nullptr);
    for (Eigen::Index i = 0; i < size; ++i) z[i] = (z[i] < T(0) ? T(0) : z[i]) - std::abs(z[i]) * tail[i];
  });
}

/// Multiplies Δ by (Φ(z) + z φ(z)).
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

}  // namespace
}  // namespace dadsim::models
