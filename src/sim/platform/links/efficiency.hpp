#pragma once

#include "sim/platform.hpp"

namespace dadsim::sim::efficiency {

// Share of the nominal bandwidth that the payload of large messages reaches, one number per class of link. `tcp`
// follows from a standard; `nvlink`, `pcie` and `efa` from published measurements (docs/validation.md); the others are
// assumptions.

/// NVLink and NVSwitch: a ring of 8 H100 reaches 370.67 of 450 GB/s (ASTRA-sim, inputs/network/hgx_h100_8gpu.yml).
inline constexpr double kNvlink = 0.82;
/// PCI Express with both directions in use and host bridges between the devices: between the 0.60 and the 0.71 of two
/// releases of NCCL on four V100 (Bessemer cluster, University of Sheffield).
inline constexpr double kPcie = 0.62;
/// InfiniBand through GPUDirect RDMA, headers at an MTU of 4096 bytes.
inline constexpr double kInfiniband = 0.92;
/// RDMA over Ethernet: as InfiniBand, with Ethernet, IP and UDP headers and congestion control.
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
