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

/// The rule that a step or round goes on with those who are in time.
struct Deadline {
  double seconds = 0;  ///< 0: none

  bool exists() const { return seconds > 0; }
  /// The date of what begins now.
  double after(double now) const { return exists() ? now + seconds : kNever; }
};

/// Count by site: times that it was there, and times that it was looked for.
class TimesThere {
 public:
  explicit TimesThere(std::size_t sites) : of_(sites) {}

  void note(std::size_t site, bool there) {
    of_[site].first += there ? 1 : 0;
    ++of_[site].second;
  }
  /// Chance π so far: one more success in one more trial, so that no chance is nought before anything is known.
  double chance(std::size_t site) const { return (of_[site].first + 1) / (of_[site].second + 1); }

 private:
  std::vector<std::pair<double, double>> of_;
};

/// So many of those that are there, each as likely as the others; in rising order.
std::vector<std::size_t> draw_some(std::vector<std::size_t> there, std::size_t count, RandomStream random);

/// Those that a step is drawn for, each by a chance of its own; drawn again until one of them `counts`. *Requires*: one
/// that is there with a chance above 0 does.
std::vector<std::int32_t> draw_each(const std::vector<std::int32_t>& there, const std::vector<double>& chances,
                                    std::uint64_t seed, std::int64_t step,
                                    const std::function<bool(std::int32_t site)>& counts);

}  // namespace dadsim::world
