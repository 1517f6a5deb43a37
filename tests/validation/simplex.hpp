#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace dadsim::test {

/// Minimises with the simplex of Nelder and Mead (The Computer Journal 7(4), 1965), starting at `start`, in which no
/// number may be 0. Returns the minimum and its point. Reflection is 1, expansion 2, contraction and shrinking 1/2.
/// Stops when the values at all corners are equal to `tolerance`.
inline std::pair<double, std::vector<double>> minimise(
    const std::function<double(const std::vector<double>&)>& function, const std::vector<double>& start,
    double tolerance = 1e-6, int most = 600) {
  using Corner = std::pair<double, std::vector<double>>;
  const auto at = [&](std::vector<double> point) {
    const double value = function(point);
    return Corner{value, std::move(point)};
  };
  std::vector<Corner> corners{at(start)};
  for (std::size_t i = 0; i < start.size(); ++i) {
    std::vector<double> point = start;
    point[i] *= 1.2;
    corners.push_back(at(std::move(point)));
  }
  const auto by_value = [](const Corner& a, const Corner& b) { return a.first < b.first; };
  for (int turn = 0; turn < most; ++turn) {
    std::ranges::stable_sort(corners, by_value);
    Corner& worst = corners.back();
    if (worst.first - corners.front().first < tolerance) break;
    std::vector<double> centre(start.size(), 0.0);
    for (std::size_t c = 0; c + 1 < corners.size(); ++c) {
      for (std::size_t i = 0; i < start.size(); ++i)
        centre[i] += corners[c].second[i] / static_cast<double>(start.size());
    }
    const auto along = [&](double step) {
      std::vector<double> point = centre;
      for (std::size_t i = 0; i < start.size(); ++i) point[i] += step * (centre[i] - worst.second[i]);
      return at(std::move(point));
    };
    Corner reflected = along(1);
    if (reflected.first < corners.front().first) {
      Corner expanded = along(2);
      worst = std::min(std::move(expanded), std::move(reflected), by_value);
      continue;
    }
    if (reflected.first < corners[corners.size() - 2].first) {
      worst = std::move(reflected);
      continue;
    }
    Corner contracted = along(reflected.first < worst.first ? 0.5 : -0.5);
    if (contracted.first < std::min(reflected.first, worst.first)) {
      worst = std::move(contracted);
      continue;
    }
    for (std::size_t c = 1; c < corners.size(); ++c) {
      for (std::size_t i = 0; i < start.size(); ++i)
        corners[c].second[i] = (corners[c].second[i] + corners[0].second[i]) / 2;
      corners[c] = at(corners[c].second);
    }
  }
  return *std::ranges::min_element(corners, by_value);
}

}  // namespace dadsim::test
