#pragma once

#include <string>

#include "estimate/bands.hpp"
#include "study/diagnose/measurement.hpp"

namespace dadsim::study {

/// The speed at which workers compute, fitted to one measured step.
struct FittedSpeed {
  double speed = 1;                                ///< factor on what each computes in a second
  double measured = 0, predicted = 0, fitted = 0;  ///< seconds: of the step, without and with that speed
  estimate::Band band = {}, own_band = {};         ///< factors: without and with it
};

/// Fits the speed of all workers of the scenario in `file` such that its first run takes the measured step. Nothing is
/// learned. Throws InputError if workers have speeds already, if most of the step is not computing, or if messages
/// alone take longer than the measurement.
FittedSpeed fit_speed(const std::string& file, const MeasuredStep& measured);

}  // namespace dadsim::study
