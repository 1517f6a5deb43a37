#pragma once

#include <cstddef>

#include "models/matrix.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {

/// Rows that one thread goes through at a time.
inline constexpr std::size_t kSumRows = 128;

/// Sums over rows, in parallel and always in the same order: `add(begin, end, sums)` adds rows [begin, end) to `sums`,
/// which starts at zero. `parts` is memory for the sums of blocks of rows; the result is (size).
template <class T, class Add>
void sum_over_rows(Eigen::Index rows, Eigen::Index size, MatrixOf<T>& parts, VectorOf<T>& result, const Add& add) {
  parts.setZero((rows + static_cast<Eigen::Index>(kSumRows) - 1) / static_cast<Eigen::Index>(kSumRows), size);
  parallel_for_blocks(static_cast<std::size_t>(rows), kSumRows, [&](std::size_t begin, std::size_t end) {
    add(static_cast<Eigen::Index>(begin), static_cast<Eigen::Index>(end),
        parts.row(static_cast<Eigen::Index>(begin / kSumRows)));
  });
  result.setZero(size);
  for (Eigen::Index part = 0; part < parts.rows(); ++part) result += parts.row(part).transpose();
}

}  // namespace dadsim::models
