#include "study/device_lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/device.hpp"

namespace dadsim {

const DeviceSpec& find_device(const Scenario& scenario, const std::string& name) {
  for (const auto* devices : {&scenario.devices, &device_catalog()}) {
    const auto found = std::ranges::find(*devices, name, &DeviceSpec::name);
    if (found != devices->end()) return *found;
  }
  throw std::logic_error("the device '" + name + "' was not checked");
}

std::string rates_in_words(const DeviceSpec& device, Precision precision) {
  std::string text = device.source;
  for (const KindEfficiency& one : device.efficiencies) {
    if (one.precision && *one.precision != precision) continue;
    text += fmt::format("; {} reaches {:.3g} of the {} peak", to_string(one.kind), one.share, to_string(precision));
    if (!one.source.empty()) text += fmt::format(" ({})", one.source);
  }
  return text;
}

}  // namespace dadsim
