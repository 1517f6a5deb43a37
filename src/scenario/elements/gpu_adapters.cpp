#include "scenario/elements/gpu_adapters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenario/elements/link_rows.hpp"
#include "scenario/elements/read_platform.hpp"

namespace dadsim::scenario {
namespace {

/// Bytes in front of a port of a switch: switches of 10 to 400 Gbit/s have 12 to 113 MB for all ports together, of
/// which one may take some MB (an assumption; docs/timing.md). An access line has those of the catalogue.
double usual_queue(const spec::LinkSpec& link) {
  constexpr double kSeconds = 320e-6;  // 1 MB at 25 Gbit/s
  constexpr double kMost = 16e6;       // bytes
  return link.is_access ? link.queue_bytes : std::clamp(kSeconds * link.bandwidth, link.queue_bytes, kMost);
}

bool over_tcp(const spec::GpuClusterSpec& cluster) { return cluster.nic.transport == spec::Transport::tcp; }

}  // namespace

std::vector<Row<spec::GpuClusterSpec>> adapter_rows() {
  using Spec = spec::GpuClusterSpec;
  return {
      printed_as<Spec>(attribute("slot", name_in("links"),
                                 "What each GPU reaches its adapters through: a link of the catalogue (pcie-5), or a "
                                 "bandwidth with its unit, of payload. Left out, it is no limit, or pcie-5 where a GPU "
                                 "has several adapters."),
                       [](const Spec& cluster) { return link_text(cluster.slot); })
          .printed_if([](const Spec& cluster) { return cluster.slot.bandwidth > 0; }),
      attribute("slot-gpus", &Spec::slot_gpus, integer(1, kMaxHosts),
                "GPUs behind one slot, which share it: what they send to other nodes and, beside a `bridge`, to GPUs "
                "behind other slots.")
          .if_given(),
      printed_as<Spec>(queue_rule("tcp: bytes that a port of a switch holds in front of an adapter, with their unit. "
                                  "Left out, what passes in 320 us, at least 300 kB and at most 16 MB."),
                       [](const Spec& cluster) { return fmt::format("{}B", cluster.nic.queue_bytes); })
          .printed_if([](const Spec& cluster) {
            spec::LinkSpec usual = cluster.nic;
            usual.queue_bytes = spec::LinkSpec().queue_bytes;
            return over_tcp(cluster) && cluster.nic.queue_bytes != usual_queue(usual);
          }),
      by_code<Spec>(congestion_rule()),
      attribute("sockets", &Spec::sockets, integer(1, 64),
                "tcp: connections beside each other that carry what one adapter sends to another (NCCL: its channels "
                "x NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD).")
          .if_given()
          .printed_if(over_tcp),
      attribute("socket-threads", &Spec::socket_threads, integer(1, 64),
                "tcp: threads that serve them, each at most 20 Gbit/s; 1: the library's own alone, as NCCL has it but "
                "on AWS and Google Cloud.")
          .if_given()
          .printed_if(over_tcp),
      printed_as<Spec>(attribute("flow-limit", quantity(kBandwidthForm),
                                 "tcp: what the provider lets one connection have, with its unit (AWS: 5Gbps, in a "
                                 "cluster placement group 10Gbps). Left out, no limit."),
                       [](const Spec& cluster) { return fmt::format("{}Bps", cluster.flow_limit); })
          .printed_if([](const Spec& cluster) { return over_tcp(cluster) && cluster.flow_limit > 0; }),
      attribute("mtu", &Spec::mtu, integer(576, 65535), "tcp: bytes of a packet, headers of IP and TCP with them.")
          .if_given()
          .printed_if(over_tcp)};
}

void check_slots(const Node& node, const spec::LinkSpec& slot, std::int64_t behind, std::int64_t gpus) {
  if (behind > 1 && !(slot.bandwidth > 0)) {
    node.fail_at("slot-gpus", "means nothing without 'slot'", "slot=\"pcie-5\" beside it, or remove it");
  } else if (gpus % behind != 0) {
    const std::string what =
        fmt::format("the {} of a node cannot be divided", gpus == 1 ? "one GPU" : fmt::format("{} GPUs", gpus));
    if (node.has("slot-gpus")) {
      node.fail_at("slot-gpus", fmt::format("are GPUs of a slot by which {}", what), "a divisor of them");
    } else {
      node.fail(
          fmt::format("<{}> has slots of {} GPUs, as the other nodes, by which {}", node.element().name, behind, what),
          "slot-gpus=\"1\", or another divisor of them");
    }
  }
}

void read_slot(const Node& node, spec::GpuClusterSpec& cluster, const ReadContext& context) {
  if (node.has("slot")) {
    cluster.slot = read_cluster_link(node, "slot", spec::Transport::rdma, 0, context);
    if (!(cluster.nic.bandwidth > 0)) node.refuse("slot", "means nothing without adapters", "remove it");
  }
  check_slots(node, cluster.slot, cluster.slot_gpus, cluster.gpus);
}

void read_adapters(const Node& node, spec::GpuClusterSpec& cluster) {
  const bool tcp = over_tcp(cluster);
  const std::optional<double> queue = read_queue(node, tcp, cluster.nic.transport);
  for (spec::LinkSpec* link : {&cluster.nic, &cluster.fabric.link}) {
    if (link->transport == spec::Transport::tcp) link->queue_bytes = queue.value_or(usual_queue(*link));
  }
  for (spec::NodeGroup& group : cluster.more) {
    if (tcp) group.nic.queue_bytes = queue.value_or(usual_queue(group.nic));
  }
  cluster.flow_limit = quantity(node, "flow-limit", kBandwidthForm, 0);
  for (const char* attribute : {"sockets", "socket-threads", "flow-limit", "mtu"}) {
    if (node.has(attribute) && !tcp) {
      node.refuse(attribute, fmt::format("means nothing with transport {}", to_string(cluster.nic.transport)),
                  "remove it: only tcp has sockets");
    }
  }
}

}  // namespace dadsim::scenario
