#include "algorithms/leak/span_reader.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/leak/orthonormal.hpp"

namespace dadsim::algorithms {
namespace {

using Eigen::Index;
using models::Matrix;

/// Adds ‖row‖² of every row of a matrix to `sums`.
void add_squares(const Matrix& matrix, std::vector<double>& sums) {
  for (Index row = 0; row < matrix.rows(); ++row) {
    sums[static_cast<std::size_t>(row)] += static_cast<double>(matrix.row(row).squaredNorm());
  }
}

}  // namespace

SpanReader::SpanReader(Matrix rows, const models::Vector& mean) : rows_(std::move(rows)), mean_(mean) {}

const Matrix& SpanReader::coordinates(const RevealedSpan& span) {
  const auto [known, is_new] = coordinates_.try_emplace(&span);
  if (is_new) known->second = product_with_transposed(rows_, span.basis());
  return known->second;
}

void SpanReader::show_one(const RevealedSpan& span, std::vector<double>& shown) {
  if (span.directions() > 0) add_squares(coordinates(span), shown);
  if (const models::Vector apart = span.beside(mean_); apart.size() > 0) add_squares(rows_ * apart, shown);
}

void SpanReader::show_several(const std::vector<const RevealedSpan*>& spans, std::vector<double>& shown) {
  const auto largest = std::ranges::max_element(spans, {}, &RevealedSpan::directions);
  // Rows of the other spans, followed by the mean row.
  Index count = 0;
  for (const RevealedSpan* span : spans) count += span == *largest ? 0 : span->directions();
  const float length = mean_.norm();
  const Index means = length > 0 ? 1 : 0;
  Matrix others(count + means, rows_.cols());
  Matrix along(rows_.rows(), count + means);
  Index first = 0;
  for (const RevealedSpan* span : spans) {
    if (span == *largest || span->directions() == 0) continue;
    others.middleRows(first, span->directions()) = span->basis();
    along.middleCols(first, span->directions()) = coordinates(*span);
    first += span->directions();
  }
  if (means > 0) {
    others.row(count) = mean_.transpose() / length;
    along.col(count) = rows_ * others.row(count).transpose();
  }
  Eigen::MatrixXd gram = product_with_transposed(others, others).cast<double>();
  if ((*largest)->directions() > 0) {
    const Matrix& held = coordinates(**largest);
    add_squares(held, shown);
    const Matrix shared = product_with_transposed(others, (*largest)->basis());
    gram -= product_with_transposed(shared, shared).cast<double>();
    along -= product_with_transposed(held, shared);
  }
  const PivotedCholesky found = pivoted_cholesky(gram, kOneDirection * kOneDirection);
  Eigen::MatrixXd rest(static_cast<Index>(found.pivots.size()), rows_.rows());
  for (std::size_t i = 0; i < found.pivots.size(); ++i) {
    rest.row(static_cast<Index>(i)) = along.col(found.pivots[i]).cast<double>().transpose();
  }
  found.solve(rest);
  for (Index row = 0; row < rows_.rows(); ++row) {
    shown[static_cast<std::size_t>(row)] += rest.col(row).squaredNorm();
  }
}

std::vector<RevealedSpan::Energy> SpanReader::energies(const std::vector<const RevealedSpan*>& spans, Index per_group) {
  std::vector<double> shown(static_cast<std::size_t>(rows_.rows()), 0);
  if (spans.size() == 1) {
    show_one(*spans.front(), shown);
  } else if (std::ranges::all_of(spans, &RevealedSpan::is_exact)) {
    show_several(spans, shown);
  } else {
    RevealedSpan all(rows_.cols());
    for (const RevealedSpan* span : spans) all.add(*span);
    show_one(all, shown);
    coordinates_.erase(&all);
  }
  std::vector<RevealedSpan::Energy> result(static_cast<std::size_t>(rows_.rows() / per_group));
  for (std::size_t g = 0; g < result.size(); ++g) {
    const Index start = static_cast<Index>(g) * per_group;
    result[g].all = rows_.middleRows(start, per_group).squaredNorm();
    for (Index row = start; row < start + per_group; ++row) result[g].shown += shown[static_cast<std::size_t>(row)];
    result[g].shown = std::min(result[g].shown, result[g].all);
  }
  return result;
}

}  // namespace dadsim::algorithms
