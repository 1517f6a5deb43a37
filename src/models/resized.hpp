#pragma once

#include "models/matrix.hpp"

namespace dadsim::models {

/// As values.resize(rows, columns), for memory of a thread, which outlives the loop that fails. Eigen gives the old
/// memory back before it asks for the new, and once more with the object where that was denied.
template <class T>
void resize_kept(MatrixOf<T>& values, Eigen::Index rows, Eigen::Index columns) {
  if (values.size() != rows * columns) values.resize(0, 0);
  values.resize(rows, columns);
}

}  // namespace dadsim::models
