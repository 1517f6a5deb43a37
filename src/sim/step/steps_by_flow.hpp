#pragma once

#include <memory>
#include <vector>

#include "collectives/collective.hpp"
#include "sim/step/step_by_flow.hpp"
#include "sim/step/step_without.hpp"

namespace dadsim::sim {

/// Times schedules by flow, one after the other (step_by_flow). What was worked out for one is used again as long as
/// the same follows.
class StepsByFlow {
 public:
  /// `quick`: what would need the dates of every rank of many is refused.
  StepsByFlow(const Nodes& nodes, Interconnect& network, bool closed_form, bool quick = false);
  ~StepsByFlow();
  StepsByFlow(const StepsByFlow&) = delete;
  StepsByFlow& operator=(const StepsByFlow&) = delete;

  /// `slowdown`: per host, multiplies the seconds of computations; empty: 1. `recorder`, if any, takes down what
  /// happens, but for the links. `schedule` stays where it is until another is timed.
  [[nodiscard]] Refused time(const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                             const std::vector<double>& slowdown, FlowStep& result,
                             TimelineRecorder* recorder = nullptr);
  /// Of the schedule that was timed last: what it takes where one of the causes takes no time.
  SecondsWithout without(const std::vector<double>& slowdown);

 private:
  struct KnownTiming;
  FlowStepRequest request_of(const Nodes& nodes, const std::vector<double>& slowdown) const;
  /// What becomes of late ranks, and what the step takes then.
  Refused choose(FlowStepRequest& request, FlowStep& result);
  static bool is_large(const schedule::Schedule& schedule);
  Refused settle_overlaps(FlowStepRequest& request, FlowStep& result);
  static Refused doubt_sharing(FlowStepRequest& request, FlowStep& result);
  const Nodes& nodes_;
  Interconnect& network_;
  bool closed_form_, quick_;
  std::unique_ptr<KnownTiming> known_;  ///< of the last schedule
};

}  // namespace dadsim::sim
