#include "models/gemm/windows.hpp"

#include <algorithm>
#include <cstddef>

#include "models/gemm/kernels.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

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
  const auto size = static_cast<std::size_t>(height * result.pitch + kernels<T>().gradient_columns);
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
  const KernelsOf<T>& set = kernels<T>();
  return out <= set.few_lanes ? set.few_lanes : out <= set.lanes ? set.lanes : set.window_columns;
}

template <class T>
void multiply_windows(const PictureOf<T>& picture, const Windows& windows, const std::vector<T>& panels,
                      const VectorOf<T>& bias, bool add, T* result, Index result_width, Index out) {
  const Index width = window_panel<T>(out);
  const Index run = windows.columns * picture.channels;
  const Index panel_size = windows.rows * run * width;
  VectorOf<T> padded = VectorOf<T>::Zero(bias.size() > 0 ? width : 0);
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
      std::copy_n(bias.data() + column, tile.columns, padded.data());
      tile.bias = padded.data();
    }
    for (Index i = 0; i < windows.down; ++i) {
      const Index row = windows.row + i * windows.step;
      const RowsInside inside(row, windows.rows, picture.height);
      tile.rows = inside.last - inside.first;
      tile.window = picture.at(tile.rows > 0 ? row + inside.first : 0, windows.column);
      tile.panel = panels.data() + p * panel_size + inside.first * run * width;
      tile.result =
          result + ((windows.out_row + i * windows.out_step) * result_width + windows.out_column) * out + column;
      kernels<T>().multiply_windows(windows.across, tile);
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
    for (Index column = 0; column < run; column += kernels<T>().gradient_columns) {
      tile.columns = std::min<Index>(kernels<T>().gradient_columns, run - column);
      tile.number = number + column;
      tile.delta = delta + first * tile.delta_pitch;
      tile.gradient = gradient + y * run + column;
      kernels<T>().add_gradient(filters, tile);
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
