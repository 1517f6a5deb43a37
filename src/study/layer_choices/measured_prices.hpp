#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "spec/precision.hpp"
#include "spec/specification.hpp"
#include "step/assignment.hpp"

namespace dadsim::study {

/// Prices of a run's collectives and computations, from what schedules of one or two of them take. `seconds_of` gives
/// the seconds of steps.
step::Prices measured_prices(
    const spec::RunSpec& run, std::size_t workers, spec::Precision precision,
    const std::function<std::vector<double>(const std::vector<step::Schedule>& steps)>& seconds_of);

}  // namespace dadsim::study
