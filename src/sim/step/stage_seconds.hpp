#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dadsim::sim {

/// Seconds of collectives that may be wrong, each stage's one after the other; parts of a task are side by side.
class StageSeconds {
 public:
  explicit StageSeconds(std::int32_t stages)
      : all_(static_cast<std::size_t>(stages)), worst_(all_.size()), of_task_(all_.size()) {}
  /// Another task begins.
  void next() { std::ranges::fill(of_task_, 0); }
  void add(std::size_t stage, double seconds) {
    if (seconds <= of_task_[stage]) return;
    all_[stage] += seconds - of_task_[stage];
    of_task_[stage] = seconds;
    worst_[stage] = std::max(worst_[stage], seconds);
  }
  /// Along what a step waits for: all of one stage, and one of every other on the way there and back, as micro-batches
  /// come and go.
  double most() const {
    double once = 0;
    for (const double worst : worst_) once += worst;
    double most = 0;
    for (std::size_t stage = 0; stage < all_.size(); ++stage) {
      most = std::max(most, all_.size() == 1 ? all_[stage] : all_[stage] + once - worst_[stage]);
    }
    return most;
  }

 private:
  std::vector<double> all_, worst_, of_task_;  ///< per stage
};

}  // namespace dadsim::sim
