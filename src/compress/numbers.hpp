#pragma once

#include "models/matrix.hpp"

namespace dadsim::compress {

/// Calls `visit(number)` for every number of a block, row by row: the order in messages.
template <class Block, class Visit>
void for_each_number(Block&& numbers, const Visit& visit) {
  for (Eigen::Index row = 0; row < numbers.rows(); ++row) {
    for (Eigen::Index column = 0; column < numbers.cols(); ++column) visit(numbers(row, column));
  }
}

}  // namespace dadsim::compress
