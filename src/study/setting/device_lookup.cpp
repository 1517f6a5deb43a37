#include "study/setting/device_lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/device.hpp"

namespace dadsim::study {

const spec::DeviceSpec& find_device(const std::vector<spec::DeviceSpec>& own, const std::string& name) {
  for (const auto* devices : {&own, &sim::device_catalog().all()}) {
    const auto found = std::ranges::find(*devices, name, &spec::DeviceSpec::name);
    if (found != devices->end()) return *found;
  }
  throw std::logic_error("the device '" + name + "' was not checked");
}

std::string rates_in_words(const spec::DeviceSpec& device, spec::Precision precision) {
  std::string text = device.source;
  for (const spec::KindEfficiency& one : device.efficiencies) {
    if (one.precision && *one.precision != precision) continue;
    text += fmt::format("; {} reaches {:.3g} of the {} peak", to_string(one.kind), one.share, to_string(precision));
    if (!one.source.empty()) text += fmt::format(" ({})", one.source);
  }
  return text;
}

}  // namespace dadsim::study
