#pragma once

#include <string>

#include "spec/device_specification.hpp"

namespace dadsim::scenario {

/// A device as the <device> element of a scenario.
std::string print_device(const spec::DeviceSpec& device);

}  // namespace dadsim::scenario
