#include "algorithms/pieces/chunked_cosines.hpp"

#include <cmath>
#include <numbers>

#include "models/gemm/work_count.hpp"

namespace dadsim::algorithms {
namespace {

using step::extent::bias;
using step::extent::in;
using step::extent::largest_divisor;
using step::extent::out;
using step::extent::quotient;

models::Matrix cosines(Eigen::Index side) {
  models::Matrix matrix(side, side);
  const auto s = static_cast<double>(side);
  for (Eigen::Index k = 0; k < side; ++k) {
    const double scale = std::sqrt((k == 0 ? 1.0 : 2.0) / s);
    for (Eigen::Index n = 0; n < side; ++n) {
      const double angle = std::numbers::pi * static_cast<double>((2 * n + 1) * k) / (2 * s);
      matrix(k, n) = static_cast<float>(scale * std::cos(angle));
    }
  }
  return matrix;
}

}  // namespace

ChunkedCosines::ChunkedCosines(Eigen::Index rows, Eigen::Index columns, std::int64_t most)
    : rows_(rows),
      columns_(columns),
      across_rows_(cosines(step::divisor_within(rows, most))),
      across_columns_(cosines(step::divisor_within(columns, most))) {}

models::Matrix ChunkedCosines::transform(const models::Matrix& matrix) const {
  models::Matrix coefficients(chunks(), chunk_size());
  Eigen::Index chunk = 0;
  for (Eigen::Index row = 0; row < rows_; row += height()) {
    models::Matrix strip = matrix.middleRows(row, height());
    if (height() > 1) strip = models::counted(across_rows_ * strip).eval();
    for (Eigen::Index column = 0; column < columns_; column += width()) {
      models::Matrix block = strip.middleCols(column, width());
      if (width() > 1) block = models::counted(block * across_columns_.transpose()).eval();
      coefficients.row(chunk++) = block.reshaped<Eigen::RowMajor>().transpose();
    }
  }
  return coefficients;
}

models::Matrix ChunkedCosines::invert(const models::Matrix& coefficients) const {
  models::Matrix matrix(rows_, columns_);
  Eigen::Index chunk = 0;
  for (Eigen::Index row = 0; row < rows_; row += height()) {
    models::Matrix strip(height(), columns_);
    for (Eigen::Index column = 0; column < columns_; column += width()) {
      models::Matrix block(height(), width());
      block.reshaped<Eigen::RowMajor>() = coefficients.row(chunk++).transpose();
      if (width() > 1) block = models::counted(block * across_columns_).eval();
      strip.middleCols(column, width()) = block;
    }
    if (height() > 1) strip = models::counted(across_rows_.transpose() * strip).eval();
    matrix.middleRows(row, height()) = strip;
  }
  return matrix;
}

step::Work chunked_cosines_work(std::int64_t most) {
  const auto limit = static_cast<double>(most);
  const step::Expression height = largest_divisor(out(), limit);
  const step::Expression width = largest_divisor(in(), limit);
  constexpr double kFloatSizes = 4.0 * 2.0;  // numbers read and written, in each of two products
  return {.flops = 2.0 * in() * out() * (height + width) + 2.0 * bias() * out() * height,
          .bytes_moved = kFloatSizes * (2.0 * in() * out() + bias() * out()),
          .launches = 2.0 + bias()};
}

step::Expression kept_of_chunks(std::int64_t kept, std::int64_t most) {
  const auto limit = static_cast<double>(most);
  const step::Expression of_chunk(static_cast<double>(kept));
  const step::Expression height = largest_divisor(out(), limit);
  const step::Expression width = largest_divisor(in(), limit);
  return quotient(out(), height) * quotient(in(), width) * step::extent::min({of_chunk, height * width}) +
         bias() * quotient(out(), height) * step::extent::min({of_chunk, height});
}

}  // namespace dadsim::algorithms
