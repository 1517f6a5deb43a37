#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "schedule/schedule.hpp"
#include "sim/flow/flow_refusal.hpp"
#include "sim/flow/max_plus_rounds.hpp"
#include "sim/step/step_semantics.hpp"

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

/// By how much a step by flow may be wrong, of what it takes for granted.
class FlowDoubts {
 public:
  explicit FlowDoubts(std::int32_t stages) : apart_(stages), entered_late_(stages), overlooked_(stages) {}

  /// Another task begins.
  void next() {
    apart_.next();
    entered_late_.next();
    overlooked_.next();
  }
  /// So many seconds lie between the first and the last who begin a collective that is taken to be begun together.
  void apart(std::size_t stage, const schedule::Task& task, double seconds) {
    if (seconds > worst_apart_) {
      worst_apart_ = seconds;
      worst_ = fmt::format("{} for {}", to_string(std::get<schedule::CollectiveTask>(task.what).kind), task.layer);
    }
    apart_.add(stage, seconds);
  }
  /// A collective that ranks enter late may be wrong by so many seconds.
  void entered_late(std::size_t stage, double seconds) { entered_late_.add(stage, seconds); }
  double entered_late() const { return entered_late_.most(); }
  double overlooked() const { return overlooked_.most(); }
  /// A collective is followed from the dates at which its ranks come, the first at `first`, until they are through:
  /// where others are still in the one before on the same line, they share links.
  void followed(std::size_t stage, const schedule::Task& task, double first, const std::vector<double>& through,
                const MaxPlusRounds& solved) {
    double& before = through_[{stage, Parts::line_of(task)}];
    if (before > first) apart(stage, task, solved.doubt(before - first));
    before = *std::ranges::max_element(through);
  }
  /// A collective would hold up others that share its links, by so many seconds.
  void overlooked(std::size_t stage, double seconds) { overlooked_.add(stage, seconds); }

  /// Where workers come to collectives so far apart that a step which computes for so long, and has reached these
  /// dates, will be refused for it.
  Refused judge_early(double computing, const std::vector<double>& dates) const {
    const double all = apart_.most();
    if (!(all > 2 * kMost * computing)) return {};
    const double seconds = std::max(computing, *std::ranges::max_element(dates));
    return all > 2 * kMost * seconds ? judge(seconds) : Refused();
  }

  /// Where it is too much for a step of `seconds`.
  Refused judge(double seconds) const {
    // Who begins early may find the network less busy than all together would: by no more than that it is early.
    if (const double all = apart_.most(); all > kMost * seconds) {
      return FlowRefusal{
          fmt::format("workers come to a collective apart ({:.3g} s for {}; in all {:.3g} s of a step of {:.3g} s)",
                      worst_apart_, worst_, all, seconds),
          0, true};
    }
    return {};
  }

 private:
  static constexpr double kMost = 0.005;  ///< of the step, all its collectives added up
  StageSeconds apart_, entered_late_, overlooked_;
  std::map<std::pair<std::size_t, std::size_t>, double> through_;  ///< dates, per stage and line: the last followed
  double worst_apart_ = 0;                                         ///< of one
  std::string worst_;
};

}  // namespace dadsim::sim
