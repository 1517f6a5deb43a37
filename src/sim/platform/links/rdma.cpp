#include <fmt/format.h>

#include "sim/platform/links/efficiency.hpp"
#include "sim/platform/links/families.hpp"

namespace dadsim::sim::links {

std::vector<spec::LinkSpec> rdma() {
  const auto link = [](const char* name, double gigabits, double latency, double share, const char* source) {
    spec::LinkSpec one;
    one.name = name;
    one.bandwidth = gigabits * 1e9 / 8;
    one.latency = latency;
    one.transport = spec::Transport::rdma;
    one.efficiency = share;
    if (share == efficiency::kEfa) one.costs = spec::MessageCosts::efa;
    one.source = source;
    return one;
  };
  const double infiniband = efficiency::kInfiniband;
  const char* table =
      "InfiniBand 4x and latency of an adapter as tabulated in S. Bekman, Machine Learning Engineering, network "
      "(2024); "
      "efficiency from NCCL on DGX A100, 192 of 200 GB/s (NVIDIA/nccl, issue 812, 2023), for EDR an assumption";
  const char* not_published =
      "InfiniBand 4x as tabulated in S. Bekman, Machine Learning Engineering, network (2024); latency is an "
      "assumption, as "
      "for HDR; efficiency as HDR (for NDR NVIDIA expects 46 to 48 of 50 GB/s: NVIDIA/nccl-tests, issue 290, 2025)";
  const char* roce =
      "rate of the Ethernet port (IEEE 802.3by, 2016; 802.3cd, 2018; 802.3ba, 2010; 802.3bs, 2017; 802.3df, 2024); "
      "latency "
      "is an assumption, half of 1.5 us end to end (unverified); efficiency from RCCL on two nodes of 8 MI300X, 357.5 "
      "of "
      "400 GB/s";
  return {
      link("ib-fdr", 54.54, 0.7e-6, infiniband,
           "InfiniBand 4x FDR, 4 x 14.0625 Gbit/s x 64/66 (IBTA, 2011, unverified); latency is an assumption; "
           "efficiency as "
           "HDR"),
      link("ib-edr", 100, 0.5e-6, infiniband, table),
      link("ib-hdr", 200, 0.6e-6, infiniband, table),
      link("ib-ndr", 400, 0.6e-6, infiniband, not_published),
      link("ib-xdr", 800, 0.6e-6, infiniband, not_published),
      link("opa-100", 100, 0.5e-6, infiniband,
           "Omni-Path 100 (Intel, 2015, unverified); latency is an assumption, and the efficiency, taken from "
           "InfiniBand, an "
           "optimistic one: 16 nodes of 4 V100 were measured at 23 to 57 of 400 Gbit/s (bigscience-workshop, bandwidth "
           "on "
           "Jean Zay)"),
      link("efa-100", 100, 35e-6, efficiency::kEfa,
           "AWS Elastic Fabric Adapter (first generation), four of them in p4d.24xlarge (AWS, 2020); latency (as NCCL "
           "sees "
           "it, with its proxy) and efficiency calibrated on NCCL's all-reduce on two p4de.24xlarge "
           "(aws-samples/awsome-distributed-training); that they hold for other collectives is an assumption"),
      link("efa-400", 400, 11e-6, efficiency::kEfa,
           "second generation: the four Elastic Fabric Adapters of 100 Gbit/s of each GPU of p5.48xlarge taken as one "
           "(AWS, "
           "2023: 3200 Gbit/s per instance); latency calibrated on NCCL's all-reduce on two p5.48xlarge "
           "(aws-samples/awsome-distributed-training); that the efficiency is that of efa-100 is an assumption"),
      link("efa-400-v3", 400, 7.2e-6, efficiency::kEfa,
           "third generation: the two Elastic Fabric Adapters of 200 Gbit/s of each GPU of p5en.48xlarge taken as one "
           "(AWS, "
           "2024: 3200 Gbit/s per instance, latency up to 35 % lower than before, unverified); efficiency as efa-100"),
      link("roce-25", 25, 0.75e-6, efficiency::kRoce, roce),
      link("roce-50", 50, 0.75e-6, efficiency::kRoce, roce),
      link("roce-100", 100, 0.75e-6, efficiency::kRoce, roce),
      link("roce-200", 200, 0.75e-6, efficiency::kRoce, roce),
      link("roce-400", 400, 0.75e-6, efficiency::kRoce, roce),
      link("roce-800", 800, 0.75e-6, efficiency::kRoce, roce),
  };
}

}  // namespace dadsim::sim::links
