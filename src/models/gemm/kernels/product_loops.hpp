#pragma once

#include <utility>

#include "models/gemm/kernels/vectors.hpp"

// The loops of products, and how their operands are packed.

namespace dadsim::models {
namespace {

/// The left operand of a product: its rows, or its columns.
enum class Left { rows, columns };

/// Asks for the next line, into the second-level cache.
template <class T>
struct Fetcher {
  AheadOf<T> ahead;
  Index at;

  void next() {
    if (ahead.runs == 0) return;
    __builtin_prefetch(ahead.data + at, 0, 2);
    at += kLine<T>;
    if (at < ahead.length) return;
    at = 0;
    ahead.data += ahead.stride;
    --ahead.runs;
  }
};

/// Rows × columns of C = start + A B, with `vectors` vectors of columns.
template <class T, Left left, int rows, int vectors>
void multiply_tile(const TileOf<T>& tile, Fetcher<T>& fetcher) {
  constexpr Index kWidth = vectors * kLanes<T>;
  PacketOf<T> sum[rows][vectors];
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) {
      sum[i][v] = tile.start == TileStart::bias ? load(tile.bias + v * kLanes<T>) : PacketOf<T>{};
    }
  }
  // The sums' start values have left the cache by now.
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) __builtin_prefetch(tile.c + i * tile.c_stride + v * kLanes<T>);
  }
  const T* panel = tile.panel;
  const T* column = tile.a;
  const auto add_term = [&] {
    PacketOf<T> b[vectors];
    for (int v = 0; v < vectors; ++v) b[v] = load(panel + v * kLanes<T>);
    for (int i = 0; i < rows; ++i) {
      const PacketOf<T> factor = fill(left == Left::rows ? column[i * tile.a_stride] : column[i]);
      for (int v = 0; v < vectors; ++v) sum[i][v] = factor * b[v] + sum[i][v];
    }
    panel += kPanelColumns<T>;
    column += left == Left::rows ? 1 : tile.a_stride;
  };
  constexpr int kUnrolled = 8;
  Index k = 0;
  for (; k + kUnrolled <= tile.inner; k += kUnrolled) {
    fetcher.next();
    for (int i = 0; i < kUnrolled; ++i) add_term();
  }
  for (; k < tile.inner; ++k) add_term();
  const bool add = tile.start == TileStart::result;
  if (tile.columns == kWidth) {
    for (int i = 0; i < rows; ++i) {
      for (int v = 0; v < vectors; ++v) {
        T* to = tile.c + i * tile.c_stride + v * kLanes<T>;
        store(to, add ? load(to) + sum[i][v] : sum[i][v]);
      }
    }
    return;
  }
  for (int i = 0; i < rows; ++i) {
    T row[kWidth];
    for (int v = 0; v < vectors; ++v) store(row + v * kLanes<T>, sum[i][v]);
    T* to = tile.c + i * tile.c_stride;
    for (Index j = 0; j < tile.columns; ++j) to[j] = add ? to[j] + row[j] : row[j];
  }
}

/// As many vectors as the columns need.
template <class T, Left left, int rows>
void multiply_tile(const TileOf<T>& tile, Fetcher<T>& fetcher) {
  const Index vectors = (tile.columns + kLanes<T> - 1) / kLanes<T>;
  if (vectors == 1) return multiply_tile<T, left, rows, 1>(tile, fetcher);
  if constexpr (kTileVectors == 4) {
    if (vectors == 3) return multiply_tile<T, left, rows, 3>(tile, fetcher);
    if (vectors == 4) return multiply_tile<T, left, rows, 4>(tile, fetcher);
  }
  multiply_tile<T, left, rows, 2>(tile, fetcher);
}

template <class T, Left left>
void multiply_tiles(Index rows, const TileOf<T>& first) {
  TileOf<T> tile = first;
  Fetcher<T> fetcher{first.ahead, 0};
  const auto next = [&]<int count>() {
    multiply_tile<T, left, count>(tile, fetcher);
    tile.c += count * tile.c_stride;
    tile.a += count == kTileRows ? tile.a_tile : left == Left::rows ? count * tile.a_stride : count;
    rows -= count;
  };
  while (rows >= kTileRows) next.template operator()<kTileRows>();
  if (rows >= 4) next.template operator()<4>();
  if (rows >= 2) next.template operator()<2>();
  if (rows >= 1) next.template operator()<1>();
}

