#pragma once

namespace dadsim::efficiency {

// Share of the nominal bandwidth that the payload of large messages reaches, one number per class of link. Only `tcp`
// follows from a standard and `efa` from a published measurement; the others are assumptions.

/// NVLink and NVSwitch: packet headers, flow control, copies.
inline constexpr double nvlink = 0.80;
/// PCI Express: headers of transaction-layer packets of 256 bytes and their acknowledgements.
inline constexpr double pcie = 0.85;
/// InfiniBand through GPUDirect RDMA, headers at an MTU of 4096 bytes.
inline constexpr double infiniband = 0.92;
/// RDMA over Ethernet: as InfiniBand, with Ethernet, IP and UDP headers and congestion control.
inline constexpr double roce = 0.90;
/// AWS Elastic Fabric Adapter: 340 of 400 Gbit/s on p4d instances (S. Bekman, Machine Learning Engineering, network).
inline constexpr double efa = 0.85;
/// TCP: 1448 bytes of payload in an Ethernet frame of 1514 (MTU 1500; IP and TCP headers with timestamps).
inline constexpr double tcp = 1448.0 / 1514.0;
/// Wi-Fi: one medium for both directions, contention, acknowledgements of frames.
inline constexpr double wifi = 0.5;
/// Lines whose rate was measured as payload already.
inline constexpr double measured = 1;

}  // namespace dadsim::efficiency
