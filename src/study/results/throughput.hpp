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

/// Times a step of the first worker, as a scenario without communication. If workers divide experts, times the first
/// workers that together hold all experts. Points of a sweep that differ only in their lines share one timing. Throws
/// SimulationError.
StepAlone time_step_alone(const scenario::Scenario& scenario, const TimeAnother& time_another);

/// Fills in each run's throughput. Reports scaling efficiency only if nothing is learned, by timing one worker alone
/// with `time_another`. Throws SimulationError.
void add_throughput(const scenario::Scenario& scenario, const Learned& learned, const TimedAs& timed,
                    const TimeAnother& time_another, report::Result& result);

/// Returns the statement that names what replaced learning, if nothing was learned.
report::Statement recording_of(const report::Result& result);

/// Returns the floating-point operations of a training step on `samples` samples, without recomputation: per
/// multiply-add of the forward pass two, and four more in the backward pass.
double model_flops(const spec::ModelShape& shape, double samples);

}  // namespace dadsim::study
