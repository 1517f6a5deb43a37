#pragma once

#include <vector>

#include "spec/platform_specification.hpp"

namespace dadsim::sim::links {

// The catalogue of links, family by family. Latencies are of one link: a message from GPU to GPU or from host to host
// crosses at least two.

std::vector<spec::LinkSpec> inside_node();   ///< NVLink, PCI Express
std::vector<spec::LinkSpec> rdma();          ///< InfiniBand, RoCE, EFA
std::vector<spec::LinkSpec> ethernet();      ///< Ethernet and Wi-Fi under TCP
std::vector<spec::LinkSpec> access_lines();  ///< of homes, phones and offices, by direction where they differ

}  // namespace dadsim::sim::links
