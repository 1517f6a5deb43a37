#pragma once

#include <algorithm>
#include <type_traits>

#include "models/matrix.hpp"

// The inner loop of all matrix products: a tile of the result, kept in registers while it sums up. The left operand is
// read number by number, the right one from a panel: kPanelColumns columns packed row by row, 0 behind the last one.

namespace dadsim::models {

template <class T>
using PacketOf = typename Eigen::internal::packet_traits<T>::type;
template <class T>
constexpr Eigen::Index kLanes = Eigen::internal::packet_traits<T>::size;

// So many sums that the additions hide each other's latency, and beside them a row of the panel: 6 × 4 of the 32
// registers of AVX-512, 6 × 2 of the 16 of the others.
constexpr int kTileRows = 6;
#ifdef EIGEN_VECTORIZE_AVX512
constexpr int kTileVectors = 4;
#else
constexpr int kTileVectors = 2;
#endif
template <class T>
constexpr Eigen::Index kLine = Eigen::Index{64} / static_cast<Eigen::Index>(sizeof(T));  ///< of memory
template <class T>
constexpr Eigen::Index kPanelColumns = kTileVectors* kLanes<T>;

/// The left operand of a tile: entry (i, k) is at i · stride + k, or where it is used transposed at k · stride + i.
enum class Left { rows, columns };

/// What a tile is added to.
enum class TileStart { zero, result, bias };

/// Memory that will be read soon, `runs` of `length` numbers each `stride` after the other: asked for line by line
/// while tiles are computed.
template <class T>
class AheadOf {
 public:
  AheadOf() = default;
  AheadOf(const T* data, Eigen::Index stride, Eigen::Index runs, Eigen::Index length)
      : run_(data), stride_(stride), runs_(runs), length_(length) {}

  /// Asks for the next line, into the second-level cache.
  void fetch() {
    if (runs_ == 0) return;
    __builtin_prefetch(run_ + at_, 0, 2);
    at_ += kLine<T>;
    if (at_ < length_) return;
    at_ = 0;
    run_ += stride_;
    --runs_;
  }

