#pragma once

#include <cstddef>

#include "support/kernel_set.hpp"

// The inner loops of all matrix products, compiled for several instruction sets: one set of them is taken when the
// program starts (support/kernel_set.hpp). A result tile is kept in registers while it sums up. The left operand is
// read number by number, the right one from a panel: `panel_columns` columns packed row by row, 0 behind the last one.
//
// What is compiled with instructions of its own shares no inline function or template instance with the rest of the
// program, or the linker might take that copy for all: so nothing here includes Eigen, and these are plain structs.

namespace dadsim::models {

using KernelIndex = std::ptrdiff_t;

/// Rows of a tile: so many sums that the additions hide each other's latency, beside a row of the panel.
inline constexpr KernelIndex kTileRows = 6;

/// What a tile is added to.
enum class TileStart { zero, result, bias };

/// Memory that will be read soon, `runs` of `length` numbers each `stride` after the other: asked for line by line
/// while tiles are computed.
template <class T>
struct AheadOf {
  const T* data = nullptr;
  KernelIndex stride = 0, runs = 0, length = 0;
};

template <class T>
struct TileOf {
  KernelIndex inner = 0;
  const T* a = nullptr;  ///< entry (i, k) is at i · a_stride + k, or where A is used transposed at k · a_stride + i
  KernelIndex a_stride = 0;
  KernelIndex a_tile = 0;  ///< from the operand of kTileRows rows to that of the next ones
  const T* panel = nullptr;
  T* c = nullptr;
  KernelIndex c_stride = 0;
  KernelIndex columns = 0;  ///< up to panel_columns
  TileStart start = TileStart::zero;
  const T* bias = nullptr;  ///< panel_columns
  AheadOf<T> ahead = {};
};

/// Some windows of a convolution side by side.
template <class T>
struct WindowTile {
  const T* window = nullptr;
  KernelIndex apart = 0;  ///< numbers from one window to the next
  KernelIndex pitch = 0;  ///< from one of its rows to the next
  KernelIndex rows = 0;   ///< of a window
  KernelIndex run = 0;    ///< numbers of each of them
  const T* panel = nullptr;
  KernelIndex width = 0;  ///< of the panel
  T* result = nullptr;
  KernelIndex result_apart = 0;
  KernelIndex columns = 0;  ///< of the panel that there are
  bool add = false;
  const T* bias = nullptr;  ///< or null
};

/// Filters × some numbers of a row of the kernel, summed over all windows of which that row lies in the picture.
template <class T>
struct GradientTile {
  const T* delta = nullptr;     ///< of the first window
  KernelIndex delta_apart = 0;  ///< from one window to the next
  KernelIndex delta_pitch = 0;  ///< from one row of windows to the next
  const T* number = nullptr;    ///< under the first window; gradient_columns of them can be read
  KernelIndex number_apart = 0, number_pitch = 0;
  KernelIndex down = 0, across = 0;  ///< windows
  T* gradient = nullptr;
  KernelIndex gradient_apart = 0;  ///< from one filter to the next
  KernelIndex columns = 0;         ///< up to gradient_columns
};

template <class T>
struct KernelsOf {
  KernelIndex lanes;             ///< numbers of a vector
  KernelIndex panel_columns;     ///< of a panel of `multiply_…`
  KernelIndex depth;             ///< terms that a product sums up before it adds them to the result
  KernelIndex panels_at_once;    ///< that are worth packing together: a few lines of each row of B
  KernelIndex window_columns;    ///< of a panel of `multiply_windows`, which may also be `lanes` or `few_lanes`
  KernelIndex few_lanes;         ///< numbers of the vectors that few filters are taken in
  KernelIndex gradient_columns;  ///< of a tile of `add_gradient`

  /// `rows` rows of C = start + A B for one panel, and the same of Aᵀ B.
  void (*multiply_rows)(KernelIndex rows, const TileOf<T>& tile);
  void (*multiply_columns)(KernelIndex rows, const TileOf<T>& tile);
  /// Rows [0, inner) of columns [0, columns) of B (row by row, `stride` apart) as panels, each `panel_size` behind the
  /// one before.
  void (*pack_panels)(const T* b, KernelIndex stride, KernelIndex inner, KernelIndex columns, T* panel,
                      KernelIndex panel_size);
  /// Packs a panel of Bᵀ: entry (k, j) of the panel is at j · stride + k.
  void (*pack_transposed_panel)(const T* b, KernelIndex stride, KernelIndex inner, KernelIndex columns, T* panel);
  /// `count` windows from that of the tile on.
  void (*multiply_windows)(KernelIndex count, const WindowTile<T>& tile);
  /// `filters` filters from that of the tile on.
  void (*add_gradient)(KernelIndex filters, const GradientTile<T>& tile);
};

/// The kernels of a set, for float and double. This processor must support the set.
template <class T>
const KernelsOf<T>& kernels_of(KernelSet set);

/// The kernels of this process.
template <class T>
const KernelsOf<T>& kernels() {
  static const KernelsOf<T>& chosen = kernels_of<T>(kernel_set());
  return chosen;
}

}  // namespace dadsim::models
