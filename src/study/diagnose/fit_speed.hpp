#pragma once

#include <string>

#include "estimate/bands.hpp"
#include "study/diagnose/measurement.hpp"

namespace dadsim::study {

/// The speed at which workers compute, fitted to one measured step.
struct FittedSpeed {
  double speed = 1;                                ///< factor on every worker's computing speed
  double measured = 0, predicted = 0, fitted = 0;  ///< seconds of the step: measured, predicted, with fitted speed
  estimate::Band band = {}, own_band = {};         ///< factors: band without the fit, with the fit
};

/// Fits the speed of all workers of the scenario in `file` so that its first run takes the measured time per step.
/// Nothing is learned. Throws InputError if workers have speeds already, if most of the step is not computing, or if
/// messages alone take longer than the measurement.
FittedSpeed fit_speed(const std::string& file, const MeasuredStep& measured);

}  // namespace dadsim::study
