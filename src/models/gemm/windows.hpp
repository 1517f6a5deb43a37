#pragma once

#include <vector>

#include "models/matrix.hpp"

// The products of a convolution, on the calling thread and straight from the pixels: what lies under a row of the
// kernel is contiguous in the picture, so that no patch has to be copied (implicit GEMM; Chetlur et al., cuDNN,
// arXiv:1410.0759). A picture is height × width × channels, and has a border of zeros beside its columns only: rows of
// the kernel that lie above or below it are left out.

namespace dadsim::models {

/// A picture with room beside its columns: pixel (y, x) is at y · pitch + (left + x) · channels.
template <class T>
struct PictureOf {
  const T* pixels = nullptr;  ///< of column −left
  Eigen::Index height = 0, channels = 0, left = 0, pitch = 0;

  const T* at(Eigen::Index y, Eigen::Index x) const { return pixels + y * pitch + (left + x) * channels; }
};

/// `picture` (height × width × channels) with `left` and `right` columns of zeros beside it, in `memory`, behind which
/// as much room is left as add_window_gradient() reads.
template <class T>
PictureOf<T> with_borders(const T* picture, Eigen::Index height, Eigen::Index width, Eigen::Index channels,
                          Eigen::Index left, Eigen::Index right, std::vector<T>& memory);

/// Windows of rows × columns pixels, and where they lie. Window (i, j) begins at pixel (row + i · step, column + j ·
/// step) of the picture and gives pixel (out_row + i · out_step, out_column + j · out_step) of the result.
struct Windows {
  Eigen::Index rows = 0, columns = 0;
  Eigen::Index down = 0, across = 0;  ///< how many there are
  Eigen::Index row = 0, column = 0, step = 1;
  Eigen::Index out_row = 0, out_column = 0, out_step = 1;
};

/// W (terms × out) cut into panels for multiply_windows(): `entry(k, j)` is called for each of its entries.
template <class T, class Entry>
void pack_windows(Eigen::Index terms, Eigen::Index out, const Entry& entry, std::vector<T>& panels);
/// Columns of a panel.
template <class T>
Eigen::Index window_panel(Eigen::Index out);

/// Each pixel of `result` (… × result_width × out) that a window gives becomes Σ_k window(k) W(k, ·) (+ bias, where it
/// has entries), or has that added to it. The terms are added up in order: row by row of the window, and within one
/// pixel by pixel.
template <class T>
void multiply_windows(const PictureOf<T>& picture, const Windows& windows, const std::vector<T>& panels,
                      const VectorOf<T>& bias, bool add, T* result, Eigen::Index result_width, Eigen::Index out);

/// G (filters × rows·columns·channels) += Σ over windows of delta(window, ·)ᵀ window(·); `delta` is down × across ×
/// filters. The picture comes from with_borders().
template <class T>
void add_window_gradient(const PictureOf<T>& picture, const Windows& windows, const T* delta, Eigen::Index filters,
                         T* gradient);

template <class T, class Entry>
void pack_windows(Eigen::Index terms, Eigen::Index out, const Entry& entry, std::vector<T>& panels) {
  const Eigen::Index width = window_panel<T>(out);
  panels.assign(static_cast<std::size_t>((out + width - 1) / width * width * terms), T(0));
  for (Eigen::Index j = 0; j < out; ++j) {
    T* to = panels.data() + j / width * width * terms + j % width;
    for (Eigen::Index k = 0; k < terms; ++k) to[k * width] = entry(k, j);
  }
}

}  // namespace dadsim::models
