#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "schedule/step_kinds.hpp"
#include "step/step_sample.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// Which of a run's schedules are simulated, and how the timings of all follow from theirs: equal ones are simulated
/// once, and of those that differ, a sample where no more than so many are wanted.
class StepSelection {
 public:
  struct Asked {
    std::size_t most = 0;             ///< schedules that differ and are simulated; 0: all
    std::vector<double> occurrences;  ///< per schedule: steps of the run; empty: one each
    std::vector<std::size_t> trace;   ///< schedules that are to be simulated in any case
  };
  /// Without kinds (null), equal schedules differ too: all are simulated, in order. Throws std::invalid_argument for
  /// another number of occurrences than of schedules.
  StepSelection(std::size_t schedules, const schedule::StepKinds* kinds, const Asked& asked);

  struct Simulated {
    std::size_t schedule = 0;  ///< index
    double times = 0;          ///< steps of the run that it stands for
    bool trace = false;
  };
  /// In this order. Those that stand for steps of the run come first, the first schedule before all others.
  const std::vector<Simulated>& simulated() const { return simulated_; }
  /// How many of them stand for steps of the run; the rest are simulated for their trace alone.
  std::size_t of_run() const { return of_run_; }
  /// Whether the one at this place is timed without each of its causes: up to 16, spread over those of the run.
  bool is_looked_into(std::size_t place) const { return place < of_run_ && place % (of_run_ / 16 + 1) == 0; }
  /// Kinds of which no schedule is simulated: their bytes are wanted.
  const std::vector<std::size_t>& others() const { return others_; }

  /// Schedules that are done when so many are simulated.
  std::size_t done_after(std::size_t simulated) const;
  /// Timings of all schedules, from those of simulated() and the bytes of others(): those that are interpolated have
  /// seconds and bytes alone.
  std::vector<step::StepTiming> timings_of_all(std::vector<step::StepTiming> simulated,
                                               std::vector<schedule::Traffic> others) const;
  /// Where there is a sample: per schedule, how many steps of the run the parts of its time stand for. Otherwise empty.
  std::vector<double> stand_for() const;
  /// How good the sample is; nothing if all that differ are simulated.
  std::optional<step::NetworkUse::Sampling> sampling(const std::vector<step::StepTiming>& simulated) const;
  /// Where a trace of the schedule comes in simulated().
  std::size_t place_of(std::size_t schedule) const { return place_of_kind_.at(kind_of_.at(schedule)); }

 private:
  std::vector<double> seconds_of_run(const std::vector<step::StepTiming>& simulated) const;

  std::vector<std::size_t> kind_of_;        ///< per schedule
  std::vector<std::size_t> place_of_kind_;  ///< in simulated_, and after those in others_
  std::optional<step::StepSample> sample_;
  std::vector<Simulated> simulated_;
  std::size_t of_run_ = 0;
  std::vector<std::size_t> others_;
};

}  // namespace dadsim::sim
