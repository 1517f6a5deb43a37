#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <limits>

#include "models/kernels/registers.hpp"

// Softmax, row by row.

namespace dadsim::models {
namespace {

#if EIGEN_MAX_ALIGN_BYTES > 16
/// Reduces a register's numbers by folding halves onto each other.
template <class T, class Take>
T fold(const Packet<T>& packet, const Take& take) {
  T folded[kPacketLanes<T>];
  store_packet(folded, packet);
  for (int half = kPacketLanes<T> / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) folded[j] = take(folded[j], folded[j + half]);
  }
  return folded[0];
}

/// Computes softmax(scale · z) of the first `seen` numbers, and sets the others to 0. Processes whole registers, the
/// last one padded with numbers whose exponential is 0, so that no bit depends on an address.
template <class T>
void softmax(T scale, Eigen::Index seen, Eigen::Index size, T* row) {
  constexpr int kLanes = kPacketLanes<T>;
  const Eigen::Index whole = seen / kLanes * kLanes;
  T last[kLanes];
  std::fill_n(last, kLanes, std::numeric_limits<T>::lowest());
  for (Eigen::Index i = whole; i < seen; ++i) last[i - whole] = row[i];
  Packet<T> most = load_packet(last);
  for (Eigen::Index i = 0; i < whole; i += kLanes) {
    const Packet<T> z = load_packet(row + i);
    most = z > most ? z : most;
  }
  const T largest = fold<T>(most, [](T a, T b) { return b > a ? b : a; });
  Packet<T> sum = {};
  const auto raise = [&](T* numbers) {
    Numbers<T, kLanes> z(numbers);
    z = ((z - largest) * scale).exp();
    sum += load_packet(numbers);
  };
  for (Eigen::Index i = 0; i < whole; i += kLanes) raise(row + i);
  if (whole < seen) raise(last);
  const T share = T(1) / fold<T>(sum, [](T a, T b) { return a + b; });
  for (Eigen::Index i = 0; i < whole; i += kLanes) store_packet(row + i, load_packet(row + i) * share);
  for (Eigen::Index i = whole; i < seen; ++i) row[i] = last[i - whole] * share;
  std::fill(row + seen, row + size, T(0));
}
#else
/// Computes softmax(scale · z) of the first `seen` numbers, and sets the others to 0.
template <class T>
void softmax(T scale, Eigen::Index seen, Eigen::Index size, T* row) {
  auto z = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1> >(row, seen).array();
  const T largest = z.maxCoeff();
  z = ((z - largest) * scale).exp();
  z *= T(1) / z.sum();
  std::fill(row + seen, row + size, T(0));
}
#endif

/// Computes s = p ⊙ (s − mean) · scale.
template <class T>
void softmax_back_row(T scale, T mean, Eigen::Index size, const T* __restrict p, T* __restrict s) {
  for (Eigen::Index j = 0; j < size; ++j) s[j] = p[j] * (s[j] - mean) * scale;
}
template <class T>
void softmax_back(T scale, T mean, Eigen::Index size, const T* p, T* s) {
  softmax_back_row<T>(scale, mean, size, p, s);
}

}  // namespace
}  // namespace dadsim::models
