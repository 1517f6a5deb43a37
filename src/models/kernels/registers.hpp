#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "models/kernels/array_kernels.hpp"

// Splits rows into pieces as wide as a register, for the loops of models/kernels/array_loops.hpp.

namespace dadsim::models {
namespace {

using Eigen::Index;

template <class T>
using ConstBlockOf =
    Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0, Eigen::OuterStride<>>;
template <class T>
using MutableBlockOf =
    Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0, Eigen::OuterStride<>>;
/// `size` numbers from an address on, possibly const. With Eigen::Dynamic, the size is passed to the constructor.
template <class T, int size>
using Numbers = Eigen::Map<std::conditional_t<std::is_const_v<T>, const Eigen::Array<std::remove_const_t<T>, size, 1>,
                                              Eigen::Array<T, size, 1>>>;

/// Calls `body` with arrays of all numbers at the addresses, in consecutive pieces, such that no bit of a result
/// depends on an address. Eigen processes numbers up to an aligned address one by one, where functions round
/// differently. Allocations are aligned to 16 bytes only. With wider registers, each piece is therefore one register
/// wide, and the remainder is padded to one.
template <class Body, class... T>
void in_registers(Eigen::Index size, const Body& body, T*... numbers) {
  using Number = std::common_type_t<std::remove_const_t<T>...>;
  constexpr int kRegister = EIGEN_MAX_ALIGN_BYTES / static_cast<int>(sizeof(Number));
  if constexpr (EIGEN_MAX_ALIGN_BYTES <= 16) {
    body(Numbers<T, Eigen::Dynamic>(numbers, size)...);
  } else {
    Eigen::Index i = 0;
    for (; i + kRegister <= size; i += kRegister) body(Numbers<T, kRegister>(numbers + i)...);
    const Eigen::Index rest = size - i;
    if (rest == 0) return;
    Number filled[sizeof...(T)][kRegister] = {};
    int at = 0;
    (std::copy_n(numbers + i, rest, filled[at++]), ...);
    [&]<std::size_t... each>(std::index_sequence<each...>) { body(Numbers<T, kRegister>(filled[each])...); }
    (std::index_sequence_for<T...>());
    at = 0;
    const auto put_back = [&]<class To>(To* to) {
      if constexpr (!std::is_const_v<To>) std::copy_n(filled[at], rest, to);
      ++at;
    };
    (put_back(numbers + i), ...);
  }
}

#if EIGEN_MAX_ALIGN_BYTES > 16
/// A register of numbers, for selecting one of two numbers, which Eigen does not vectorise.
template <class T>
struct RegisterOf;
template <>
struct RegisterOf<float> {
  using Packet [[gnu::vector_size(EIGEN_MAX_ALIGN_BYTES)]] = float;
};
template <>
struct RegisterOf<double> {
  using Packet [[gnu::vector_size(EIGEN_MAX_ALIGN_BYTES)]] = double;
};
template <class T>
using Packet = typename RegisterOf<T>::Packet;
template <class T>
constexpr int kPacketLanes = EIGEN_MAX_ALIGN_BYTES / static_cast<int>(sizeof(T));

template <class T>
Packet<T> load_packet(const T* from) {
  Packet<T> packet;
  __builtin_memcpy(&packet, from, sizeof(packet));
  return packet;
}
template <class T>
void store_packet(T* to, const Packet<T>& packet) {
  __builtin_memcpy(to, &packet, sizeof(packet));
}
#endif

/// Calls `body` in registers row by row, for blocks of one shape.
template <class Body, class Block, class... Blocks>
void in_registers_of_rows(const Body& body, Block& block, const Blocks&... others) {
  for (Eigen::Index row = 0; row < block.rows(); ++row) {
    in_registers(block.cols(), body, block.data() + row * block.outerStride(),
                 (others.data() + row * others.outerStride())...);
  }
}

}  // namespace
}  // namespace dadsim::models
