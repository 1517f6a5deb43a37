#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/names.hpp"

// Values that a sweep varies: the same scenario, with other values at some paths.

namespace dadsim::spec {

/// A varied value of the scenario: from a list, or from a range of numbers.
struct VariedPath {
  std::string path;                 ///< path of --set, e.g. "training.batch"
  std::vector<std::string> values;  ///< values in order; empty: a range
  double from = 0, to = 0;          ///< ends of the range, both included
  std::int64_t steps = 0;           ///< number of values that a grid or list takes from the range
  bool logarithmic = false;         ///< true: uniform in the logarithm
  bool whole = false;               ///< true: numbers are rounded to whole ones
  std::string form = "{}";          ///< form of the text to set, with {} for the value
  int line = 0;                     ///< line in the scenario file, for messages; 0: unknown

  std::size_t count() const { return values.empty() ? static_cast<std::size_t>(steps) : values.size(); }
  /// Returns the text to set for a quantile in [0, 1) of the list or range.
  std::string at_quantile(double quantile) const;
  /// Returns the text to set for value number `index`, 0 … count() − 1.
  std::string at(std::size_t index) const;
  /// Returns the text to set for a number of the range.
  std::string with(double number) const;
};

/// Paths that vary together, as one dimension of a sweep.
using SweepAxis = std::vector<VariedPath>;

struct SweepSpec {
  enum class Method : std::uint8_t {
    grid,             ///< all combinations of the axes' values
    list,             ///< the first values of all axes, then the second values …
    random,           ///< drawn independently
    latin_hypercube,  ///< drawn so that each axis is covered evenly (McKay, Beckman, Conover, Technometrics 21, 1979)
  };
  Method method = Method::grid;
  std::int64_t points = 0;  ///< random and latin_hypercube: number of points
  std::uint64_t seed = 1;   ///< random and latin_hypercube: seed of the draw
  std::int64_t seeds = 1;   ///< number of seeds per point, from its scenario's seed on
  std::vector<SweepAxis> axes;

  bool drawn() const { return method == Method::random || method == Method::latin_hypercube; }
};
constexpr auto names_of(SweepSpec::Method) {
  using enum SweepSpec::Method;
  return std::to_array<Name<SweepSpec::Method>>(
      {{grid, "grid"}, {list, "list"}, {random, "random"}, {latin_hypercube, "latin-hypercube"}});
}

inline constexpr std::int64_t kMostSweepPoints = 1'000'000;
inline constexpr std::int64_t kMostSweepSeeds = 1'000;
inline constexpr std::int64_t kMostSweepTrials = 1'000'000;  ///< largest number of trials: points × seeds

/// Returns the points of the sweep, or kMostSweepPoints + 1 if there are more.
std::int64_t count_points(const SweepSpec& sweep);

}  // namespace dadsim::spec
