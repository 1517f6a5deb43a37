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
    one.source = source;
    return one;
  };
  const double infiniband = efficiency::kInfiniband;
  const char* not_published =
      "InfiniBand 4x as tabulated in S. Bekman, Machine Learning Engineering, network (2024); latency "
      "is an assumption, as for HDR, and so is the efficiency";
  const char* roce =
      "rate of the Ethernet port (IEEE 802.3ba, 2010; 802.3bs, 2017); latency is an assumption, half of 1.5 us end to "
      "end (unverified), "
      "and so is the efficiency";
  return {
      link("ib-edr", 100, 0.5e-6, infiniband,
           "InfiniBand 4x and latency of an adapter as tabulated in S. Bekman, Machine Learning Engineering, network "
           "(2024); "
           "efficiency is an assumption"),
      link("ib-hdr", 200, 0.6e-6, infiniband,
           "InfiniBand 4x and latency of an adapter as tabulated in S. Bekman, Machine Learning Engineering, network "
           "(2024); "
           "efficiency is an assumption"),
      link("ib-ndr", 400, 0.6e-6, infiniband, not_published),
      link("ib-xdr", 800, 0.6e-6, infiniband, not_published),
      link("efa-100", 100, 36e-6, efficiency::kEfa,
           "AWS Elastic Fabric Adapter, four of them in p4d.24xlarge (AWS, 2020); latency (as NCCL sees it, with its "
           "proxy) and "
           "efficiency calibrated on NCCL's all-reduce on two p4de.24xlarge (aws-samples/awsome-distributed-training); "
           "that they hold for other collectives is an assumption"),
      link("efa-400", 400, 10.5e-6, efficiency::kEfa,
           "the four AWS Elastic Fabric Adapters of 100 Gbit/s of each GPU of p5.48xlarge taken as one (AWS, 2023: "
           "3200 Gbit/s per instance); latency from the 65 to 75 us that NCCL's smallest all-reduce takes on 16 H100 "
           "of two "
           "instances (unverified), efficiency as efa-100"),
      link("roce-100", 100, 0.75e-6, efficiency::kRoce, roce),
      link("roce-200", 200, 0.75e-6, efficiency::kRoce, roce),
      link("roce-400", 400, 0.75e-6, efficiency::kRoce, roce),
  };
}

}  // namespace dadsim::sim::links
