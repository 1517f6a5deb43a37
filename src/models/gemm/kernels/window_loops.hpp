#pragma once

#include "models/gemm/kernels/vectors.hpp"

// The loops of convolutions.

namespace dadsim::models {
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

/// Calls `body` with a constant count until `count` are done: as many at a time as there are registers for.
template <class Body>
void in_tiles(Index count, const Body& body) {
  for (; count >= kSideBySide; count -= kSideBySide) body.template operator()<kSideBySide>();
  if constexpr (kSideBySide == 8) {
    if (count >= 4) body.template operator()<4>(), count -= 4;
  }
  if (count >= 2) body.template operator()<2>(), count -= 2;
  if (count >= 1) body.template operator()<1>();
}

/// The same for tiles of one vector, which need eight sums so that none waits for itself where a core starts two
/// multiply-adds per cycle, and less than twelve to stay in registers.
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

/// The same for tiles of two vectors; only with AVX2 six windows of them fit.
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
}  // namespace dadsim::models
