#include "algorithms/leak/row_finder.hpp"

#include <cmath>
#include <cstring>
#include <utility>

namespace dadsim::algorithms {
namespace {

/// Largest number of pairs of rows that are compared one by one.
constexpr Eigen::Index kMostPairs = 1 << 20;

/// Returns a key that is nearly equal for nearby rows: the sum of the numbers with signs fixed by position.
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

const RowFinder::FoundMessage::RowSize& RowFinder::FoundMessage::size(Eigen::Index k) {
  if (of_rows_.empty()) of_rows_.resize(static_cast<std::size_t>(rows()));
  RowSize& size = of_rows_[static_cast<std::size_t>(k)];
  if (size.norm >= 0) return size;
  const Eigen::Map<const Eigen::RowVectorXf> numbers(row(k), columns_);
  numbers.cwiseAbs().maxCoeff(&size.largest);
  size.norm = std::sqrt(static_cast<double>(numbers.squaredNorm()));
  return size;
}

RowFinder::RowFinder(const models::ConstBlock& rows)
    : rows_(rows),
      zero_(static_cast<std::size_t>(rows.rows()), -1),
      norms_(static_cast<std::size_t>(rows.rows()), -1.0) {}

bool RowFinder::is_zero(std::size_t row) const {
  if (zero_[row] < 0) {
    // Tests the middle first, because images are empty along their borders.
    const float *first = own(row), *end = first + rows_.cols(), *middle = first + rows_.cols() / 2;
    const auto is_nothing = [](float x) { return x == 0; };
    const bool nothing = std::all_of(middle, end, is_nothing) && std::all_of(first, middle, is_nothing);
    zero_[row] = static_cast<signed char>(nothing);
  }
  return zero_[row] != 0;
}

double RowFinder::norm(std::size_t row) const {
  if (norms_[row] >= 0) return norms_[row];
  const Eigen::Map<const Eigen::RowVectorXf> numbers(own(row), rows_.cols());
  return norms_[row] = std::sqrt(static_cast<double>(numbers.squaredNorm()));
}

bool RowFinder::find_in_place(const models::ConstBlock& block, std::vector<char>& found) const {
  bool all = block.cols() == rows_.cols();
  for (std::size_t row = 0; all && row < rows(); ++row) {
    const auto there = static_cast<Eigen::Index>(row);
    if (there < block.rows() && own(row) == block.data() + there * block.outerStride()) {
      if (!is_zero(row)) found[row] = 1;
    } else {
      all = is_zero(row);
    }
  }
  return all;
}

bool RowFinder::is_near(std::size_t row, FoundMessage& message, Eigen::Index k, double tolerance) const {
  const float *wanted = own(row), *numbers = message.row(k);
  // Compares bytes first: numbers that were not encoded arrive bit for bit.
  if (std::memcmp(wanted, numbers, static_cast<std::size_t>(rows_.cols()) * sizeof(float)) == 0) return true;
  // Compares one number first: ‖a − b‖ ≤ ε ‖a‖ implies ‖a‖ ≤ ‖b‖ ÷ (1 − ε), which excludes most rows.
  constexpr double kForRounding = 1 + 1e-4;
  const FoundMessage::RowSize& size = message.size(k);
  const double at_most = kForRounding * tolerance / (1 - tolerance) * size.norm;
  if (!(size.norm > 0) || !(std::abs(static_cast<double>(wanted[size.largest]) - numbers[size.largest]) <= at_most)) {
    return false;
  }
  const Eigen::Map<const Eigen::RowVectorXf> there(numbers, rows_.cols());
  const Eigen::Map<const Eigen::RowVectorXf> here(wanted, rows_.cols());
  return std::sqrt(static_cast<double>((there - here).squaredNorm())) <= tolerance * norm(row);
}

void RowFinder::find(FoundMessage& message, double tolerance, Eigen::Index guess, std::vector<char>& found) const {
  if (tolerance < 0 || message.columns() != rows_.cols() || rows_.cols() == 0) return;
  bool all = true;
  for (std::size_t row = 0; row < rows(); ++row) {
    if (found[row] != 0) continue;
    const Eigen::Index there = guess + static_cast<Eigen::Index>(row);
    if (there < message.rows() && is_near(row, message, there, tolerance)) {
      if (!is_zero(row)) found[row] = 1;
    } else {
      all = all && is_zero(row);
    }
  }
  if (all) return;
  if (message.rows() * rows_.rows() <= kMostPairs) {
    find_by_pairs(message, tolerance, found);
  } else {
    find_sorted(message, tolerance, found);
  }
}

void RowFinder::find_by_pairs(FoundMessage& message, double tolerance, std::vector<char>& found) const {
  for (Eigen::Index k = 0; k < message.rows(); ++k) {
    for (std::size_t row = 0; row < rows(); ++row) {
      if (found[row] == 0 && is_near(row, message, k, tolerance) && !is_zero(row)) found[row] = 1;
    }
  }
}

void RowFinder::find_sorted(FoundMessage& message, double tolerance, std::vector<char>& found) const {
  std::vector<std::pair<double, Eigen::Index>> keys;
  for (Eigen::Index k = 0; k < message.rows(); ++k) keys.emplace_back(key_of(message.row(k), rows_.cols()), k);
  std::ranges::sort(keys);
  const double root = std::sqrt(static_cast<double>(rows_.cols()));
  for (std::size_t row = 0; row < rows(); ++row) {
    if (found[row] != 0 || is_zero(row)) continue;
    const double key = key_of(own(row), rows_.cols());
    // |Σ ± d| ≤ √p ‖d‖ (Cauchy and Schwarz).
    const double most = root * tolerance * norm(row);
    for (auto near = std::ranges::lower_bound(keys, std::pair(key - most, Eigen::Index{0}));
         near != keys.end() && near->first <= key + most; ++near) {
      if (!is_near(row, message, near->second, tolerance)) continue;
      found[row] = 1;
      break;
    }
  }
}

}  // namespace dadsim::algorithms
