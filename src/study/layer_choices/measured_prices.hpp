#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "schedule/assignment.hpp"
#include "spec/precision.hpp"
#include "spec/specification.hpp"

namespace dadsim::study {

/// Prices of a run's collectives and computations, from what schedules of one or two of them take. `seconds_of` gives
/// the seconds of steps.
schedule::Prices measured_prices(
    const spec::RunSpec& run, std::size_t workers, spec::Precision precision,
    const std::function<std::vector<double>(const std::vector<schedule::Schedule>& steps)>& seconds_of);

}  // namespace dadsim::study
