#pragma once

#include <algorithm>
#include <cstddef>

#include "models/matrix.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {

/// Rows per block; one thread sums a block.
inline constexpr std::size_t kSumRows = 128;

/// Sums over rows, in parallel and always in the same order: `add(begin, end, sums)` adds rows [begin, end) to `sums`,
/// which starts at zero. `parts` is memory for the sums of blocks; the result is (size).
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

/// Sums some columns in registers, row after row; returns the number of these columns.
template <class T, Eigen::Index kColumns>
Eigen::Index add_up_columns(const ConstBlockOf<T>& rows, Eigen::Index column, T* sums) {
  T sum[kColumns] = {};
  const T* from = rows.data() + column;
  for (Eigen::Index row = 0; row < rows.rows(); ++row, from += rows.outerStride()) {
    for (Eigen::Index j = 0; j < kColumns; ++j) sum[j] += from[j];
  }
  std::copy_n(sum, kColumns, sums + column);
  return kColumns;
}

/// Sums the columns into a bias gradient, which stays empty without a bias.
template <class T>
void add_up_rows(const ConstBlockOf<T>& rows, bool with_bias, VectorOf<T>& sums) {
  sums.resize(with_bias ? rows.cols() : 0);
  for (Eigen::Index column = 0; column < sums.size();) {
    const Eigen::Index left = sums.size() - column;
    column += left >= 64   ? add_up_columns<T, 64>(rows, column, sums.data())
              : left >= 16 ? add_up_columns<T, 16>(rows, column, sums.data())
              : left >= 6  ? add_up_columns<T, 6>(rows, column, sums.data())
              : left >= 4  ? add_up_columns<T, 4>(rows, column, sums.data())
                           : add_up_columns<T, 1>(rows, column, sums.data());
  }
}

}  // namespace dadsim::models
