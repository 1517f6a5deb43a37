#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/model_specification.hpp"
#include "support/kernel_set.hpp"

// Operations of learning other than matrix products, on rows of numbers with Eigen, compiled for several instruction
// sets like the products (models/gemm/kernels.hpp). The interface has no Eigen types.

namespace dadsim::models {

/// One step of Adam for one matrix or vector (models/adam.cpp).
struct AdamStep {
  float beta1 = 0, rest1 = 0, beta2 = 0, rest2 = 0;
  float rate = 0, scale = 0, epsilon = 0;
  float decay = 0, keep = 0;
  bool decoupled = false;
};

/// Rows × columns of numbers; `stride` is the distance between rows.
template <class T>
struct Strided {
  T* data = nullptr;
  std::ptrdiff_t stride = 0;
};

template <class T>
struct ArrayKernelsOf {
  /// Activations on a block; see activate_block() in models/activation.hpp.
  void (*activate)(spec::Activation activation, std::ptrdiff_t rows, std::ptrdiff_t columns, Strided<T> z);
  void (*multiply_derivative_from_output)(spec::Activation activation, std::ptrdiff_t rows, std::ptrdiff_t columns,
                                          Strided<const T> output, Strided<T> delta);
  void (*multiply_derivative)(spec::Activation activation, std::ptrdiff_t rows, std::ptrdiff_t columns,
                              Strided<const T> pre_activation, Strided<T> delta);

  /// Computes one step of a GRU for one sample (models/operations/gru.cpp). Forward, `gates` becomes (r, z, n), and
  /// `state` the new state, from `from_state` = h_{t−1} W_hᵀ + b_h. Backward, (r, z, n) become the gradients of the
  /// products with x, and `delta` those of the products with h, which differ only in n, by the factor r. Arguments must
  /// not overlap.
  void (*gru)(std::ptrdiff_t units, const T* from_state, const T* before, T* gates, T* state);
  void (*gru_back)(std::ptrdiff_t units, T* gates, T* delta, const T* reset, const T* before, const T* from_above,
                   T* back);
  /// Computes one step of an LSTM for one sample (models/operations/lstm.cpp); `cell_before` is null in the first step
  /// forward. Backward, (i, f, g, o) become their gradients.
  void (*lstm)(std::ptrdiff_t units, T* gates, const T* cell_before, T* cell, T* cell_tanh, T* state);
  void (*lstm_back)(std::ptrdiff_t units, T* gates, const T* cell_tanh, const T* cell_before, const T* from_above,
                    const T* back, T* back_cell);

  /// Computes softmax(scale · z) of the first `seen` > 0 numbers of a row, and sets the others to 0. Backward: s ← p ⊙
  /// (s − mean) · scale.
  void (*softmax)(T scale, std::ptrdiff_t seen, std::ptrdiff_t size, T* row);
  void (*softmax_back)(T scale, T mean, std::ptrdiff_t size, const T* p, T* s);

  /// Takes each candidate and its position if the candidate is larger than the value, NaN, or equal to it and at an
  /// earlier position.
  void (*take_larger)(std::ptrdiff_t size, const T* candidates, const std::int32_t* candidate_places, T* values,
                      std::int32_t* places);
};

struct ArrayKernels {
  ArrayKernelsOf<float> of_float;
  ArrayKernelsOf<double> of_double;

  void (*adam)(const AdamStep& step, std::ptrdiff_t size, float* weights, const float* gradient, float* first,
               float* second);
};

/// Returns the kernels of this process.
const ArrayKernels& array_kernels();

template <class T>
const ArrayKernelsOf<T>& array_kernels_of();
template <>
inline const ArrayKernelsOf<float>& array_kernels_of<float>() {
  return array_kernels().of_float;
}
template <>
inline const ArrayKernelsOf<double>& array_kernels_of<double>() {
  return array_kernels().of_double;
}

}  // namespace dadsim::models
