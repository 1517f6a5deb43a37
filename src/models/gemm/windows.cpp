#include "models/gemm/windows.hpp"

#include <algorithm>
#include <cstddef>

#include "models/gemm/tile.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;
using Eigen::internal::padd;
using Eigen::internal::ploadu;
using Eigen::internal::pmadd;
using Eigen::internal::pset1;
using Eigen::internal::pstoreu;

// So many sums that the additions hide each other's latency, beside a row of the right operand: windows side by side ×
// vectors of filters, and in the gradient filters × vectors of what lies under a row of the kernel.
#ifdef EIGEN_VECTORIZE_AVX512
constexpr int kSideBySide = 8;
#else
constexpr int kSideBySide = 4;
#endif
constexpr int kPanelVectors = 2;
constexpr int kGradientVectors = 3;

/// Some windows side by side.
template <class T>
struct WindowTile {
  const T* window;
  Index apart;  ///< numbers from one window to the next
  Index pitch;  ///< from one of its rows to the next
  Index rows;   ///< of a window
  Index run;    ///< numbers of each of them
  const T* panel;
  Index width;  ///< of the panel
  T* result;
  Index result_apart;
  Index columns;  ///< of the panel that there are
  bool add;
  const T* bias;  ///< or null
};

template <class T, int Count, int Vectors>
void multiply_window_tile(const WindowTile<T>& tile) {
  PacketOf<T> sum[Count][Vectors];
  for (int i = 0; i < Count; ++i) {
    for (int v = 0; v < Vectors; ++v) sum[i][v] = pset1<PacketOf<T>>(T(0));
  }
  const T* panel = tile.panel;
  const T* row = tile.window;
  for (Index y = 0; y < tile.rows; ++y, row += tile.pitch) {
    const T* number = row;
    for (Index k = 0; k < tile.run; ++k, ++number, panel += tile.width) {
      PacketOf<T> b[Vectors];
      for (int v = 0; v < Vectors; ++v) b[v] = ploadu<PacketOf<T>>(panel + v * kLanes<T>);
      for (int i = 0; i < Count; ++i) {
        const PacketOf<T> factor = pset1<PacketOf<T>>(number[i * tile.apart]);
        for (int v = 0; v < Vectors; ++v) sum[i][v] = pmadd(factor, b[v], sum[i][v]);
      }
    }
  }
  if (tile.columns == Vectors * kLanes<T>) {
    for (int i = 0; i < Count; ++i) {
      for (int v = 0; v < Vectors; ++v) {
        T* to = tile.result + i * tile.result_apart + v * kLanes<T>;
        PacketOf<T> value = sum[i][v];
        if (tile.bias != nullptr) value = padd(value, ploadu<PacketOf<T>>(tile.bias + v * kLanes<T>));
        pstoreu(to, tile.add ? padd(ploadu<PacketOf<T>>(to), value) : value);
      }
    }
    return;
  }
  for (int i = 0; i < Count; ++i) {
    T values[Vectors * kLanes<T>];
    for (int v = 0; v < Vectors; ++v) pstoreu(values + v * kLanes<T>, sum[i][v]);
    T* to = tile.result + i * tile.result_apart;
    for (Index j = 0; j < tile.columns; ++j) {
      const T value = tile.bias != nullptr ? values[j] + tile.bias[j] : values[j];
      to[j] = tile.add ? to[j] + value : value;
    }
  }
}

template <class T, int Count>
void multiply_window_tile(const WindowTile<T>& tile) {
  if (tile.columns <= kLanes<T>) return multiply_window_tile<T, Count, 1>(tile);
  multiply_window_tile<T, Count, 2>(tile);
}

/// Filters × some numbers of a row of the kernel, summed over all windows of which that row lies in the picture.
template <class T>
struct GradientTile {
  const T* delta;     ///< of the first window
  Index delta_apart;  ///< from one window to the next
  Index delta_pitch;  ///< from one row of windows to the next
  const T* number;    ///< under the first window
  Index number_apart, number_pitch;
  Index down, across;  ///< windows
  T* gradient;
  Index gradient_apart;  ///< from one filter to the next
  Index columns;
};

