#pragma once

#include <string>
#include <vector>

#include "plan/schedule.hpp"
#include "plan/specification.hpp"

namespace dadsim {

/// The catalogue of devices, each with its source. One file per vendor family under sim/devices/ and one line here.
const std::vector<DeviceSpec>& device_catalog();

/// Roofline: launches × overhead + max(flops ÷ (peak × efficiency), bytes ÷ (bandwidth × efficiency)).
double seconds_on(const DeviceSpec& device, Phase phase, double flops, double bytes_moved, double launches);

}  // namespace dadsim
