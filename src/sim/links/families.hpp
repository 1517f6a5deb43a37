#pragma once

#include <vector>

#include "plan/platform_specification.hpp"

namespace dadsim::links {

// The catalogue of links, family by family. Latencies are of one link: a message from GPU to GPU or from host to host
// crosses at least two.

std::vector<LinkSpec> inside_node();   ///< NVLink, PCI Express
std::vector<LinkSpec> rdma();          ///< InfiniBand, RoCE, EFA
std::vector<LinkSpec> ethernet();      ///< Ethernet and Wi-Fi under TCP
std::vector<LinkSpec> access_lines();  ///< of homes, phones and offices, by direction where they differ

}  // namespace dadsim::links