template <class T, int Filters, int Vectors>
void add_gradient_tile(const GradientTile<T>& tile) {
  PacketOf<T> sum[Filters][Vectors];
  for (int i = 0; i < Filters; ++i) {
    for (int v = 0; v < Vectors; ++v) sum[i][v] = pset1<PacketOf<T>>(T(0));
  }
  for (Index y = 0; y < tile.down; ++y) {
    const T* delta = tile.delta + y * tile.delta_pitch;
    const T* number = tile.number + y * tile.number_pitch;
    for (Index x = 0; x < tile.across; ++x, delta += tile.delta_apart, number += tile.number_apart) {
      PacketOf<T> b[Vectors];
      for (int v = 0; v < Vectors; ++v) b[v] = ploadu<PacketOf<T>>(number + v * kLanes<T>);
      for (int i = 0; i < Filters; ++i) {
        const PacketOf<T> factor = pset1<PacketOf<T>>(delta[i]);
        for (int v = 0; v < Vectors; ++v) sum[i][v] = pmadd(factor, b[v], sum[i][v]);
      }
    }
  }
  for (int i = 0; i < Filters; ++i) {
    T values[Vectors * kLanes<T>];
    for (int v = 0; v < Vectors; ++v) pstoreu(values + v * kLanes<T>, sum[i][v]);
    T* to = tile.gradient + i * tile.gradient_apart;
    for (Index j = 0; j < tile.columns; ++j) to[j] += values[j];
  }
}

template <class T, int Filters>
void add_gradient_tile(const GradientTile<T>& tile) {
  if (tile.columns <= kLanes<T>) return add_gradient_tile<T, Filters, 1>(tile);
  if (tile.columns <= 2 * kLanes<T>) return add_gradient_tile<T, Filters, 2>(tile);
  add_gradient_tile<T, Filters, 3>(tile);
}

/// Calls `body` with a constant count until `count` are done: as many at a time as there are registers for.
template <class Body>
void in_tiles(Index count, const Body& body) {
  while (count >= kSideBySide) body(std::integral_constant<int, kSideBySide>()), count -= kSideBySide;
  if constexpr (kSideBySide == 8) {
    if (count >= 4) body(std::integral_constant<int, 4>()), count -= 4;
  }
  if (count >= 2) body(std::integral_constant<int, 2>()), count -= 2;
  if (count >= 1) body(std::integral_constant<int, 1>());
}

/// The rows of window row i that lie in the picture: [first, last).
struct RowsInside {
  RowsInside(Index begin, Index rows, Index height)
      : first(std::clamp<Index>(-begin, 0, rows)), last(std::clamp<Index>(height - begin, first, rows)) {}
  Index first, last;
};

}  // namespace

template <class T>
PictureOf<T> with_borders(const T* picture, Index height, Index width, Index channels, Index left, Index right,
                          std::vector<T>& memory) {
  const PictureOf<T> result{nullptr, height, channels, left, (left + width + right) * channels};
  const auto size = static_cast<std::size_t>(height * result.pitch + kGradientVectors * kLanes<T>);
  if (memory.size() < size) memory.resize(size);
  T* to = memory.data();
  for (Index y = 0; y < height; ++y, picture += width * channels) {
    to = std::fill_n(to, left * channels, T(0));
    to = std::copy_n(picture, width * channels, to);
    to = std::fill_n(to, right * channels, T(0));
  }
  return {memory.data(), result.height, result.channels, result.left, result.pitch};
}

template <class T>
Index window_panel(Index out) {
  return out <= kLanes<T> ? kLanes<T> : kPanelVectors * kLanes<T>;
}

