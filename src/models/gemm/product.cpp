#include "models/gemm/product.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "models/gemm/kernels.hpp"
#include "models/gemm/work_count.hpp"
#include "models/resized.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

// Eigen cuts products by the machine's cache sizes, and rounding depends on the cuts. Fixed sizes (those of a common
// server core) give the same bits on every machine with the same instruction set.
[[maybe_unused]] const bool kCachesFixed = [] {
  Eigen::setCpuCacheSizes(32L << 10U, 1L << 20U, 8L << 20U);
  return true;
}();

// The result is cut into pieces of at most kPieceRows rows. Columns are cut only to share pieces among threads, because
// every piece packs its part of both operands.
constexpr Index kPieceRows = 288;
constexpr Index kRowsAtOnce = 96;     ///< rows of a piece that are multiplied per pass, a multiple of kTileRows
constexpr Index kShort = 32;          ///< terms below which panels are packed one by one
constexpr Index kPieceColumns = 128;  ///< number of columns up to which a piece of C is not cut across
constexpr Index kPiecesOfThread = 2;
constexpr Index kPanelsThatPack = 4;  ///< smallest number of panels of a piece for which packing Aᵀ pays
constexpr Index kPanelsThatCopy = 3;  ///< smallest number of panels of a piece for which copying distant rows of A pays
template <class T>
constexpr Index kNumbersOfALine = Index{64} / static_cast<Index>(sizeof(T));  ///< numbers per cache line
/// The left operand of a product: its rows, or its columns if it is transposed.
enum class LeftFactor { rows, columns };

void require(bool fits, const char* what) {
  if (!fits) throw std::logic_error(what);
}

/// Cuts [0, `whole`) into parts of equal length, a multiple of `unit` and at most `most` (itself a multiple of `unit`);
/// the last part may be shorter.
struct Cuts {
  Cuts(Index whole, Index most, Index unit) : size(whole) {
    count = (size + most - 1) / most;
    if (count == 0) return;
    length = ((size + count - 1) / count + unit - 1) / unit * unit;
    count = (size + length - 1) / length;
  }
  Index begin(Index i) const { return i * length; }
  Index part(Index i) const { return std::min(length, size - begin(i)); }

  Index size = 0, count = 0, length = 0;
};

template <class T>
T* reserve(MatrixOf<T>& memory, Index size) {
  if (memory.size() < size) resize_kept(memory, 1, size);
  return memory.data();
}

/// Memory of the thread, kept between products.
template <class T>
struct Packed {
  MatrixOf<T> panel, left;
  T* reserve_left(Index size) { return reserve(left, size); }
  static Packed& mine() {
    thread_local Packed packed;
    return packed;
  }
};

/// The right operand: B, or Bᵀ with entry (k, j) at j · stride + k.
template <class T, bool transposed>
struct RightOf {
  const T* data;
  Index stride;

  /// Packs `terms` rows from row `k` on, and of these `columns` columns from `column` on, into panels at distance
  /// `panel_size`.
  void pack(Index k, Index terms, Index column, Index columns, T* panel, Index panel_size) const {
    if constexpr (transposed) {
      const Index width = kernels<T>().panel_columns;
      for (Index at = 0; at < columns; at += width, panel += panel_size) {
        kernels<T>().pack_transposed_panel(data + (column + at) * stride + k, stride, terms,
                                           std::min(width, columns - at), panel);
      }
    } else {
      kernels<T>().pack_panels(data + k * stride + column, stride, terms, columns, panel, panel_size);
    }
  }
  /// Returns the memory that pack() will read.
  AheadOf<T> ahead(Index k, Index terms, Index column, Index columns) const {
    if constexpr (transposed) return {data + column * stride + k, stride, columns, terms};
    return {data + k * stride + column, stride, terms, columns};
  }
};

