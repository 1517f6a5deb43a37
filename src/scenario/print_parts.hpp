#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/specification.hpp"
#include "scenario/xml_writer.hpp"

namespace dadsim {

/// How the path of a file is written.
using PathText = std::function<std::string(const std::string&)>;

void write_devices(XmlWriter& xml, const std::vector<DeviceSpec>& devices);
void write_data(XmlWriter& xml, const DataSpec& data, const PathText& file);
void write_model(XmlWriter& xml, const ModelSpec& model);

}  // namespace dadsim
