#include <fmt/format.h>

#include "sim/platform/links/efficiency.hpp"
#include "sim/platform/links/families.hpp"

namespace dadsim::sim::links {

std::vector<spec::LinkSpec> inside_node() {
  const auto nvlink = [](int generation, double bandwidth, const char* gpu) {
    spec::LinkSpec link;
    link.name = fmt::format("nvlink-{}", generation);
    link.bandwidth = bandwidth;
    link.latency = 0.5e-6;
    link.transport = spec::Transport::nvlink;
    link.efficiency = efficiency::kNvlink;
    link.source = fmt::format(
        "all NVLinks of a GPU ({}) together, one direction, as tabulated in S. Bekman, Machine Learning Engineering, "
        "network "
        "(2024); latency is an assumption, efficiency from a ring of 8 H100 (ASTRA-sim, hgx_h100_8gpu.yml)",
        gpu);
    return link;
  };
  const auto pcie = [](int generation, double bandwidth, const char* source) {
    spec::LinkSpec link;
    link.name = fmt::format("pcie-{}", generation);
    link.bandwidth = bandwidth;
    link.latency = 0.5e-6;
    link.transport = spec::Transport::rdma;
    link.efficiency = efficiency::kPcie;
    link.source = fmt::format(
        "16 lanes, one direction: {}; latency is an assumption, efficiency from 4 V100 (University of Sheffield)",
        source);
    return link;
  };
  const char* table = "S. Bekman, Machine Learning Engineering, network (2024)";
  return {
      nvlink(1, 80e9, "P100"),  nvlink(2, 150e9, "V100"),
      nvlink(3, 300e9, "A100"), nvlink(4, 450e9, "H100, H200"),
      nvlink(5, 900e9, "B200"), pcie(3, 15.75e9, "16 x 8 GT/s x 128/130, PCI Express Base 3.0 (2010), unverified"),
      pcie(4, 31e9, table),     pcie(5, 63e9, table),
  };
}

}  // namespace dadsim::sim::links
