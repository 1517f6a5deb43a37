#pragma once

#include "models/matrix.hpp"

namespace dadsim::models {

/// Resizes memory that a thread keeps, safely if the allocation fails. Eigen frees the old memory before it allocates,
/// and would free it again with the object.
template <class T>
void resize_kept(MatrixOf<T>& values, Eigen::Index rows, Eigen::Index columns) {
  if (values.size() != rows * columns) values.resize(0, 0);
  values.resize(rows, columns);
}

}  // namespace dadsim::models
