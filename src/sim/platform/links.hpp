#pragma once

#include <string>
#include <vector>

#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Links one can buy, by name: NVLink 1 to 5, PCIe 3 to 5, InfiniBand EDR to XDR, Ethernet 1 to 400 Gbit/s, access
/// lines. Where they come from is in each entry; what is not published (most efficiencies) says so.
const std::vector<spec::LinkSpec>& link_catalog();

/// nullptr if there is no such link.
const spec::LinkSpec* find_link(const std::string& name);

}  // namespace dadsim::sim
