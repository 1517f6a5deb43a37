#pragma once

#include <string>

#include "scenario/scenario.hpp"

namespace dadsim::study {

/// The device of that name, of the scenario itself or of the catalogue. Throws std::logic_error if there is none: names
/// have been checked.
const spec::DeviceSpec& find_device(const std::vector<spec::DeviceSpec>& own, const std::string& name);

/// Where the rates of a device are from, and the efficiencies of its own in this precision.
std::string rates_in_words(const spec::DeviceSpec& device, spec::Precision precision);

}  // namespace dadsim::study