template <class T>
void multiply_windows(const PictureOf<T>& picture, const Windows& windows, const std::vector<T>& panels,
                      const VectorOf<T>& bias, bool add, T* result, Index result_width, Index out) {
  const Index width = window_panel<T>(out);
  const Index run = windows.columns * picture.channels;
  const Index panel_size = windows.rows * run * width;
  T padded[kPanelVectors * kLanes<T>] = {};
  for (Index column = 0, p = 0; column < out; column += width, ++p) {
    WindowTile<T> tile{};
    tile.apart = windows.step * picture.channels;
    tile.pitch = picture.pitch;
    tile.run = run;
    tile.width = width;
    tile.result_apart = windows.out_step * out;
    tile.columns = std::min(width, out - column);
    tile.add = add;
    if (bias.size() > 0) {
      std::copy_n(bias.data() + column, tile.columns, padded);
      tile.bias = padded;
    }
    for (Index i = 0; i < windows.down; ++i) {
      const Index row = windows.row + i * windows.step;
      const RowsInside inside(row, windows.rows, picture.height);
      tile.rows = inside.last - inside.first;
      tile.window = picture.at(tile.rows > 0 ? row + inside.first : 0, windows.column);
      tile.panel = panels.data() + p * panel_size + inside.first * run * width;
      tile.result =
          result + ((windows.out_row + i * windows.out_step) * result_width + windows.out_column) * out + column;
      in_tiles(windows.across, [&]<int Count>(std::integral_constant<int, Count>) {
        multiply_window_tile<T, Count>(tile);
        tile.window += Count * tile.apart;
        tile.result += Count * tile.result_apart;
      });
    }
  }
}

template <class T>
void add_window_gradient(const PictureOf<T>& picture, const Windows& windows, const T* delta, Index filters,
                         T* gradient) {
  const Index run = windows.columns * picture.channels;
  GradientTile<T> tile{};
  tile.delta_apart = filters;
  tile.delta_pitch = windows.across * filters;
  tile.number_apart = windows.step * picture.channels;
  tile.number_pitch = windows.step * picture.pitch;
  tile.across = windows.across;
  tile.gradient_apart = windows.rows * run;
  for (Index y = 0; y < windows.rows; ++y) {
    // Of window rows i those with 0 ≤ row + i · step + y < height.
    const Index begin = windows.row + y;
    const Index first = begin >= 0 ? 0 : (-begin + windows.step - 1) / windows.step;
    const Index last = std::min(
        windows.down, begin >= picture.height ? 0 : (picture.height - begin + windows.step - 1) / windows.step);
    tile.down = last - first;
    if (tile.down <= 0) continue;
    const T* number = picture.at(begin + first * windows.step, windows.column);
    for (Index column = 0; column < run; column += kGradientVectors * kLanes<T>) {
      tile.columns = std::min<Index>(kGradientVectors * kLanes<T>, run - column);
      tile.number = number + column;
      tile.delta = delta + first * tile.delta_pitch;
      tile.gradient = gradient + y * run + column;
      in_tiles(filters, [&]<int Filters>(std::integral_constant<int, Filters>) {
        add_gradient_tile<T, Filters>(tile);
        tile.delta += Filters;
        tile.gradient += Filters * tile.gradient_apart;
      });
    }
  }
}

template PictureOf<float> with_borders(const float*, Index, Index, Index, Index, Index, std::vector<float>&);
template PictureOf<double> with_borders(const double*, Index, Index, Index, Index, Index, std::vector<double>&);
template Index window_panel<float>(Index);
template Index window_panel<double>(Index);
template void multiply_windows(const PictureOf<float>&, const Windows&, const std::vector<float>&,
                               const VectorOf<float>&, bool, float*, Index, Index);
template void multiply_windows(const PictureOf<double>&, const Windows&, const std::vector<double>&,
                               const VectorOf<double>&, bool, double*, Index, Index);
template void add_window_gradient(const PictureOf<float>&, const Windows&, const float*, Index, float*);
template void add_window_gradient(const PictureOf<double>&, const Windows&, const double*, Index, double*);

}  // namespace dadsim::models
