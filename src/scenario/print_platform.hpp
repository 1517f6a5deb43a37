#pragma once

#include <functional>
#include <string>

#include "scenario/xml_writer.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::scenario {

/// <platform>: a declared platform is written out, whatever file it came from; of a platform file of SimGrid stands
/// what `file` makes of its path.
void write_platform(XmlWriter& xml, const spec::PlatformSpec& platform,
                    const std::function<std::string(const std::string&)>& file);

}  // namespace dadsim::scenario
