#pragma once

#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "study/learning/learned.hpp"
#include "study/results/run_result.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

struct StepAlone {
  double step_seconds = 0;
  double compute_seconds = 0;
};

/// A step of the first worker as a scenario of its own, which shares nothing; where workers divide experts, of as many
/// of the first as have all of them. Points of a sweep that differ in their lines alone are answered once. Throws
/// SimulationError.
StepAlone time_step_alone(const scenario::Scenario& scenario, const TimeAnother& time_another);

/// Fills in what each run gets done in a second. How well the workers scale is told where nothing is learned: one of
/// them is timed alone for it, by `time_another`. Throws SimulationError.
void add_throughput(const scenario::Scenario& scenario, const Learned& learned, const TimedAs& timed,
                    const TimeAnother& time_another, report::Result& result);

/// What was done in the place of learning, where nothing was learned.
report::Statement recording_of(const report::Result& result);

/// Floating-point operations of a training step on so many samples: for every multiplication with its addition of the
/// forward pass two there and four on the way back, without anything that is computed again.
double model_flops(const spec::ModelShape& shape, double samples);

}  // namespace dadsim::study
