#pragma once

#include <vector>

#include "spec/device_specification.hpp"

// The families of the catalogue, one file each. Peaks are those of dense products without sparsity: fp32 on the
// ordinary (vector) units, tf32, fp16, bf16 and fp8 on tensor or matrix cores where there are any. A GB of device
// memory is 2³⁰ bytes, as the devices themselves report it; of 8-bit formats fp8 alone is there.

namespace dadsim::sim::devices {

std::vector<spec::DeviceSpec> kepler();
std::vector<spec::DeviceSpec> pascal();
std::vector<spec::DeviceSpec> volta();
std::vector<spec::DeviceSpec> turing();
std::vector<spec::DeviceSpec> ampere();
std::vector<spec::DeviceSpec> ada();
std::vector<spec::DeviceSpec> hopper();
std::vector<spec::DeviceSpec> blackwell();
std::vector<spec::DeviceSpec> instinct();
std::vector<spec::DeviceSpec> tpu();
std::vector<spec::DeviceSpec> gaudi();
std::vector<spec::DeviceSpec> geforce();
std::vector<spec::DeviceSpec> jetson();
std::vector<spec::DeviceSpec> mobile();
std::vector<spec::DeviceSpec> cpu();

}  // namespace dadsim::sim::devices
