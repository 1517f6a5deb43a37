#include "algorithms/leak/revealed_labels.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace dadsim::algorithms {
namespace {

models::Matrix below(const models::Matrix& a, const models::ConstBlock& b) {
  if (a.rows() == 0) return b;
  if (a.cols() != b.cols()) return a;
  models::Matrix both(a.rows() + b.rows(), a.cols());
  both << a, b;
  return both;
}

/// Sums a row times `weights` (empty: the row itself) in column order. Eigen's order depends on the memory address, and
/// a sum that differs from 0 only by rounding would change its sign between runs.
template <class Row>
double in_order(const Row& row, const std::vector<double>& weights = {}) {
  double sum = 0;
  for (Eigen::Index i = 0; i < row.size(); ++i) {
    sum += static_cast<double>(row(i)) * (weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]);
  }
  return sum;
}

}  // namespace

void RevealedLabels::add(const SeenMatrix& seen) {
  using enum SeenMatrix::Kind;
  if (!seen.last) return;
  if (seen.kind == output_rows) rows_ = below(rows_, seen.numbers);
  if (seen.kind == input_rows) inputs_ = below(inputs_, seen.numbers);
  if (seen.kind == biases) biases_ = seen.numbers;
  if (seen.kind == gradient) gradient_ = seen.numbers;
}

std::vector<std::int32_t> RevealedLabels::told_by_rows() const {
  // Expects rows of softmax minus one at the label: a single negative number, which balances the others. Rows that are
  // almost learned are not checked, since rounding dominates them.
  constexpr float kRounding = 1.0F / 64, kAsked = 1.0F / 1024;
  const float largest = rows_.size() > 0 ? -rows_.minCoeff() : 0;
  std::vector<std::int32_t> told;
  for (Eigen::Index r = 0; r < rows_.rows(); ++r) {
    Eigen::Index label = 0;
    const float least = rows_.row(r).minCoeff(&label);
    told.push_back(least < 0 ? static_cast<std::int32_t>(label) : -1);
    if (-least < kAsked * largest) continue;
    const auto others = static_cast<float>(in_order(rows_.row(r).cwiseMax(0.0F).eval()));
    const Eigen::Index negative = (rows_.row(r).array() < kRounding * least).count();
    if (negative != 1 || std::abs(others + least) > -kRounding * least) return {};
  }
  return told;
}

models::Vector RevealedLabels::presences() const {
  if (biases_.size() > 0) return biases_.row(0).transpose();
  if (gradient_.size() > 0) {
    models::Vector sums(gradient_.rows());
    for (Eigen::Index c = 0; c < sums.size(); ++c) sums(c) = static_cast<float>(in_order(gradient_.row(c)));
    return sums;
  }
  if (rows_.rows() > 0 && rows_.rows() == inputs_.rows()) {
    std::vector<double> weights;
    for (Eigen::Index r = 0; r < inputs_.rows(); ++r) {
      weights.push_back(inputs_.cols() > in_ ? static_cast<double>(inputs_(r, in_)) : in_order(inputs_.row(r)));
    }
    models::Vector sums(rows_.cols());
    for (Eigen::Index c = 0; c < sums.size(); ++c) sums(c) = static_cast<float>(in_order(rows_.col(c), weights));
    return sums;
  }
  return {};
}

double RevealedLabels::share(std::span<const std::int32_t> labels) const {
  if (labels.empty()) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::int32_t> told = told_by_rows();
  if (!told.empty()) {
    std::map<std::int32_t, std::int64_t> there, said;
    for (const std::int32_t label : labels) ++there[label];
    for (const std::int32_t label : told) ++said[label];
    double right = 0;
    for (const auto& [label, count] : there) right += static_cast<double>(std::min(count, said[label]));
    return right / static_cast<double>(labels.size());
  }
  const models::Vector presence = presences();
  if (presence.size() == 0) return std::numeric_limits<double>::quiet_NaN();
  std::vector<char> there(static_cast<std::size_t>(presence.size()), 0);
  for (const std::int32_t label : labels) {
    if (label >= 0 && label < presence.size()) there[static_cast<std::size_t>(label)] = 1;
  }
  double right = 0;
  for (Eigen::Index c = 0; c < presence.size(); ++c) {
    right += (presence(c) < 0) == (there[static_cast<std::size_t>(c)] != 0) ? 1 : 0;
  }
  return right / static_cast<double>(presence.size());
}

}  // namespace dadsim::algorithms
