#pragma once

#include "scenario/scenario.hpp"
#include "study/results/run_result.hpp"

namespace dadsim::study {

struct StepAlone {
  double step_seconds = 0;
  double compute_seconds = 0;
};

/// A step of the first worker as a scenario of its own, which shares nothing; where workers divide experts, of as many
/// of the first as have all of them. Points of a sweep that differ in their lines alone are answered once. Throws
/// SimulationError.
StepAlone time_step_alone(const scenario::Scenario& scenario, const TimeAnother& time_another);

}  // namespace dadsim::study
