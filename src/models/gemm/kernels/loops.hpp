#pragma once

#include <utility>

#include "models/gemm/kernels/sets.hpp"
#include "models/gemm/kernels/vectors.hpp"

// The loops of models/gemm/kernels.hpp, for the instruction set of the including file. Everything here is private to
// that file (the unnamed namespace), and calls no template or inline function from elsewhere.

namespace dadsim::models {

// The loops of convolutions.

namespace {

template <class T, int count, int vectors, int bytes = kVectorBytes>
void multiply_window_tile(const WindowTile<T>& tile) {
  using Packet = PacketOf<T, bytes>;
  constexpr Index kSide = bytes / static_cast<int>(sizeof(T));
  Packet sum[count][vectors];
  for (int i = 0; i < count; ++i) {
    for (int v = 0; v < vectors; ++v) sum[i][v] = Packet{};
  }
  const T* panel = tile.panel;
  const T* row = tile.window;
  for (Index y = 0; y < tile.rows; ++y, row += tile.pitch) {
    const T* number = row;
    for (Index k = 0; k < tile.run; ++k, ++number, panel += tile.width) {
      Packet b[vectors];
      for (int v = 0; v < vectors; ++v) b[v] = load<T, bytes>(panel + v * kSide);
      for (int i = 0; i < count; ++i) {
        const Packet factor = fill<T, bytes>(number[i * tile.apart]);
        for (int v = 0; v < vectors; ++v) sum[i][v] = factor * b[v] + sum[i][v];
      }
    }
  }
  if (tile.columns == vectors * kSide) {
    for (int i = 0; i < count; ++i) {
      for (int v = 0; v < vectors; ++v) {
        T* to = tile.result + i * tile.result_apart + v * kSide;
        Packet value = sum[i][v];
        if (tile.bias != nullptr) value = value + load<T, bytes>(tile.bias + v * kSide);
        store(to, tile.add ? load<T, bytes>(to) + value : value);
      }
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    T values[vectors * kSide];
    for (int v = 0; v < vectors; ++v) store(values + v * kSide, sum[i][v]);
    T* to = tile.result + i * tile.result_apart;
    for (Index j = 0; j < tile.columns; ++j) {
      const T value = tile.bias != nullptr ? values[j] + tile.bias[j] : values[j];
      to[j] = tile.add ? to[j] + value : value;
    }
  }
}

template <class T, int filters, int vectors, int bytes = kVectorBytes>
void add_gradient_tile(const GradientTile<T>& tile) {
  using Packet = PacketOf<T, bytes>;
  constexpr Index kSide = bytes / static_cast<int>(sizeof(T));
  Packet sum[filters][vectors];
  for (int i = 0; i < filters; ++i) {
    for (int v = 0; v < vectors; ++v) sum[i][v] = Packet{};
  }
  for (Index y = 0; y < tile.down; ++y) {
    const T* delta = tile.delta + y * tile.delta_pitch;
    const T* number = tile.number + y * tile.number_pitch;
    for (Index x = 0; x < tile.across; ++x, delta += tile.delta_apart, number += tile.number_apart) {
      Packet b[vectors];
      for (int v = 0; v < vectors; ++v) b[v] = load<T, bytes>(number + v * kSide);
      for (int i = 0; i < filters; ++i) {
        const Packet factor = fill<T, bytes>(delta[i]);
        for (int v = 0; v < vectors; ++v) sum[i][v] = factor * b[v] + sum[i][v];
      }
    }
  }
  for (int i = 0; i < filters; ++i) {
    T values[vectors * kSide];
    for (int v = 0; v < vectors; ++v) store(values + v * kSide, sum[i][v]);
    T* to = tile.gradient + i * tile.gradient_apart;
    for (Index j = 0; j < tile.columns; ++j) to[j] += values[j];
  }
}

/// Calls `body` with constant tile sizes that add up to `count`: tiles as large as registers allow, then smaller ones.
template <class Body>
void in_tiles(Index count, const Body& body) {
  for (; count >= kSideBySide; count -= kSideBySide) body.template operator()<kSideBySide>();
  if constexpr (kSideBySide == 8) {
    if (count >= 4) body.template operator()<4>(), count -= 4;
  }
  if (count >= 2) body.template operator()<2>(), count -= 2;
  if (count >= 1) body.template operator()<1>();
}

/// Like in_tiles(), for tiles of one vector. At least eight sums hide the latency on cores that start two multiply-adds
/// per cycle; at most twelve fit in registers.
template <class Body>
void in_long_tiles(Index count, const Body& body) {
  if constexpr (kVectorBytes < 32) return in_tiles(count, body);
  for (; count >= 20; count -= 12) body.template operator()<12>();
  for (; count >= 13; count -= 8) body.template operator()<8>();
  if (count >= 12) body.template operator()<12>(), count -= 12;
  if (count >= 10) body.template operator()<10>(), count -= 10;
  if (count >= 8) body.template operator()<8>(), count -= 8;
  if (count >= 6) body.template operator()<6>(), count -= 6;
  if (count >= 4) body.template operator()<4>(), count -= 4;
  if (count >= 2) body.template operator()<2>(), count -= 2;
  if (count >= 1) body.template operator()<1>();
}

/// Like in_tiles(), for tiles of two vectors. Tiles of six windows fit only with AVX2.
template <class Body>
void in_wide_tiles(Index count, const Body& body) {
  if constexpr (kVectorBytes != 32) return in_tiles(count, body);
  for (; count >= 6 && count != 8; count -= 6) body.template operator()<6>();
  for (; count >= 4; count -= 4) body.template operator()<4>();
  if (count >= 2) body.template operator()<2>(), count -= 2;
  if (count >= 1) body.template operator()<1>();
}

template <class T>
void multiply_windows(Index count, const WindowTile<T>& first) {
  WindowTile<T> tile = first;
  const auto next = [&](Index some) {
    tile.window += some * tile.apart;
    tile.result += some * tile.result_apart;
  };
  if (tile.columns <= kFewLanes<T>) {
    in_long_tiles(count, [&]<int some>() {
      multiply_window_tile<T, some, 1, kFewBytes>(tile);
      next(some);
    });
  } else if (tile.columns <= kLanes<T>) {
    in_tiles(count, [&]<int some>() {
      multiply_window_tile<T, some, 1>(tile);
      next(some);
    });
  } else {
    in_wide_tiles(count, [&]<int some>() {
      multiply_window_tile<T, some, 2>(tile);
      next(some);
    });
  }
}

template <class T>
void add_gradient(Index filters, const GradientTile<T>& first) {
  GradientTile<T> tile = first;
  const auto next = [&](Index some) {
    tile.delta += some;
    tile.gradient += some * tile.gradient_apart;
  };
  if (tile.columns <= kFewLanes<T>) {
    in_long_tiles(filters, [&]<int some>() {
      add_gradient_tile<T, some, 1, kFewBytes>(tile);
      next(some);
    });
    return;
  }
  in_tiles(filters, [&]<int some>() {
    if (tile.columns <= kLanes<T>) {
      add_gradient_tile<T, some, 1>(tile);
    } else if (tile.columns <= 2 * kLanes<T>) {
      add_gradient_tile<T, some, 2>(tile);
    } else {
      add_gradient_tile<T, some, 3>(tile);
    }
    next(some);
  });
}

}  // namespace

// The loops of products, and the packing of their operands.

namespace {

/// The left operand of a product: its rows, or its columns.
enum class Left { rows, columns };

/// Prefetches the next line into the second-level cache.
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

/// Computes rows × columns of C = start + A B, with `vectors` vectors of columns.
template <class T, Left left, int rows, int vectors>
void multiply_tile(const TileOf<T>& tile, Fetcher<T>& fetcher) {
  constexpr Index kWidth = vectors * kLanes<T>;
  PacketOf<T> sum[rows][vectors];
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) {
      sum[i][v] = tile.start == TileStart::bias ? load(tile.bias + v * kLanes<T>) : PacketOf<T>{};
    }
  }
  // Prefetches the entries of C, which have left the cache since the last panel.
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

/// Uses only as many vectors as the columns need.
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

/// Packs whole panels row by row of B, which reads B along its rows; packs the remaining columns last.
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

/// Interleaves the first, or the second, halves of two vectors, number by number.
template <class Packet, int... lane>
Packet first_in_turn(const Packet& a, const Packet& b, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(a, b, (lane / 2 + lane % 2 * static_cast<int>(sizeof...(lane)))...);
}
template <class Packet, int... lane>
Packet second_in_turn(const Packet& a, const Packet& b, std::integer_sequence<int, lane...>) {
  constexpr int kSide = static_cast<int>(sizeof...(lane));
  return __builtin_shufflevector(a, b, (kSide / 2 + lane / 2 + lane % 2 * kSide)...);
}

/// Transposes a square in registers by interleaving vectors i and i + side / 2 repeatedly.
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

template <class T>
constexpr KernelsOf<T> kLoopsOf = {
    .lanes = kLanes<T>,
    .panel_columns = kPanelColumns<T>,
    .depth = kDepth,
    .panels_at_once = kPanelsAtOnce<T>,
    .window_columns = kWindowVectors* kLanes<T>,
    .few_lanes = kFewLanes<T>,
    .gradient_columns = kGradientVectors* kLanes<T>,
    .multiply_rows = multiply_tiles<T, Left::rows>,
    .multiply_columns = multiply_tiles<T, Left::columns>,
    .pack_panels = pack_panels<T>,
    .pack_transposed_panel = pack_transposed_panel<T>,
    .multiply_windows = multiply_windows<T>,
    .add_gradient = add_gradient<T>,
};

constexpr Kernels kLoops = {kLoopsOf<float>, kLoopsOf<double>};

}  // namespace
}  // namespace dadsim::models
