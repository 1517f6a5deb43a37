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
#include "sim/network/flow_refusal.hpp"
#include "sim/network/max_plus_rounds.hpp"
#include "sim/step/stage_seconds.hpp"
#include "sim/step/step_semantics.hpp"

namespace dadsim::sim {

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
