#include "models/gemm/panels.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/gemm/tile.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

template <class T>
Index panels_of(Index columns) {
  return (columns + kPanelColumns<T> - 1) / kPanelColumns<T>;
}

/// Columns of panel p.
template <class T>
Index columns_of(Index p, Index columns) {
  return std::min(kPanelColumns<T>, columns - p * kPanelColumns<T>);
}

}  // namespace

template <class T>
void pack_panels(ConstBlockOf<T> b, MatrixOf<T>& panels) {
  panels.resize(panels_of<T>(b.cols()), b.rows() * kPanelColumns<T>);
  for (Index p = 0; p < panels.rows(); ++p) {
    pack_panel(b.data() + p * kPanelColumns<T>, b.outerStride(), b.rows(), columns_of<T>(p, b.cols()),
               panels.data() + p * panels.cols());
  }
}

template <class T>
void pack_transposed_panels(ConstBlockOf<T> b, MatrixOf<T>& panels) {
  panels.resize(panels_of<T>(b.rows()), b.cols() * kPanelColumns<T>);
  for (Index p = 0; p < panels.rows(); ++p) {
    pack_transposed_panel(b.data() + p * kPanelColumns<T> * b.outerStride(), b.outerStride(), b.cols(),
                          columns_of<T>(p, b.rows()), panels.data() + p * panels.cols());
  }
}

template <class T>
void multiply_panels(ConstBlockOf<T> a, const MatrixOf<T>& panels, MutableBlockOf<T> c, bool add) {
  if (panels.rows() != panels_of<T>(c.cols()) || panels.cols() != a.cols() * kPanelColumns<T> || a.rows() != c.rows()) {
    throw std::logic_error("A·B in panels: the shapes do not fit");
  }
  for (Index p = 0; p < panels.rows(); ++p) {
    multiply_tiles<T, Left::rows>(a.rows(), {.inner = a.cols(),
                                             .a = a.data(),
                                             .a_stride = a.outerStride(),
                                             .a_tile = kTileRows * a.outerStride(),
                                             .panel = panels.data() + p * panels.cols(),
                                             .c = c.data() + p * kPanelColumns<T>,
                                             .c_stride = c.outerStride(),
                                             .columns = columns_of<T>(p, c.cols()),
                                             .start = add ? TileStart::result : TileStart::zero});
  }
}

template void pack_panels<float>(ConstBlockOf<float>, MatrixOf<float>&);
template void pack_panels<double>(ConstBlockOf<double>, MatrixOf<double>&);
template void pack_transposed_panels<float>(ConstBlockOf<float>, MatrixOf<float>&);
template void pack_transposed_panels<double>(ConstBlockOf<double>, MatrixOf<double>&);
template void multiply_panels<float>(ConstBlockOf<float>, const MatrixOf<float>&, MutableBlockOf<float>, bool);
template void multiply_panels<double>(ConstBlockOf<double>, const MatrixOf<double>&, MutableBlockOf<double>, bool);

}  // namespace dadsim::models
