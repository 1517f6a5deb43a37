#pragma once

#include "models/matrix.hpp"

namespace dadsim::models {

/// Does values.resize(rows, columns) for memory of a thread, which outlives a failing loop. Eigen frees the old memory
/// before it allocates the new one, and frees it again with the object if the allocation failed.
template <class T>
void resize_kept(MatrixOf<T>& values, Eigen::Index rows, Eigen::Index columns) {
  if (values.size() != rows * columns) values.resize(0, 0);
  values.resize(rows, columns);
}

}  // namespace dadsim::models
