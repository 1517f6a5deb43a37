#pragma once

#include <Eigen/Core>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "models/kernels/array_sets.hpp"
#include "models/kernels/gelu_loops.hpp"
#include "models/kernels/registers.hpp"
#include "models/kernels/root.hpp"
#include "models/kernels/row_loops.hpp"

// The loops of models/kernels/array_kernels.hpp, for the instruction set of the including file. Everything here is
// private to that file: our code is in the unnamed namespace, and the file renames Eigen's namespace.

namespace dadsim::models {
namespace {

// Plain loops, which the compiler vectorises (Eigen does not vectorise select). Comparisons are written so that NaN
// passes through, and a diverging run shows it. Rows that are contiguous in memory are processed as one.
template <class T>
void relu(MutableBlockOf<T>& z) {
  const bool whole = z.outerStride() == z.cols();
  const Eigen::Index size = whole ? z.size() : z.cols();
  for (Eigen::Index row = 0; row < (whole ? 1 : z.rows()); ++row) {
    T* values = z.data() + row * z.outerStride();
    for (Eigen::Index i = 0; i < size; ++i) values[i] = values[i] < T(0) ? T(0) : values[i];
  }
}

/// Selects by bit operations. A conditional expression would become a branch and a store, which is not vectorised and
/// mispredicted half of the time.
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
void activate_block(spec::Activation activation, MutableBlockOf<T> z) {
  switch (activation) {
    case spec::Activation::identity:
      return;
    case spec::Activation::relu:
      relu<T>(z);
      return;
    case spec::Activation::tanh:
      in_registers_of_rows([](auto x) { x = x.tanh(); }, z);
      return;
    case spec::Activation::sigmoid:
      in_registers_of_rows([](auto x) { x = T(1) / (T(1) + (-x).exp()); }, z);
      return;
    case spec::Activation::gelu:
      gelu(z);
      return;
  }
}

template <class T>
void multiply_derivative_from_output_block(spec::Activation activation, ConstBlockOf<T> output,
                                           MutableBlockOf<T> delta) {
  switch (activation) {
    case spec::Activation::identity:
      return;
    case spec::Activation::relu:
      keep_where_positive<T>(output, delta);
      return;
    case spec::Activation::tanh:
      in_registers_of_rows([](auto d, const auto& a) { d *= T(1) - a.square(); }, delta, output);
      return;
    case spec::Activation::sigmoid:
      in_registers_of_rows([](auto d, const auto& a) { d *= a * (T(1) - a); }, delta, output);
      return;
    case spec::Activation::gelu:  // needs the pre-activation
      return;
  }
}

template <class T>
void multiply_derivative_block(spec::Activation activation, ConstBlockOf<T> pre_activation, MutableBlockOf<T> delta) {
  switch (activation) {
    case spec::Activation::identity:
      return;
    case spec::Activation::relu:
      keep_where_positive<T>(pre_activation, delta);
      return;
    case spec::Activation::tanh:
      in_registers_of_rows([](auto d, const auto& z) { d *= T(1) - z.tanh().square(); }, delta, pre_activation);
      return;
    case spec::Activation::sigmoid:
      // Computes σ' as σ(z)·σ(−z): the second factor keeps its digits where σ(z) is near 1.
      in_registers_of_rows([](auto d, const auto& z) { d *= (T(1) / (T(1) + (-z).exp())) * (T(1) / (T(1) + z.exp())); },
                           delta, pre_activation);
      return;
    case spec::Activation::gelu:
      multiply_gelu_derivative(pre_activation, delta);
      return;
  }
}

template <class T>
void activate(spec::Activation activation, Index rows, Index columns, Strided<T> z) {
  activate_block<T>(activation, MutableBlockOf<T>(z.data, rows, columns, Eigen::OuterStride<>(z.stride)));
}

template <class T>
void multiply_derivative_from_output(spec::Activation activation, Index rows, Index columns, Strided<const T> output,
                                     Strided<T> delta) {
  multiply_derivative_from_output_block<T>(
      activation, ConstBlockOf<T>(output.data, rows, columns, Eigen::OuterStride<>(output.stride)),
      MutableBlockOf<T>(delta.data, rows, columns, Eigen::OuterStride<>(delta.stride)));
}

template <class T>
void multiply_derivative(spec::Activation activation, Index rows, Index columns, Strided<const T> pre_activation,
                         Strided<T> delta) {
  multiply_derivative_block<T>(
      activation, ConstBlockOf<T>(pre_activation.data, rows, columns, Eigen::OuterStride<>(pre_activation.stride)),
      MutableBlockOf<T>(delta.data, rows, columns, Eigen::OuterStride<>(delta.stride)));
}

template <class T>
void gru(Index u, const T* from_state, const T* before, T* gates, T* state) {
  in_registers(
      2 * u, [](auto r_z, const auto& h) { r_z = (r_z + h).logistic(); }, gates, from_state);
  in_registers(
      u, [](auto n, const auto& r, const auto& h) { n = (n + r * h).tanh(); }, gates + 2 * u,
      static_cast<const T*>(gates), from_state + 2 * u);
  in_registers(
      u, [](auto next, const auto& n, const auto& z, const auto& last) { next = n + z * (last - n); }, state,
      static_cast<const T*>(gates + 2 * u), static_cast<const T*>(gates + u), before);
}

template <class T>
void gru_rows_back(Index u, T* __restrict r, T* __restrict z, T* __restrict n, T* __restrict delta_r,
                   T* __restrict delta_z, T* __restrict delta_n, const T* __restrict reset, const T* __restrict before,
                   const T* __restrict from_above, T* __restrict back) {
  for (Index j = 0; j < u; ++j) {
    const T dh = from_above[j] + back[j];
    const T dn = dh * (T(1) - z[j]) * (T(1) - n[j] * n[j]);
    const T dr = dn * reset[j] * r[j] * (T(1) - r[j]);
    const T dz = dh * (before[j] - n[j]) * z[j] * (T(1) - z[j]);
    back[j] = dh * z[j];
    delta_n[j] = dn * r[j];
    r[j] = delta_r[j] = dr;
    z[j] = delta_z[j] = dz;
    n[j] = dn;
  }
}

/// Prefetches the `size` numbers before a row, for the previous step. A sample's steps are contiguous in memory, but
/// processing alternates between more samples than the hardware prefetcher can follow.
template <class T>
void ask_for_step_before(const T* row, Index size) {
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(row);
  const std::uintptr_t bytes = static_cast<std::uintptr_t>(size) * sizeof(T);
  constexpr std::uintptr_t kLine = 64;
  for (std::uintptr_t at = kLine; at < bytes + kLine; at += kLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(end - at), 0, 2);
  }
}

template <class T>
void gru_back(Index u, T* gates, T* delta, const T* reset, const T* before, const T* from_above, T* back) {
  ask_for_step_before(gates, 3 * u);
  ask_for_step_before(delta, 3 * u);
  for (const T* row : {reset, before, from_above}) ask_for_step_before(row, u);
  gru_rows_back<T>(u, gates, gates + u, gates + 2 * u, delta, delta + u, delta + 2 * u, reset, before, from_above,
                   back);
}

template <class T>
void lstm(Index u, T* gates, const T* cell_before, T* cell, T* cell_tanh, T* state) {
  const T* i = gates;
  const T* f = gates + u;
  const T* g = gates + 2 * u;
  const T* o = gates + 3 * u;
  const auto logistic = [](auto x) { x = x.logistic(); };
  in_registers(2 * u, logistic, gates);
  in_registers(
      u, [](auto x) { x = x.tanh(); }, gates + 2 * u);
  in_registers(u, logistic, gates + 3 * u);
  if (cell_before == nullptr) {
    in_registers(
        u, [](auto c, const auto& in, const auto& new_cell) { c = in * new_cell; }, cell, i, g);
  } else {
    in_registers(
        u,
        [](auto c, const auto& forget, const auto& before, const auto& in, const auto& new_cell) {
          c = forget * before + in * new_cell;
        },
        cell, f, cell_before, i, g);
  }
  in_registers(
      u, [](auto t, const auto& c) { t = c.tanh(); }, cell_tanh, static_cast<const T*>(cell));
  in_registers(
      u, [](auto next, const auto& out, const auto& t) { next = out * t; }, state, o, static_cast<const T*>(cell_tanh));
}

template <class T>
void lstm_rows_back(Index u, T* __restrict i, T* __restrict f, T* __restrict g, T* __restrict o,
                    const T* __restrict cell_tanh, const T* __restrict cell_before, const T* __restrict from_above,
                    const T* __restrict back, T* __restrict back_cell) {
  for (Index j = 0; j < u; ++j) {
    const T dh = from_above[j] + back[j];
    const T dc = back_cell[j] + dh * o[j] * (T(1) - cell_tanh[j] * cell_tanh[j]);
    const T di = dc * g[j] * i[j] * (T(1) - i[j]);
    const T dg = dc * i[j] * (T(1) - g[j] * g[j]);
    back_cell[j] = dc * f[j];
    i[j] = di;
    f[j] = dc * cell_before[j] * f[j] * (T(1) - f[j]);
    g[j] = dg;
    o[j] = dh * cell_tanh[j] * o[j] * (T(1) - o[j]);
  }
}

template <class T>
void lstm_back(Index u, T* gates, const T* cell_tanh, const T* cell_before, const T* from_above, const T* back,
               T* back_cell) {
  ask_for_step_before(gates, 4 * u);
  for (const T* row : {cell_tanh, cell_before, from_above}) ask_for_step_before(row, u);
  lstm_rows_back<T>(u, gates, gates + u, gates + 2 * u, gates + 3 * u, cell_tanh, cell_before, from_above, back,
                    back_cell);
}

/// Works in pieces that stay in the first-level cache between the expressions.
void adam(const AdamStep& step, Index all, float* weights, const float* gradient, float* first, float* second) {
  constexpr Index kStep = 1024;
  const bool mixes_decay = !step.decoupled && step.decay != 0;
  for (Index begin = 0; begin < all; begin += kStep) {
    const Index size = all - begin < kStep ? all - begin : kStep;
    in_registers(
        size,
        [&](auto w, const auto& g, auto m, auto v) {
          if (mixes_decay) {
            m = step.beta1 * m + step.rest1 * (g + step.decay * w);
            v = step.beta2 * v + step.rest2 * (g + step.decay * w).square();
          } else {
            m = step.beta1 * m + step.rest1 * g;
            v = step.beta2 * v + step.rest2 * g.square();
            if (step.decay != 0) w *= step.keep;
          }
          w -= step.rate * m / (step.scale * roots_of(v) + step.epsilon);
        },
        weights + begin, gradient + begin, first + begin, second + begin);
  }
}

template <class T>
void keep_larger(Index size, const T* __restrict candidates, const std::int32_t* __restrict candidate_places,
                 T* __restrict values, std::int32_t* __restrict places) {
  using Bits = std::conditional_t<sizeof(T) == sizeof(std::int32_t), std::int32_t, std::int64_t>;
  for (Index i = 0; i < size; ++i) {
    const T candidate = candidates[i];
    const bool before = candidate_places[i] < places[i];
    const bool better = (candidate > values[i]) | ((candidate == values[i]) & before) | (candidate != candidate);
    const Bits take = better ? Bits(-1) : Bits(0);
    const std::int32_t take_place = better ? -1 : 0;
    values[i] = std::bit_cast<T>((std::bit_cast<Bits>(candidate) & take) | (std::bit_cast<Bits>(values[i]) & ~take));
    places[i] = (candidate_places[i] & take_place) | (places[i] & ~take_place);
  }
}
template <class T>
void take_larger(Index size, const T* candidates, const std::int32_t* candidate_places, T* values,
                 std::int32_t* places) {
  keep_larger<T>(size, candidates, candidate_places, values, places);
}

template <class T>
constexpr ArrayKernelsOf<T> kArrayLoopsOf = {
    .activate = activate<T>,
    .multiply_derivative_from_output = multiply_derivative_from_output<T>,
    .multiply_derivative = multiply_derivative<T>,
    .gru = gru<T>,
    .gru_back = gru_back<T>,
    .lstm = lstm<T>,
    .lstm_back = lstm_back<T>,
    .softmax = softmax<T>,
    .softmax_back = softmax_back<T>,
    .take_larger = take_larger<T>,
};

constexpr ArrayKernels kArrayLoops = {
    .of_float = kArrayLoopsOf<float>,
    .of_double = kArrayLoopsOf<double>,
    .adam = adam,
};

}  // namespace
}  // namespace dadsim::models
