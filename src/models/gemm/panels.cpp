#include "models/gemm/panels.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/gemm/kernels.hpp"
#include "models/resized.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

template <class T>
Index panels_of(Index columns) {
  const Index width = kernels<T>().panel_columns;
  return (columns + width - 1) / width;
}

/// Returns the columns of panel p.
template <class T>
Index columns_of(Index p, Index columns) {
  return std::min(kernels<T>().panel_columns, columns - p * kernels<T>().panel_columns);
}

/// Calls `body(tile)` for each panel of C; the caller sets the tile's left operand.
template <class T, class Body>
void for_panels(const MatrixOf<T>& panels, MutableBlockOf<T>& c, bool add, const Body& body) {
  for (Index p = 0; p < panels_of<T>(c.cols()); ++p) {
    TileOf<T> tile;
    tile.panel = panels.data() + p * panels.cols();
    tile.c = c.data() + p * kernels<T>().panel_columns;
    tile.c_stride = c.outerStride();
    tile.columns = columns_of<T>(p, c.cols());
    tile.start = add ? TileStart::result : TileStart::zero;
    body(tile);
  }
}

}  // namespace

template <class T>
void pack_panels(ConstBlockOf<T> b, MatrixOf<T>& panels) {
  resize_kept(panels, panels_of<T>(b.cols()), b.rows() * kernels<T>().panel_columns);
  kernels<T>().pack_panels(b.data(), b.outerStride(), b.rows(), b.cols(), panels.data(), panels.cols());
}

template <class T>
void pack_transposed_panels(ConstBlockOf<T> b, MatrixOf<T>& panels) {
  resize_kept(panels, panels_of<T>(b.rows()), b.cols() * kernels<T>().panel_columns);
  for (Index p = 0; p < panels.rows(); ++p) {
    kernels<T>().pack_transposed_panel(b.data() + p * kernels<T>().panel_columns * b.outerStride(), b.outerStride(),
                                       b.cols(), columns_of<T>(p, b.rows()), panels.data() + p * panels.cols());
  }
}

template <class T>
void multiply_panels(ConstBlockOf<T> a, const MatrixOf<T>& panels, MutableBlockOf<T> c, bool add) {
  if (panels.rows() != panels_of<T>(c.cols()) || panels.cols() != a.cols() * kernels<T>().panel_columns ||
      a.rows() != c.rows()) {
    throw std::logic_error("A·B in panels: the shapes do not fit");
  }
  for_panels<T>(panels, c, add, [&](TileOf<T>& tile) {
    tile.inner = a.cols();
    tile.a = a.data();
    tile.a_stride = a.outerStride();
    tile.a_tile = kTileRows * a.outerStride();
    kernels<T>().multiply_rows(c.rows(), tile);
  });
}

template <class T>
void multiply_panels_by_rows(ConstBlockOf<T> a, const MatrixOf<T>& panels, MutableBlockOf<T> c, bool add) {
  if (panels.rows() != panels_of<T>(c.cols()) || panels.cols() != a.rows() * kernels<T>().panel_columns ||
      a.cols() != c.rows()) {
    throw std::logic_error("Aᵀ·B in panels: the shapes do not fit");
  }
  for_panels<T>(panels, c, add, [&](TileOf<T>& tile) {
    tile.inner = a.rows();
    tile.a = a.data();
    tile.a_stride = a.outerStride();
    tile.a_tile = kTileRows;
    kernels<T>().multiply_columns(c.rows(), tile);
  });
}

template void pack_panels<float>(ConstBlockOf<float>, MatrixOf<float>&);
template void pack_panels<double>(ConstBlockOf<double>, MatrixOf<double>&);
template void pack_transposed_panels<float>(ConstBlockOf<float>, MatrixOf<float>&);
template void pack_transposed_panels<double>(ConstBlockOf<double>, MatrixOf<double>&);
template void multiply_panels<float>(ConstBlockOf<float>, const MatrixOf<float>&, MutableBlockOf<float>, bool);
template void multiply_panels<double>(ConstBlockOf<double>, const MatrixOf<double>&, MutableBlockOf<double>, bool);
template void multiply_panels_by_rows<float>(ConstBlockOf<float>, const MatrixOf<float>&, MutableBlockOf<float>, bool);
template void multiply_panels_by_rows<double>(ConstBlockOf<double>, const MatrixOf<double>&, MutableBlockOf<double>,
                                              bool);

}  // namespace dadsim::models
