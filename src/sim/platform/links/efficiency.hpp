#pragma once

#include "sim/platform.hpp"

namespace dadsim::sim::efficiency {

// Share of the nominal bandwidth that the payload of large messages reaches, one number per class of link. `tcp`
// follows from a standard; `nvlink`, `pcie`, `infiniband`, `roce`, `efa` and `xgmi` from published measurements
// (docs/validation.md); the others are assumptions.

/// NVLink of Hopper: a ring of 8 H100 reaches 370.67 of 450 GB/s (ASTRA-sim, inputs/network/hgx_h100_8gpu.yml).
inline constexpr double kNvlink = 0.82;
/// NVLink of Pascal, and of Volta, Ampere and Blackwell: what NCCL takes a link to carry, 18 of 20 GB/s, 20 of 25 GB/s
/// and 40.1 of 50 GB/s (NVIDIA/nccl, src/graph/topo.h, SM60_NVLINK_BW to SM100_NVLINK_BW).
inline constexpr double kNvlink1 = 0.9;
inline constexpr double kNvlink2 = 0.8;
/// xGMI between MI300X: 48 of 64 GB/s are usable (AMD, Understanding RCCL bandwidth and xGMI performance, March 2025).
inline constexpr double kXgmi = 0.75;
/// PCI Express with both directions in use and host bridges between the devices: between the 0.60 and the 0.71 of two
/// releases of NCCL on four V100 (Bessemer cluster, University of Sheffield).
inline constexpr double kPcie = 0.625;
/// InfiniBand through GPUDirect RDMA: NCCL's all-reduce on DGX A100 reaches a bus bandwidth of 192 of 200 GB/s
/// (NVIDIA/nccl, issue 812, 2023).
inline constexpr double kInfiniband = 0.96;
/// RDMA over Ethernet, with Ethernet, IP and UDP headers and congestion control: calibrated on RCCL's all-reduce on two
/// nodes of 8 MI300X, whose bus bandwidth is 357.5 of 400 GB/s.
inline constexpr double kRoce = 0.90;
/// AWS Elastic Fabric Adapter: calibrated on NCCL's all-reduce on two p4de.24xlarge, whose largest reaches 0.84 in all
/// (aws-samples/awsome-distributed-training).
inline constexpr double kEfa = 0.92;
inline constexpr double kTcp = kTcpEfficiency;
/// Wi-Fi: one medium for both directions, contention, acknowledgements of frames.
inline constexpr double kWifi = 0.5;
/// Lines whose rate was measured as payload already.
inline constexpr double kMeasured = 1;

}  // namespace dadsim::sim::efficiency
