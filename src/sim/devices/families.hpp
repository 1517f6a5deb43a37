#pragma once

#include <vector>

#include "plan/device_specification.hpp"

// The families of the catalogue, one file each. Peaks are those of dense products without sparsity: fp32 on the
// ordinary (vector) units, tf32, fp16 and bf16 on tensor or matrix cores where there are any. A GB of device memory is
// 2³⁰ bytes, as the devices themselves report it; 8-bit formats are left out.

namespace dadsim::devices {

std::vector<DeviceSpec> kepler();
std::vector<DeviceSpec> pascal();
std::vector<DeviceSpec> volta();
std::vector<DeviceSpec> turing();
std::vector<DeviceSpec> ampere();
std::vector<DeviceSpec> ada();
std::vector<DeviceSpec> hopper();
std::vector<DeviceSpec> blackwell();
std::vector<DeviceSpec> instinct();
std::vector<DeviceSpec> tpu();
std::vector<DeviceSpec> gaudi();
std::vector<DeviceSpec> geforce();
std::vector<DeviceSpec> jetson();
std::vector<DeviceSpec> mobile();
std::vector<DeviceSpec> cpu();

}  // namespace dadsim::devices
