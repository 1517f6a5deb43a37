#pragma once

#include <functional>
#include <string>

#include "plan/platform_specification.hpp"
#include "scenario/xml_writer.hpp"

namespace dadsim {

/// <platform>: a declared platform is written out, whatever file it came from; of a platform file of SimGrid stands
/// what `file` makes of its path.
void write_platform(XmlWriter& xml, const PlatformSpec& platform,
                    const std::function<std::string(const std::string&)>& file);

}  // namespace dadsim
