#pragma once

#include <memory>
#include <vector>

#include "collectives/collective.hpp"
#include "sim/step/step_by_flow.hpp"
#include "sim/step/step_without.hpp"

namespace dadsim::sim {

/// Times schedules by flow, one after the other (step_by_flow), and reuses results while the schedule stays the same.
class StepsByFlow {
 public:
  /// `quick`: refuses collectives that need an individual date for each of many ranks.
  StepsByFlow(const Nodes& nodes, Interconnect& network, bool closed_form, bool quick = false);
  ~StepsByFlow();
  StepsByFlow(const StepsByFlow&) = delete;
  StepsByFlow& operator=(const StepsByFlow&) = delete;

  /// Times a schedule. `slowdown`: per host, multiplies the seconds of computations; empty: 1. `recorder`, if not null,
  /// records the step, except for links. `schedule` must exist until another one is timed.
  [[nodiscard]] Refused time(const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                             const std::vector<double>& slowdown, FlowStep& result,
                             TimelineRecorder* recorder = nullptr);
  /// Returns the last schedule's times without each of its causes.
  SecondsWithout without(const std::vector<double>& slowdown);

 private:
  struct KnownTiming;
  FlowStepRequest request_of(const Nodes& nodes, const std::vector<double>& slowdown) const;
  /// Chooses the treatment of late ranks, and times the step with it.
  Refused choose(FlowStepRequest& request, FlowStep& result);
  static bool is_large(const schedule::Schedule& schedule);
  Refused settle_overlaps(FlowStepRequest& request, FlowStep& result);
  static Refused doubt_sharing(FlowStepRequest& request, FlowStep& result);
  const Nodes& nodes_;
  Interconnect& network_;
  bool closed_form_, quick_;
  std::unique_ptr<KnownTiming> known_;  ///< results of the last schedule
};

}  // namespace dadsim::sim