 private:
  const T* run_ = nullptr;
  Eigen::Index stride_ = 0, runs_ = 0, length_ = 0, at_ = 0;
};

template <class T>
struct TileOf {
  Eigen::Index inner = 0;
  const T* a = nullptr;
  Eigen::Index a_stride = 0;
  Eigen::Index a_tile = 0;  ///< from the operand of kTileRows rows to that of the next ones
  const T* panel = nullptr;
  T* c = nullptr;
  Eigen::Index c_stride = 0;
  Eigen::Index columns = 0;  ///< up to kPanelColumns
  TileStart start = TileStart::zero;
  const T* bias = nullptr;  ///< kPanelColumns
  AheadOf<T> ahead = {};
};

/// Rows × columns of C = start + A B, with `Vectors` vectors of columns.
template <class T, Left left, int Rows, int Vectors>
void multiply_tile(TileOf<T>& tile) {
  using Eigen::internal::ploadu;
  using Eigen::internal::pset1;
  using Eigen::internal::pstoreu;
  constexpr Eigen::Index kWidth = Vectors * kLanes<T>;
  PacketOf<T> sum[Rows][Vectors];
  for (int i = 0; i < Rows; ++i) {
    for (int v = 0; v < Vectors; ++v) {
      sum[i][v] =
          tile.start == TileStart::bias ? ploadu<PacketOf<T>>(tile.bias + v * kLanes<T>) : pset1<PacketOf<T>>(T(0));
    }
  }
  // What the sums are added to is far away by now.
  for (int i = 0; i < Rows; ++i) {
    for (int v = 0; v < Vectors; ++v) Eigen::internal::prefetch(tile.c + i * tile.c_stride + v * kLanes<T>);
  }
  const T* panel = tile.panel;
  const T* column = tile.a;
  const auto add_term = [&] {
    PacketOf<T> b[Vectors];
    for (int v = 0; v < Vectors; ++v) b[v] = ploadu<PacketOf<T>>(panel + v * kLanes<T>);
    for (int i = 0; i < Rows; ++i) {
      const PacketOf<T> factor = pset1<PacketOf<T>>(left == Left::rows ? column[i * tile.a_stride] : column[i]);
      for (int v = 0; v < Vectors; ++v) sum[i][v] = Eigen::internal::pmadd(factor, b[v], sum[i][v]);
    }
    panel += kPanelColumns<T>;
    column += left == Left::rows ? 1 : tile.a_stride;
  };
  constexpr int kUnrolled = 8;
  Eigen::Index k = 0;
  for (; k + kUnrolled <= tile.inner; k += kUnrolled) {
    tile.ahead.fetch();
    for (int i = 0; i < kUnrolled; ++i) add_term();
  }
  for (; k < tile.inner; ++k) add_term();
  const bool add = tile.start == TileStart::result;
  if (tile.columns == kWidth) {
    for (int i = 0; i < Rows; ++i) {
      for (int v = 0; v < Vectors; ++v) {
        T* to = tile.c + i * tile.c_stride + v * kLanes<T>;
        pstoreu(to, add ? Eigen::internal::padd(ploadu<PacketOf<T>>(to), sum[i][v]) : sum[i][v]);
      }
    }
    return;
  }
  for (int i = 0; i < Rows; ++i) {
    T row[kWidth];
    for (int v = 0; v < Vectors; ++v) pstoreu(row + v * kLanes<T>, sum[i][v]);
    T* to = tile.c + i * tile.c_stride;
    for (Eigen::Index j = 0; j < tile.columns; ++j) to[j] = add ? to[j] + row[j] : row[j];
  }
}

/// As many vectors as the columns need.
template <class T, Left left, int Rows>
void multiply_tile(TileOf<T>& tile) {
  const Eigen::Index vectors = (tile.columns + kLanes<T> - 1) / kLanes<T>;
  if (vectors == 1) return multiply_tile<T, left, Rows, 1>(tile);
  if constexpr (kTileVectors == 4) {
    if (vectors == 3) return multiply_tile<T, left, Rows, 3>(tile);
    if (vectors == 4) return multiply_tile<T, left, Rows, 4>(tile);
  }
  multiply_tile<T, left, Rows, 2>(tile);
}

/// `rows` rows of C, for one panel.
template <class T, Left left>
void multiply_tiles(Eigen::Index rows, TileOf<T> tile) {
  const auto next = [&]<int Rows>(std::integral_constant<int, Rows>) {
    multiply_tile<T, left, Rows>(tile);
    tile.c += Rows * tile.c_stride;
    tile.a += Rows == kTileRows ? tile.a_tile : left == Left::rows ? Rows * tile.a_stride : Rows;
    rows -= Rows;
  };
  while (rows >= kTileRows) next(std::integral_constant<int, kTileRows>());
  if (rows >= 4) next(std::integral_constant<int, 4>());
  if (rows >= 2) next(std::integral_constant<int, 2>());
  if (rows >= 1) next(std::integral_constant<int, 1>());
}

/// Rows [0, inner) of columns [0, columns) of B (row by row, `stride` apart) as a panel.
template <class T>
void pack_panel(const T* b, Eigen::Index stride, Eigen::Index inner, Eigen::Index columns, T* panel) {
  for (Eigen::Index k = 0; k < inner; ++k, b += stride, panel += kPanelColumns<T>) {
    if (columns == kPanelColumns<T>) {
      for (Eigen::Index j = 0; j < kPanelColumns<T>; ++j) panel[j] = b[j];
    } else {
      for (Eigen::Index j = 0; j < columns; ++j) panel[j] = b[j];
      std::fill(panel + columns, panel + kPanelColumns<T>, T(0));
    }
  }
}

// Vector types as template arguments lose their alignment there, which nothing below relies on.
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif
/// Packs a panel of Bᵀ: entry (k, j) of the panel is at j · stride + k. Square by square in registers.
template <class T>
void pack_transposed_panel(const T* b, Eigen::Index stride, Eigen::Index inner, Eigen::Index columns, T* panel) {
  constexpr auto kSide = static_cast<int>(kLanes<T>);
  Eigen::Index j = 0;
  for (; j + kSide <= columns; j += kSide) {
    Eigen::Index k = 0;
    for (; k + kSide <= inner; k += kSide) {
      Eigen::internal::PacketBlock<PacketOf<T>, kSide> square;
      for (int i = 0; i < kSide; ++i) {
        square.packet[i] = Eigen::internal::ploadu<PacketOf<T>>(b + (j + i) * stride + k);
      }
      Eigen::internal::ptranspose(square);
      for (int i = 0; i < kSide; ++i) {
        Eigen::internal::pstoreu(panel + (k + i) * kPanelColumns<T> + j, square.packet[i]);
      }
    }
    for (; k < inner; ++k) {
      for (Eigen::Index i = j; i < j + kSide; ++i) panel[k * kPanelColumns<T> + i] = b[i * stride + k];
    }
  }
  for (; j < columns; ++j) {
    for (Eigen::Index k = 0; k < inner; ++k) panel[k * kPanelColumns<T> + j] = b[j * stride + k];
  }
  if (columns == kPanelColumns<T>) return;
  for (Eigen::Index k = 0; k < inner; ++k) {
    std::fill(panel + k * kPanelColumns<T> + columns, panel + (k + 1) * kPanelColumns<T>, T(0));
  }
}
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

}  // namespace dadsim::models