/// Computes C = start + A B for one piece of C and `inner` terms; `left(k, tile)` sets the tile's left operand from
/// term k on.
template <class T, LeftFactor side, class GiveLeft, bool transposed>
void multiply_piece(Index inner, MutableBlockOf<T> c, const VectorOf<T>& bias, Index bias_column, bool add,
                    const GiveLeft& left, const RightOf<T, transposed>& right) {
  const Index width = kernels<T>().panel_columns;
  // Bᵀ is also read along its rows if panels are packed one by one.
  const Index at_once = transposed || inner < kShort ? 1 : kernels<T>().panels_at_once;
  const Index most = kernels<T>().depth;
  const auto multiply_tiles = side == LeftFactor::rows ? kernels<T>().multiply_rows : kernels<T>().multiply_columns;
  Packed<T>& memory = Packed<T>::mine();
  T* const panels = reserve(memory.panel, (at_once * std::min(most, inner) + 1) * width);
  T* const padded_bias = panels + at_once * std::min(most, inner) * width;
  // Limits the rows per pass, so that they stay in the second-level cache while several panels multiply them.
  const Index rows_at_once = at_once == 1 ? c.rows() : kRowsAtOnce;
  for (Index k = 0; k < std::max<Index>(inner, 1); k += most) {
    TileOf<T> tile;
    tile.inner = std::min(most, inner - k);
    left(k, tile);
    tile.c_stride = c.outerStride();
    tile.bias = padded_bias;
    tile.start = add || k > 0 ? TileStart::result : bias.size() > 0 ? TileStart::bias : TileStart::zero;
    // Prefetches the source of the next panel at the same position.
    const auto ask_ahead = [&](Index column) {
      const Index next = column + at_once * width;
      const Index again = column % (at_once * width);
      if (next < c.cols()) {
        tile.ahead = right.ahead(k, tile.inner, next, std::min(width, c.cols() - next));
      } else if (const Index rest = inner - k - most; rest > 0 && again < c.cols()) {
        tile.ahead = right.ahead(k + most, std::min(most, rest), again, std::min(width, c.cols() - again));
      }
    };
    for (Index first = 0; first < c.cols(); first += at_once * width) {
      const Index columns = std::min(at_once * width, c.cols() - first);
      right.pack(k, tile.inner, first, columns, panels, tile.inner * width);
      const T* const a = tile.a;
      for (Index row = 0; row < c.rows(); row += rows_at_once) {
        const Index rows = std::min(rows_at_once, c.rows() - row);
        tile.a = a + row / kTileRows * tile.a_tile;
        tile.panel = panels;
        for (Index column = first; column < first + columns; column += width, tile.panel += tile.inner * width) {
          tile.columns = std::min(width, c.cols() - column);
          tile.ahead = {};
          if (row == 0) ask_ahead(column);
          if (tile.start == TileStart::bias) {
            std::fill(padded_bias, padded_bias + width, T(0));
            std::copy_n(bias.data() + bias_column + column, tile.columns, padded_bias);
          }
          tile.c = c.data() + row * tile.c_stride + column;
          multiply_tiles(rows, tile);
        }
      }
      tile.a = a;
    }
  }
}

/// Calls `body(row, rows, column, columns)` for each piece of a result. No entry depends on the piece boundaries, so
/// that fewer threads may use fewer pieces.
template <class T, class Body>
void for_pieces(Index rows, Index columns, const Body& body) {
  const Cuts down(rows, kPieceRows, kTileRows);
  if (down.count == 0) return;
  const auto threads = static_cast<Index>(thread_limit());
  const Index side_by_side = threads == 1 ? 1 : (kPiecesOfThread * threads + down.count - 1) / down.count;
  const Cuts across(columns, std::max(kPieceColumns, (columns + side_by_side - 1) / side_by_side),
                    kernels<T>().panel_columns);
  parallel_for(static_cast<std::size_t>(down.count * across.count), [&](std::size_t piece) {
    const Index i = static_cast<Index>(piece) / across.count;
    const Index j = static_cast<Index>(piece) % across.count;
    body(down.begin(i), down.part(i), across.begin(j), across.part(j));
  });
}

/// Copies `runs` runs of `length` numbers, which are `stride` apart, because runs at a power-of-two distance evict each
/// other from the caches. Returns the distance of the copies.
template <class T>
Index copy_left(const T* from, Index stride, Index runs, Index length) {
  const Index apart = (length + 2 * kNumbersOfALine<T> - 1) /
                      (2 * kNumbersOfALine<T>)*(2 * kNumbersOfALine<T>)+kNumbersOfALine<T>;  // an odd number of lines
  T* to = Packed<T>::mine().reserve_left(runs * apart);
  for (Index i = 0; i < runs; ++i, from += stride, to += apart) std::copy_n(from, length, to);
  return apart;
}

/// Packs a transposed A of `inner` × `rows` in the order in which tiles read it: kTileRows columns, row by row, per
/// tile.
template <class T>
void pack_left(const T* from, Index stride, Index inner, Index rows) {
  const Index tiles = (rows + kTileRows - 1) / kTileRows;
  T* packed = Packed<T>::mine().reserve_left(tiles * kTileRows * inner);
  // Rows of A per pass: that many lines at a power-of-two distance fit into the first-level cache.
  constexpr Index kAtOnce = 8;
  for (Index begin = 0; begin < inner; begin += kAtOnce) {
    const Index end = std::min(begin + kAtOnce, inner);
    for (Index tile = 0; tile < tiles; ++tile) {
      const T* source = from + begin * stride + tile * kTileRows;
      T* to = packed + (tile * inner + begin) * kTileRows;
      const Index width = std::min<Index>(kTileRows, rows - tile * kTileRows);
      for (Index k = begin; k < end; ++k, source += stride, to += kTileRows) {
        if (width == kTileRows) {
          std::memcpy(to, source, kTileRows * sizeof(T));
        } else {
          std::copy_n(source, width, to);
        }
      }
    }
  }
}

