#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "schedule/step_kinds.hpp"
#include "step/step_sample.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// Selects the schedules of a run that are simulated, and derives the timings of all schedules. Equal schedules are
/// simulated once. With a limit, only a sample of the different ones is simulated.
class StepSelection {
 public:
  struct Asked {
    std::size_t most = 0;             ///< largest number of distinct schedules to simulate; 0: all
    std::vector<double> occurrences;  ///< number of the run's steps with each schedule; empty: one each
    std::vector<std::size_t> trace;   ///< schedules to simulate in any case
  };
  /// Without kinds (null), all schedules count as different and are simulated in order. Throws std::invalid_argument if
  /// the numbers of `occurrences` and schedules differ.
  StepSelection(std::size_t schedules, const schedule::StepKinds* kinds, const Asked& asked);

  struct Simulated {
    std::size_t schedule = 0;  ///< index of the schedule
    double times = 0;          ///< number of steps of the run that the schedule represents
    bool trace = false;
  };
  /// Returns the schedules to simulate, in order: the first schedule, the others that represent steps of the run, and
  /// those that do not.
  const std::vector<Simulated>& simulated() const { return simulated_; }
  /// Returns the number of simulated schedules that represent steps of the run. The others are simulated only for their
  /// timelines.
  std::size_t of_run() const { return of_run_; }
  /// Returns whether the schedule at this place is timed without each of its causes. At most 16 are, spread over those
  /// of the run.
  bool is_looked_into(std::size_t place) const { return place < of_run_ && place % (of_run_ / 16 + 1) == 0; }
  /// Returns the kinds without a simulated schedule whose bytes are needed.
  const std::vector<std::size_t>& others() const { return others_; }

  /// Returns the number of schedules that are done after `simulated` simulations.
  std::size_t done_after(std::size_t simulated) const;
  /// Returns the timings of all schedules, from the timings of simulated() and the bytes of others(). Interpolated
  /// timings have only seconds and bytes.
  std::vector<step::StepTiming> timings_of_all(std::vector<step::StepTiming> simulated,
                                               std::vector<schedule::Traffic> others) const;
  /// Returns, per schedule, the number of steps of the run that its timing represents; empty without a sample.
  std::vector<double> stand_for() const;
  /// Returns the quality of the sample; nothing if all distinct schedules are simulated.
  std::optional<step::NetworkUse::Sampling> sampling(const std::vector<step::StepTiming>& simulated) const;
  /// Returns the place in simulated() of the schedule that provides this schedule's timeline.
  std::size_t place_of(std::size_t schedule) const { return place_of_kind_.at(kind_of_.at(schedule)); }

 private:
  std::vector<double> seconds_of_run(const std::vector<step::StepTiming>& simulated) const;

  std::vector<std::size_t> kind_of_;        ///< kind of each schedule
  std::vector<std::size_t> place_of_kind_;  ///< place of each kind in simulated_, or after its end in others_
  std::optional<step::StepSample> sample_;
  std::vector<Simulated> simulated_;
  std::size_t of_run_ = 0;
  std::vector<std::size_t> others_;
};

}  // namespace dadsim::sim