/// Whole panels row by row of B, so that B is read along its rows; what is left of the columns comes last.
template <class T>
void pack_panels(const T* b, Index stride, Index inner, Index columns, T* panel, Index panel_size) {
  const Index whole = columns / kPanelColumns<T>;
  for (Index k = 0; k < inner; ++k) {
    const T* from = b + k * stride;
    T* to = panel + k * kPanelColumns<T>;
    for (Index p = 0; p < whole; ++p, from += kPanelColumns<T>, to += panel_size) {
      for (int v = 0; v < kTileVectors; ++v) store(to + v * kLanes<T>, load(from + v * kLanes<T>));
    }
  }
  const Index rest = columns - whole * kPanelColumns<T>;
  if (rest == 0) return;
  b += whole * kPanelColumns<T>;
  panel += whole * panel_size;
  const Index vectors = rest / kLanes<T>;
  for (Index k = 0; k < inner; ++k, b += stride, panel += kPanelColumns<T>) {
    for (Index v = 0; v < kTileVectors; ++v) {
      store(panel + v * kLanes<T>, v < vectors ? load(b + v * kLanes<T>) : PacketOf<T>{});
    }
    for (Index j = vectors * kLanes<T>; j < rest; ++j) panel[j] = b[j];
  }
}

/// The first halves of two vectors, number by number in turn, and the second halves.
template <class Packet, int... lane>
Packet first_in_turn(const Packet& a, const Packet& b, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(a, b, (lane / 2 + lane % 2 * static_cast<int>(sizeof...(lane)))...);
}
template <class Packet, int... lane>
Packet second_in_turn(const Packet& a, const Packet& b, std::integer_sequence<int, lane...>) {
  constexpr int kSide = static_cast<int>(sizeof...(lane));
  return __builtin_shufflevector(a, b, (kSide / 2 + lane / 2 + lane % 2 * kSide)...);
}

/// Transposes a square in registers: vectors i and i + side / 2 in turn, as often as it takes.
template <class T>
void transpose(PacketOf<T> (&square)[kLanes<T>]) {
  constexpr int kSide = kLanes<T>;
  constexpr std::make_integer_sequence<int, kSide> kAll;
  for (int done = 1; done < kSide; done *= 2) {
    PacketOf<T> mixed[kSide];
    for (int i = 0; i < kSide / 2; ++i) {
      mixed[2 * i] = first_in_turn(square[i], square[i + kSide / 2], kAll);
      mixed[2 * i + 1] = second_in_turn(square[i], square[i + kSide / 2], kAll);
    }
    for (int i = 0; i < kSide; ++i) square[i] = mixed[i];
  }
}

template <class T>
void pack_transposed_panel(const T* b, Index stride, Index inner, Index columns, T* panel) {
  constexpr Index kSide = kLanes<T>;
  Index j = 0;
  for (; j + kSide <= columns; j += kSide) {
    Index k = 0;
    for (; k + kSide <= inner; k += kSide) {
      PacketOf<T> square[kSide];
      for (int i = 0; i < kSide; ++i) square[i] = load(b + (j + i) * stride + k);
      transpose<T>(square);
      for (int i = 0; i < kSide; ++i) store(panel + (k + i) * kPanelColumns<T> + j, square[i]);
    }
    for (; k < inner; ++k) {
      for (Index i = j; i < j + kSide; ++i) panel[k * kPanelColumns<T> + i] = b[i * stride + k];
    }
  }
  for (; j < columns; ++j) {
    for (Index k = 0; k < inner; ++k) panel[k * kPanelColumns<T> + j] = b[j * stride + k];
  }
  for (Index k = 0; k < inner; ++k) {
    for (Index i = columns; i < kPanelColumns<T>; ++i) panel[k * kPanelColumns<T> + i] = T(0);
  }
}

}  // namespace
}  // namespace dadsim::models
