#pragma once

#include "scenario/language/read_context.hpp"
#include "scenario/xml/xml_writer.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::scenario {

/// <platform>: a declared platform is written out, whatever file it came from; of a platform file of SimGrid stands
/// what `file` makes of its path.
void write_platform(XmlWriter& xml, const spec::PlatformSpec& platform, const PathText& file);

// Its parts; the files follow.
void write_cluster(XmlWriter& xml, const spec::GpuClusterSpec& cluster);
void write_cluster(XmlWriter& xml, const spec::FederationSpec& federation);
void write_wan(XmlWriter& xml, const spec::WanSpec& wan);
/// Two directions with the same numbers are written as one.
void write_pairs(XmlWriter& xml, const std::vector<spec::WanSpec::Pair>& pairs);
void write_variation(XmlWriter& xml, const spec::PlatformSpec& platform);

}  // namespace dadsim::scenario
