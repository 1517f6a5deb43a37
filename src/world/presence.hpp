#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace dadsim::world {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// Deadline after which a step or round continues with the sites in time.
struct Deadline {
  double seconds = 0;  ///< 0: none

  bool exists() const { return seconds > 0; }
  /// Returns the deadline of a step that begins now.
  double after(double now) const { return exists() ? now + seconds : kNever; }
};

/// Counts per site how often it was present, and how often it was looked for.
class TimesThere {
 public:
  explicit TimesThere(std::size_t sites) : of_(sites) {}

  void note(std::size_t site, bool there) {
    of_[site].first += there ? 1 : 0;
    ++of_[site].second;
  }
  /// Returns the chance π so far, with one more success in one more trial, so that no chance is 0 before anything is
  /// known.
  double chance(std::size_t site) const { return (of_[site].first + 1) / (of_[site].second + 1); }

 private:
  std::vector<std::pair<double, double>> of_;
};

/// Draws so many of those present, each with the same chance; in rising order.
std::vector<std::size_t> draw_some(std::vector<std::size_t> there, std::size_t count, RandomStream random);

/// Draws the sites of a step, each with its own probability. Repeats until one of them `counts`. *Requires*: a site
/// that counts has a probability above 0.
std::vector<std::int32_t> draw_each(const std::vector<std::int32_t>& there, const std::vector<double>& chances,
                                    std::uint64_t seed, std::int64_t step,
                                    const std::function<bool(std::int32_t site)>& counts);

}  // namespace dadsim::world