/// Returns a function that sets the left operand of a piece of C: some rows of A, for `columns` columns of C. Copies
/// the rows if they are long and enough panels read the copy.
template <class T>
auto left_rows(const ConstBlockOf<T>& a, Index row, Index rows, Index columns) {
  const bool copies = a.outerStride() > kernels<T>().depth && columns >= kPanelsThatCopy * kernels<T>().panel_columns;
  return [&a, row, rows, copies](Index k, TileOf<T>& tile) {
    tile.a = a.data() + row * a.outerStride() + k;
    tile.a_stride = a.outerStride();
    if (copies) {
      tile.a_stride = copy_left(tile.a, a.outerStride(), rows, tile.inner);
      tile.a = Packed<T>::mine().left.data();
    }
    tile.a_tile = kTileRows * tile.a_stride;
  };
}

/// Returns a function that sets some columns of A as left operand, for `columns` columns of C. Packs them if enough
/// panels read the result; otherwise copies them, and tiles use a third of each cache line.
template <class T>
auto left_columns(const ConstBlockOf<T>& a, Index row, Index rows, Index columns) {
  return [&a, row, rows, packs = columns >= kPanelsThatPack * kernels<T>().panel_columns](Index k, TileOf<T>& tile) {
    const T* from = a.data() + k * a.outerStride() + row;
    if (packs) {
      pack_left(from, a.outerStride(), tile.inner, rows);
      tile.a_stride = kTileRows;
      tile.a_tile = kTileRows * tile.inner;
    } else {
      tile.a_stride = copy_left(from, a.outerStride(), tile.inner, rows);
      tile.a_tile = kTileRows;
    }
    tile.a = Packed<T>::mine().left.data();
  };
}

}  // namespace

template <class T>
void multiply_transposed(ConstBlockOf<T> a, ConstBlockOf<T> b, const VectorOf<T>& bias, MutableBlockOf<T> c) {
  require(a.cols() == b.cols() && c.rows() == a.rows() && c.cols() == b.rows(), "A·Bᵀ: the shapes do not fit");
  require(bias.size() == 0 || bias.size() == c.cols(), "A·Bᵀ: one bias per column");
  count_product(c.rows(), c.cols(), a.cols());
  for_pieces<T>(c.rows(), c.cols(), [&](Index row, Index rows, Index column, Index columns) {
    multiply_piece<T, LeftFactor::rows>(a.cols(), c.block(row, column, rows, columns), bias, column, false,
                                        left_rows<T>(a, row, rows, columns),
                                        RightOf<T, true>{b.data() + column * b.outerStride(), b.outerStride()});
  });
}

template <class T>
void multiply(ConstBlockOf<T> a, ConstBlockOf<T> b, MutableBlockOf<T> c, bool add) {
  require(a.cols() == b.rows() && c.rows() == a.rows() && c.cols() == b.cols(), "A·B: the shapes do not fit");
  count_product(c.rows(), c.cols(), a.cols());
  for_pieces<T>(c.rows(), c.cols(), [&](Index row, Index rows, Index column, Index columns) {
    multiply_piece<T, LeftFactor::rows>(a.cols(), c.block(row, column, rows, columns), {}, 0, add,
                                        left_rows<T>(a, row, rows, columns),
                                        RightOf<T, false>{b.data() + column, b.outerStride()});
  });
}

template <class T>
void multiply_by_rows(ConstBlockOf<T> a, ConstBlockOf<T> b, MutableBlockOf<T> c, bool add) {
  require(a.rows() == b.rows() && c.rows() == a.cols() && c.cols() == b.cols(), "Aᵀ·B: the shapes do not fit");
  count_product(c.rows(), c.cols(), a.rows());
  for_pieces<T>(c.rows(), c.cols(), [&](Index row, Index rows, Index column, Index columns) {
    multiply_piece<T, LeftFactor::columns>(a.rows(), c.block(row, column, rows, columns), {}, 0, add,
                                           left_columns<T>(a, row, rows, columns),
                                           RightOf<T, false>{b.data() + column, b.outerStride()});
  });
}

template void multiply_transposed<float>(ConstBlockOf<float>, ConstBlockOf<float>, const VectorOf<float>&,
                                         MutableBlockOf<float>);
template void multiply_transposed<double>(ConstBlockOf<double>, ConstBlockOf<double>, const VectorOf<double>&,
                                          MutableBlockOf<double>);
template void multiply<float>(ConstBlockOf<float>, ConstBlockOf<float>, MutableBlockOf<float>, bool);
template void multiply<double>(ConstBlockOf<double>, ConstBlockOf<double>, MutableBlockOf<double>, bool);
template void multiply_by_rows<float>(ConstBlockOf<float>, ConstBlockOf<float>, MutableBlockOf<float>, bool);
template void multiply_by_rows<double>(ConstBlockOf<double>, ConstBlockOf<double>, MutableBlockOf<double>, bool);

}  // namespace dadsim::models
