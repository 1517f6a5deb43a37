#pragma once

#include "scenario/elements/elements.hpp"

namespace dadsim::scenario {

/// Latency of a link between nodes of one's own beside which none stands: that of the catalogue's Ethernet from 10
/// Gbit/s on.
inline constexpr double kBetween = 1e-6;

/// How `nodes` nodes reach one another (0: it is not known how many); links of one's own have that transport.
spec::FabricSpec read_fabric(const Element& element, spec::FabricSpec::Kind kind, std::int64_t nodes,
                             spec::Transport own, const ReadContext& context);

void write_fabric(XmlWriter& xml, const spec::FabricSpec& fabric);

}  // namespace dadsim::scenario
