#include "study/retiming/spline.hpp"

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace dadsim::study {

// The matrix is symmetric but not definite, and has some hundred rows: elimination with pivots (Golub and Van Loan,
// Matrix Computations, 1996, section 3.4) takes milliseconds.
Spline::Spline(const std::vector<std::vector<double>>& points, const std::vector<std::vector<double>>& metric)
    : points_(points.size()) {
  if (points.empty()) throw std::invalid_argument("a spline needs at least one point");
  const std::size_t knobs = points.front().size();
  const std::size_t size = points_ + 1 + knobs;
  rows_.assign(size, std::vector<double>(size));
  std::vector<std::vector<double>> places;
  for (const std::vector<double>& point : points) {
    places.emplace_back();
    for (const std::vector<double>& row : metric)
      places.back().push_back(std::inner_product(row.begin(), row.end(), point.begin(), 0.0));
  }
  for (std::size_t i = 0; i < points_; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double square = 0;
      for (std::size_t k = 0; k < knobs; ++k) square += (places[i][k] - places[j][k]) * (places[i][k] - places[j][k]);
      rows_[i][j] = rows_[j][i] = square * std::sqrt(square);
    }
    rows_[i][points_] = rows_[points_][i] = 1;
    for (std::size_t k = 0; k < knobs; ++k) rows_[i][points_ + 1 + k] = rows_[points_ + 1 + k][i] = points[i][k];
  }
  for (std::size_t column = 0; column < size; ++column) {
    std::size_t pivot = column;
    for (std::size_t i = column + 1; i < size; ++i) {
      if (std::abs(rows_[i][column]) > std::abs(rows_[pivot][column])) pivot = i;
    }
    if (!(std::abs(rows_[pivot][column]) > 0)) throw std::invalid_argument("a spline needs points that differ");
    pivots_.push_back(pivot);
    std::swap(rows_[pivot], rows_[column]);
    for (std::size_t i = column + 1; i < size; ++i) {
      const double factor = rows_[i][column] /= rows_[column][column];
      if (factor == 0) continue;
      for (std::size_t j = column + 1; j < size; ++j) rows_[i][j] -= factor * rows_[column][j];
    }
  }
  // Solves together for all columns of the inverse that belong to points; this vectorises. Each column uses the same
  // order of operations as in solve().
  std::vector<std::vector<double>> inverse(size, std::vector<double>(points_));
  for (std::size_t i = 0; i < points_; ++i) inverse[i][i] = 1;
  const auto subtract = [&](std::size_t i, std::size_t j) {
    for (std::size_t c = 0; c < points_; ++c) inverse[i][c] -= rows_[i][j] * inverse[j][c];
  };
  for (std::size_t i = 0; i < size; ++i) std::swap(inverse[i], inverse[pivots_[i]]);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) subtract(i, j);
  }
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t j = i + 1; j < size; ++j) subtract(i, j);
    for (double& x : inverse[i]) x /= rows_[i][i];
  }
  for (std::size_t i = 0; i < points_; ++i) inverse_diagonal_.push_back(inverse[i][i]);
}

std::vector<double> Spline::solve(std::vector<double> right) const {
  // Whole rows were exchanged, including the entries left of the diagonal, so all exchanges come first.
  for (std::size_t i = 0; i < rows_.size(); ++i) std::swap(right[i], right[pivots_[i]]);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) right[i] -= rows_[i][j] * right[j];
  }
  for (std::size_t i = rows_.size(); i-- > 0;) {
    for (std::size_t j = i + 1; j < rows_.size(); ++j) right[i] -= rows_[i][j] * right[j];
    right[i] /= rows_[i][i];
  }
  return right;
}

std::vector<double> Spline::weights(const std::vector<double>& values) const {
  if (values.size() != points_) throw std::invalid_argument("a spline needs as many values as points");
  std::vector<double> right(values);
  right.resize(rows_.size());
  return solve(std::move(right));
}

double Spline::error_left_out(const std::vector<double>& weights) const {
  double sum = 0;
  for (std::size_t i = 0; i < points_; ++i) {
    const double error = weights.at(i) / inverse_diagonal_[i];
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(points_));
}

}  // namespace dadsim::study
