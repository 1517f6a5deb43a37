#include "sim/platform/build/gpu_adapters.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "sim/platform.hpp"
#include "sim/platform/build/adapter_constants.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::sim {
namespace {

struct AdapterConstants {
  double core, staged_pcie_3, staged_pcie_4, staged_pcie_5, alone, slot;
};

const AdapterConstants& adapter_constants() {
  static const auto kConstants =
      read_constants<AdapterConstants>(tables::kAdapterConstants, {{"core", &AdapterConstants::core},
                                                                   {"staged pcie 3", &AdapterConstants::staged_pcie_3},
                                                                   {"staged pcie 4", &AdapterConstants::staged_pcie_4},
                                                                   {"staged pcie 5", &AdapterConstants::staged_pcie_5},
                                                                   {"alone", &AdapterConstants::alone},
                                                                   {"slot", &AdapterConstants::slot}});
  return kConstants;
}

constexpr double kTenGbit = 1.25e9;  // byte/s up to which the line limits more than the host

/// Returns the payload of a full packet ÷ the bytes of its frame on the line. Headers: IP and TCP with time stamps (RFC
/// 791, 9293, 7323); header, checksum, preamble and gap of Ethernet (IEEE 802.3).
double payload_share(std::int64_t mtu) { return static_cast<double>(mtu - 52) / static_cast<double>(mtu + 38); }

/// Returns the rate of copies between the GPUs and the memory from which sockets send, byte/s.
double staged(spec::GpuGeneration generation) {
  switch (generation) {
    case spec::GpuGeneration::volta:
      return adapter_constants().staged_pcie_3;
    case spec::GpuGeneration::ampere:
      return adapter_constants().staged_pcie_4;
    case spec::GpuGeneration::hopper:
    case spec::GpuGeneration::blackwell:
      return adapter_constants().staged_pcie_5;
  }
  throw std::logic_error("unknown generation");
}

/// Returns the payload rate through the host of an adapter with a line of `line` byte/s, byte/s.
double through_host(const spec::GpuClusterSpec& spec, double line, double share) {
  const double copies = staged(spec.port.generation);
  if (spec.gpus == 1) return std::min(line, adapter_constants().alone * copies);
  // Adds the times of copying and sending a byte, which do not overlap with several GPUs.
  return std::max(1 / (1 / line + 1 / copies), std::min(line, share * kTenGbit));
}

/// Returns the payload rate of an adapter over TCP, byte/s.
double over_sockets(const spec::GpuClusterSpec& spec) {
  // Counts frames of an access line with the usual MTU without preamble and gap, as the traffic shapers of such lines
  // do.
  const bool of_frames =
      spec.nic.efficiency == kTcpEfficiency && (!spec.nic.is_access || spec.mtu != spec::GpuClusterSpec().mtu);
  const double share = of_frames ? payload_share(spec.mtu) : spec.nic.efficiency;
  const double host = through_host(spec, share * spec.nic.bandwidth, share);
  const auto flows = static_cast<double>(spec.sockets);
  const double limit = spec.flow_limit > 0 ? spec.flow_limit : std::numeric_limits<double>::infinity();
  return std::min(
      {host, std::min(flows, static_cast<double>(spec.socket_threads)) * adapter_constants().core, flows * limit});
}

/// Returns the payload rate between a GPU's memory and its adapters, byte/s.
double through(const spec::LinkSpec& slot) {
  return slot.bandwidth * (slot.costs == spec::MessageCosts::pcie ? adapter_constants().slot : slot.efficiency);
}

}  // namespace

spec::GpuClusterSpec with_adapters(const spec::GpuClusterSpec& spec) {
  spec::GpuClusterSpec cluster = spec;
  const std::vector<spec::NodeGroup> complete = node_groups(spec);
  for (std::size_t i = 0; i < cluster.more.size(); ++i) {
    spec::NodeGroup& group = cluster.more[i];
    spec::GpuClusterSpec alone = spec;
    alone.more.clear();
    alone.gpus = group.gpus;
    alone.port = group.port;
    alone.rails = group.rails;
    alone.nic = group.nic;
    alone.slot = *complete[i + 1].slot;
    alone = with_adapters(alone);
    group.rails = alone.rails;
    group.nic = alone.nic;
  }
  if (!(cluster.nic.bandwidth > 0) || cluster.gpus < 1 || cluster.rails < 1) return cluster;
  const spec::LinkSpec* slot = cluster.slot.bandwidth > 0 ? &cluster.slot : nullptr;
  if (cluster.rails > cluster.gpus) {
    cluster.nic.bandwidth *= static_cast<double>(cluster.rails) / static_cast<double>(cluster.gpus);
    cluster.rails = cluster.gpus;
    // Gives a TPU no slot, because it has its links itself.
    if (slot == nullptr && cluster.nic.costs != spec::MessageCosts::ici) slot = find_link("pcie-5");
  }
  // Chooses by the kind of line, not by its rate: between a host and a switch, packets are lost only at ports where
  // lines meet.
  if (cluster.nic.transport == spec::Transport::tcp) {
    cluster.nic.efficiency = over_sockets(cluster) / cluster.nic.bandwidth;
    cluster.nic.in_cluster = !cluster.nic.is_access;
  }
  if (slot != nullptr)
    cluster.nic.efficiency = std::min(cluster.nic.efficiency, through(*slot) / cluster.nic.bandwidth);
  if (spec::LinkSpec& link = cluster.fabric.link; link.transport == spec::Transport::tcp && !link.is_access) {
    if (link.efficiency == kTcpEfficiency) link.efficiency = payload_share(cluster.mtu);
    link.in_cluster = true;
  }
  return cluster;
}

std::optional<spec::LinkSpec> shared_slot(const spec::NodeGroup& group) {
  const spec::LinkSpec& slot = *group.slot;
  if (*group.slot_gpus < 2 || group.gpus < 2 || !(slot.bandwidth > 0)) return std::nullopt;
  spec::LinkSpec shared;
  shared.name = slot.name;
  // Converts the slot's traffic to bytes on the adapter's line.
  shared.efficiency = group.nic.efficiency;
  shared.bandwidth = through(slot) / shared.efficiency;
  shared.costs = spec::MessageCosts::any;
  shared.in_cluster = group.nic.in_cluster;
  return shared;
}

double through_shared_slots(const spec::NodeGroup& group) {
  if (!shared_slot(group)) return std::numeric_limits<double>::infinity();
  return static_cast<double>(group.gpus / *group.slot_gpus) * through(*group.slot);
}

}  // namespace dadsim::sim
