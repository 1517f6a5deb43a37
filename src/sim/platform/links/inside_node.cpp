#include <fmt/format.h>

#include "sim/platform/links/efficiency.hpp"
#include "sim/platform/links/families.hpp"

namespace dadsim::sim::links {

std::vector<spec::LinkSpec> inside_node() {
  using spec::GpuGeneration;
  const auto nvlink = [](const char* name, double bandwidth, double share, GpuGeneration generation, const char* gpu) {
    spec::LinkSpec link;
    link.name = fmt::format("nvlink-{}", name);
    link.bandwidth = bandwidth;
    link.latency = 0.5e-6;
    link.transport = spec::Transport::nvlink;
    link.efficiency = share;
    link.generation = generation;
    link.source = fmt::format(
        "all NVLinks of a GPU ({}) together, one direction, as tabulated in S. Bekman, Machine Learning Engineering, "
        "network (2024); latency is an assumption, efficiency from {}",
        gpu,
        share == efficiency::kNvlink ? "a ring of 8 H100 (ASTRA-sim, hgx_h100_8gpu.yml)"
                                     : "what NCCL takes a link to carry (NVIDIA/nccl, src/graph/topo.h)");
    return link;
  };
  // The eight V100 of a DGX-1 have no switch: six links each, to four others. NCCL lays its rings so that all six are
  // in use, which is as good as a port of them all to neighbours of a ring, and to nobody else.
  spec::LinkSpec cube = nvlink("2-cube", 150e9, efficiency::kNvlink2, GpuGeneration::volta, "V100");
  cube.source =
      "hybrid cube mesh of DGX-1 with V100 (2017): the six links of a GPU as one port, which holds for NCCL's rings; 6 "
      "x 20 "
      "GB/s "
      "of 6 x 25 GB/s is what NCCL takes them to carry (NVIDIA/nccl, src/graph/topo.h); latency is an assumption";
  const auto xgmi = [](const char* gpu, double bandwidth, const char* source) {
    spec::LinkSpec link;
    link.name = fmt::format("xgmi-{}", gpu);
    link.bandwidth = bandwidth;
    link.latency = 0.5e-6;
    link.transport = spec::Transport::rdma;
    link.efficiency = efficiency::kXgmi;
    link.costs = spec::MessageCosts::xgmi;
    link.library = spec::CollectiveLibrary::rccl;
    link.source = source;
    return link;
  };
  const auto pcie = [](int generation, double bandwidth, GpuGeneration gpus, const char* source) {
    spec::LinkSpec link;
    link.name = fmt::format("pcie-{}", generation);
    link.bandwidth = bandwidth;
    link.latency = 0.25e-6;
    link.transport = spec::Transport::rdma;
    link.efficiency = efficiency::kPcie;
    link.costs = spec::MessageCosts::pcie;
    link.generation = gpus;
    link.source = fmt::format(
        "16 lanes, one direction: {}; latency is an assumption, efficiency from 4 V100 (University of Sheffield)",
        source);
    return link;
  };
  const char* table = "S. Bekman, Machine Learning Engineering, network (2024)";
  return {
      nvlink("1", 80e9, efficiency::kNvlink1, GpuGeneration::volta, "P100"),
      nvlink("2", 150e9, efficiency::kNvlink2, GpuGeneration::volta, "V100"),
      cube,
      nvlink("3", 300e9, efficiency::kNvlink2, GpuGeneration::ampere, "A100"),
      nvlink("4", 450e9, efficiency::kNvlink, GpuGeneration::hopper, "H100, H200"),
      nvlink("5", 900e9, efficiency::kNvlink2, GpuGeneration::blackwell, "B200, GB200 NVL72"),
      xgmi("mi250x", 50e9,
           "one Infinity Fabric link between two dies of MI250X, one direction (AMD, 2021, unverified); efficiency as "
           "MI300X, "
           "latency is an assumption"),
      xgmi("mi300x", 64e9,
           "one of the seven Infinity Fabric links of an MI300X or MI325X, one direction, of which 48 GB/s are usable "
           "(AMD, "
           "Understanding RCCL bandwidth and xGMI performance on MI300X, 2025); latency is an assumption"),
      pcie(3, 15.75e9, GpuGeneration::volta, "16 x 8 GT/s x 128/130, PCI Express Base 3.0 (2010), unverified"),
      pcie(4, 31e9, GpuGeneration::ampere, table),
      pcie(5, 63e9, GpuGeneration::hopper, table),
  };
}

}  // namespace dadsim::sim::links
