#pragma once

#include "models/matrix.hpp"
#include "step/expression.hpp"

namespace dadsim::algorithms {

/// The orthonormal discrete cosine transform (DCT-II) of a matrix, chunk by chunk: chunks are as high and as wide as
/// the largest divisors of its rows and columns up to a limit. Of a chunk X: C_r X C_cᵀ with C_kn = √(2/s) cos(π (2n +
/// 1) k / (2s)), its first row divided by √2. A side of 1 is left unchanged.
class ChunkedCosines {
 public:
  ChunkedCosines(Eigen::Index rows, Eigen::Index columns, std::int64_t most);

  Eigen::Index chunks() const { return (rows_ / height()) * (columns_ / width()); }
  Eigen::Index chunk_size() const { return height() * width(); }

  /// Returns the coefficients of each chunk as a row, row by row: chunks() × chunk_size().
  models::Matrix transform(const models::Matrix& matrix) const;
  /// Inverts transform().
  models::Matrix invert(const models::Matrix& coefficients) const;

 private:
  Eigen::Index height() const { return across_rows_.rows(); }
  Eigen::Index width() const { return across_columns_.rows(); }
  Eigen::Index rows_, columns_;
  models::Matrix across_rows_, across_columns_;
};

/// Returns the work of one transform, or its inverse, for a matrix of out × in and, if there are biases, for a row of 1
/// × out.
step::Work chunked_cosines_work(std::int64_t most);
/// Returns the number of coefficients kept: `kept` of each chunk, or all if the chunk has fewer.
step::Expression kept_of_chunks(std::int64_t kept, std::int64_t most);

}  // namespace dadsim::algorithms
