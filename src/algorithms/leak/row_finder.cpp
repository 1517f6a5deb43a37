#include "algorithms/leak/row_finder.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace dadsim::algorithms {
namespace {

/// Up to so many pairs of rows, each is looked at.
constexpr Eigen::Index kMostPairs = 1 << 20;

/// A key that is nearly equal for rows close to each other: the sum of the numbers with fixed signs by place.
double key_of(const float* numbers, Eigen::Index columns) {
  double key = 0;
  std::uint32_t state = 0x9E3779B9U;
  for (Eigen::Index c = 0; c < columns; ++c) {
    state = state * 1664525U + 1013904223U;
    key += (state >> 31U) != 0 ? numbers[c] : -numbers[c];
  }
  return key;
}

}  // namespace

double tolerance_of(double error) {
  constexpr double kFloat = 1.0 / (1 << 22), kMost = 1.0 / 16, kMargin = 1.5;
  return error > kMost ? -1 : std::max(kFloat, kMargin * error);
}

RowFinder::RowFinder(const models::ConstBlock& rows) : rows_(rows) {
  const auto count = static_cast<std::size_t>(rows_.rows());
  norms_.assign(count, -1.0);
  largest_.assign(count, 0);
  for (std::size_t row = 0; row < count; ++row) {
    zero_.push_back(std::all_of(own(row), own(row) + rows_.cols(), [](float x) { return x == 0; }) ? 1 : 0);
  }
}

double RowFinder::norm(std::size_t row) const {
  if (norms_[row] >= 0) return norms_[row];
  const Eigen::Map<const Eigen::RowVectorXf> numbers(own(row), rows_.cols());
  numbers.cwiseAbs().maxCoeff(&largest_[row]);
  return norms_[row] = std::sqrt(static_cast<double>(numbers.squaredNorm()));
}

bool RowFinder::is_near(std::size_t row, const float* numbers, double tolerance) const {
  const float* wanted = own(row);
  // What was not encoded arrives to the bit, and needs no arithmetic.
  if (std::memcmp(wanted, numbers, static_cast<std::size_t>(rows_.cols()) * sizeof(float)) == 0) return true;
  const double most = tolerance * norm(row);
  const Eigen::Index place = largest_[row];
  if (!(std::abs(static_cast<double>(wanted[place]) - numbers[place]) <= most)) return false;
  const Eigen::Map<const Eigen::RowVectorXf> there(numbers, rows_.cols());
  const Eigen::Map<const Eigen::RowVectorXf> here(wanted, rows_.cols());
  return std::sqrt(static_cast<double>((there - here).squaredNorm())) <= most;
}

void RowFinder::find(const models::ConstBlock& message, double tolerance, Eigen::Index guess,
                     std::vector<char>& found) const {
  if (tolerance < 0 || message.cols() < rows_.cols() || rows_.cols() == 0) return;
  bool all = true;
  for (std::size_t row = 0; row < rows(); ++row) {
    if (found[row] != 0 || is_zero(row)) continue;
    const Eigen::Index there = guess + static_cast<Eigen::Index>(row);
    const bool near = there < message.rows() && is_near(row, message.data() + there * message.outerStride(), tolerance);
    if (near) found[row] = 1;
    all = all && near;
  }
  if (all) return;
  if (message.rows() * rows_.rows() <= kMostPairs) {
    find_by_pairs(message, tolerance, found);
  } else {
    find_sorted(message, tolerance, found);
  }
}

void RowFinder::find_by_pairs(const models::ConstBlock& message, double tolerance, std::vector<char>& found) const {
  for (Eigen::Index k = 0; k < message.rows(); ++k) {
    const float* numbers = message.data() + k * message.outerStride();
    for (std::size_t row = 0; row < rows(); ++row) {
      if (found[row] == 0 && !is_zero(row) && is_near(row, numbers, tolerance)) found[row] = 1;
    }
  }
}

void RowFinder::find_sorted(const models::ConstBlock& message, double tolerance, std::vector<char>& found) const {
  std::vector<std::pair<double, Eigen::Index>> keys;
  for (Eigen::Index k = 0; k < message.rows(); ++k) {
    keys.emplace_back(key_of(message.data() + k * message.outerStride(), rows_.cols()), k);
  }
  std::ranges::sort(keys);
  const double root = std::sqrt(static_cast<double>(rows_.cols()));
  for (std::size_t row = 0; row < rows(); ++row) {
    if (found[row] != 0 || is_zero(row)) continue;
    const double key = key_of(own(row), rows_.cols());
    // |Σ ± d| ≤ √p ‖d‖ (Cauchy and Schwarz).
    const double most = root * tolerance * norm(row);
    for (auto near = std::ranges::lower_bound(keys, std::pair(key - most, Eigen::Index{0}));
         near != keys.end() && near->first <= key + most; ++near) {
      if (!is_near(row, message.data() + near->second * message.outerStride(), tolerance)) continue;
      found[row] = 1;
      break;
    }
  }
}

}  // namespace dadsim::algorithms
