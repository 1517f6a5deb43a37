#pragma once

#include <cstddef>

#include "support/kernel_set.hpp"

// The inner loops of all matrix products, compiled for several instruction sets: the program selects one set when it
// starts (support/kernel_set.hpp). A result tile stays in registers while it is summed. The left operand is read number
// by number, the right one from a panel: `panel_columns` columns packed row by row, zeros after the last column.
//
// Code compiled for an instruction set shares no inline function or template instance with the rest of the program,
// where the linker might use that copy. These headers therefore do not include Eigen, and the types are plain structs.

namespace dadsim::models {

using KernelIndex = std::ptrdiff_t;

/// Rows of a tile: with a row of the panel, enough sums to hide the latency of additions.
inline constexpr KernelIndex kTileRows = 6;

/// Start value of a tile.
enum class TileStart { zero, result, bias };

/// Memory to prefetch, line by line, while tiles are computed: `runs` of `length` numbers at distance `stride`.
template <class T>
struct AheadOf {
  const T* data = nullptr;
  KernelIndex stride = 0, runs = 0, length = 0;
};

template <class T>
struct TileOf {
  KernelIndex inner = 0;
  const T* a = nullptr;  ///< entry (i, k) is at i · a_stride + k or, for transposed A, at k · a_stride + i
  KernelIndex a_stride = 0;
  KernelIndex a_tile = 0;  ///< distance between the operands of consecutive tiles (kTileRows rows each)
  const T* panel = nullptr;
  T* c = nullptr;
  KernelIndex c_stride = 0;
  KernelIndex columns = 0;  ///< columns, at most panel_columns
  TileStart start = TileStart::zero;
  const T* bias = nullptr;  ///< bias of each column, panel_columns numbers
  AheadOf<T> ahead = {};
};

/// Adjacent windows of a convolution.
template <class T>
struct WindowTile {
  const T* window = nullptr;
  KernelIndex apart = 0;  ///< numbers from one window to the next
  KernelIndex pitch = 0;  ///< distance between rows of a window
  KernelIndex rows = 0;   ///< rows of a window
  KernelIndex run = 0;    ///< numbers per row of a window
  const T* panel = nullptr;
  KernelIndex width = 0;  ///< width of the panel
  T* result = nullptr;
  KernelIndex result_apart = 0;
  KernelIndex columns = 0;  ///< columns actually present in the panel
  bool add = false;
  const T* bias = nullptr;  ///< bias of each filter; may be null
};

/// Gradient of some numbers of a kernel's row for some filters, summed over all windows whose row lies inside the
/// picture.
template <class T>
struct GradientTile {
  const T* delta = nullptr;     ///< Δ of the first window
  KernelIndex delta_apart = 0;  ///< distance from one window to the next
  KernelIndex delta_pitch = 0;  ///< distance from one row of windows to the next
  const T* number = nullptr;    ///< numbers under the first window; gradient_columns of them can be read
  KernelIndex number_apart = 0, number_pitch = 0;
  KernelIndex down = 0, across = 0;  ///< number of windows, in each direction
  T* gradient = nullptr;
  KernelIndex gradient_apart = 0;  ///< distance from one filter to the next
  KernelIndex columns = 0;         ///< columns, at most gradient_columns
};

template <class T>
struct KernelsOf {
  KernelIndex lanes;             ///< numbers per vector
  KernelIndex panel_columns;     ///< columns of a panel of `multiply_…`
  KernelIndex depth;             ///< terms summed before a product adds them to the result
  KernelIndex panels_at_once;    ///< panels to pack together, which together take a few cache lines of each row of B
  KernelIndex window_columns;    ///< columns of a panel of `multiply_windows`, which may also be `lanes` or `few_lanes`
  KernelIndex few_lanes;         ///< numbers per vector for few filters
  KernelIndex gradient_columns;  ///< columns of a tile of `add_gradient`

  /// Compute `rows` rows of C for one panel: multiply_rows of C = start + A B, multiply_columns of C = start + Aᵀ B.
  void (*multiply_rows)(KernelIndex rows, const TileOf<T>& tile);
  void (*multiply_columns)(KernelIndex rows, const TileOf<T>& tile);
  /// Packs rows [0, inner) of columns [0, columns) of B (row by row, `stride` apart) as panels, each `panel_size` after
  /// the previous one.
  void (*pack_panels)(const T* b, KernelIndex stride, KernelIndex inner, KernelIndex columns, T* panel,
                      KernelIndex panel_size);
  /// Packs a panel of Bᵀ: entry (k, j) of the panel is at j · stride + k.
  void (*pack_transposed_panel)(const T* b, KernelIndex stride, KernelIndex inner, KernelIndex columns, T* panel);
  /// Computes `count` windows, starting with the tile's.
  void (*multiply_windows)(KernelIndex count, const WindowTile<T>& tile);
  /// Computes `filters` filters, starting with the tile's.
  void (*add_gradient)(KernelIndex filters, const GradientTile<T>& tile);
};

/// Returns the kernels of a set, for float and double. This processor must support the set.
template <class T>
const KernelsOf<T>& kernels_of(KernelSet set);

/// Returns the kernels of this process.
template <class T>
const KernelsOf<T>& kernels() {
  static const KernelsOf<T>& chosen = kernels_of<T>(kernel_set());
  return chosen;
}

}  // namespace dadsim::models
