#include "sim/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/devices/families.hpp"

namespace dadsim {

const std::vector<DeviceSpec>& device_catalog() {
  static const std::vector<DeviceSpec> catalog = [] {
    std::vector<DeviceSpec> all;
    for (const auto& family :
         {devices::volta(), devices::ampere(), devices::hopper(), devices::geforce(), devices::xeon()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return catalog;
}

double seconds_on(const DeviceSpec& device, Phase phase, double flops, double bytes_moved, double launches) {
  const auto amount = [](double value) { return std::isfinite(value) && value >= 0; };
  const auto share = [](double value) { return value > 0 && value <= 1; };
  if (!(device.peak_flops > 0) || !(device.memory_bandwidth > 0) || !share(device.matrix_efficiency) ||
      !share(device.memory_efficiency) || !amount(device.launch_overhead)) {
    throw std::logic_error(fmt::format("device '{}' has a rate or an efficiency that is not above zero", device.name));
  }
  if (!amount(flops) || !amount(bytes_moved) || !amount(launches)) {
    throw std::logic_error(
        fmt::format("a computation of {} flop, {} byte and {} launches has no duration", flops, bytes_moved, launches));
  }
  // Outside matrix products additions and multiplications are rarely fused: half of a peak that counts both.
  const double efficiency = is_matrix_product(phase) ? device.matrix_efficiency : 0.5;
  return launches * device.launch_overhead +
         std::max(flops / (device.peak_flops * efficiency),
                  bytes_moved / (device.memory_bandwidth * device.memory_efficiency));
}

}  // namespace dadsim
