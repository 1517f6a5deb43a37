#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "study/composition/shaping.hpp"

namespace dadsim::study {

/// Parts that several shapes share.
namespace shape {

inline const std::string kLearning = R"(<data><digits train="24" test="10"/></data><model><dense units="10"/></model>
<training batch="3" epochs="1"/>)";
/// A network whose messages fill lines and queues.
inline const std::string kLarge = R"(<timed-as workload="resnet-18-cifar10" batch="4"/>)";
inline const std::string kBoth = R"(<run algorithm="gradient-sharing" label="hub" exchange="aggregator"/>
<run algorithm="gradient-sharing" label="peers" exchange="peer"/>)";
/// Runs whose result depends on which sites fail, and when.
inline const std::string kFallible = R"(<data><digits train="60" test="10"/><split by="sizes" sizes="6 9 15 30"/></data>
<model><dense units="10"/></model><training batch="5" epochs="2"/>
<run algorithm="{gradient-sharing|rank-dad}" absent="without"/><run algorithm="fedavg" rounds="3"/>)";

inline std::string placed(const std::string& platform, const std::string& hosts, const std::string& hub,
                          const std::string& device = "a100-sxm4-80") {
  return fmt::format(
      R"(<platform>{}</platform><workers><worker hosts="{}" device="{}"/><aggregator host="{}" device="xeon-8380"/></workers>)",
      platform, hosts, device, hub);
}

/// Returns a federation of six sites with one line each, four of which are workers.
inline std::string lines(const std::string& of_sites = "latency=\"20ms\" bandwidth-spread=\"1\"",
                         const std::string& of_hub = "latency=\"5ms\"", const std::string& beside = "",
                         const std::string& device = "a100-sxm4-80") {
  return placed(
      fmt::format(
          R"(<federation><sites name="s" count="6" up="200Mbps" down="1Gbps" {}/><hub up="300Mbps" down="300Mbps" {}/></federation>{})",
          of_sites, of_hub, beside),
      "s-[1-4]", "hub", device);
}

/// Returns six nodes of one GPU, four of which are workers.
inline std::string nodes(const std::string& attributes, const std::string& inside = "") {
  return placed(fmt::format(R"(<gpu-cluster nodes="6" gpus="1" {}>{}</gpu-cluster>)", attributes, inside), "gpu-[0-3]",
                "gpu-5");
}

/// Returns two nodes of four GPUs. Workers are 2 or 4 GPUs of the first node, or all 8.
inline std::string clique(const std::string& workers = "4", const std::string& attributes = "",
                          const std::string& inside = "nvlink-3") {
  const std::string last = workers == "8" ? "7" : workers == "2" ? "1" : "3";
  return fmt::format(R"(<platform><gpu-cluster nodes="2" gpus="4" inside="{}" nic="100Gbps" {}/></platform>
<workers><worker hosts="gpu-[0-{}]" device="a100-sxm4-80"/></workers>)",
                     inside, attributes, last);
}

/// Returns two nodes of two GPUs and further nodes of another kind. The workers are on the further nodes, the
/// aggregator on a node of the first kind.
inline std::string groups(const std::string& attributes) {
  return placed(
      fmt::format(R"(<gpu-cluster nodes="2" gpus="2" inside="pcie-3" nic="10Gbps"><more-nodes {}/></gpu-cluster>)",
                  attributes),
      "gpu-[4-7]", "gpu-0");
}

/// Returns three regions, two of which have a line of their own between them.
inline std::string regions(const std::string& pair, const std::string& host = "host=\"ethernet-10g\"") {
  return placed(fmt::format(
                    R"(<wan {}><region name="aws:us-east-1" hosts="3"/><region name="aws:eu-west-1" hosts="2"/>
<region name="aws:sa-east-1" hosts="2"/><pair from="aws:us-east-1" to="aws:eu-west-1" bandwidth="{{100Mbps|200Mbps}}" round-trip="80ms" {}/></wan>)",
                    host, pair),
                "aws:us-east-1-1 aws:us-east-1-2 aws:eu-west-1-1 aws:sa-east-1-1", "aws:us-east-1-3");
}

}  // namespace shape

/// Returns shapes of platforms, of their failures, and of worker placements.
inline std::vector<Shape> cluster_shapes() {
  using namespace shape;
  const std::string large = kLarge + kLearning + kBoth;
  const std::string peers = kLarge + kLearning + R"(<run algorithm="gradient-sharing" exchange="peer"/>)";
  const std::string tcp = R"(nic="10Gbps" transport="tcp" nic-latency="{1ms|5ms}")";
  const std::string best =
      kLarge + kLearning + R"(<run algorithm="gradient-sharing" exchange="peer" all-reduce="best"/>)";
  const auto group = [&](const std::string& attributes) {
    return groups(R"(nodes="2" gpus="4" inside="pcie-3" nic="10Gbps" )" + attributes) + large;
  };
  const std::string even = R"(latency="{20ms|60ms}")";
  const std::string uneven = R"(latency="20ms" bandwidth-spread="1")";
  const std::string hub = R"(latency="5ms")";
  return {
      {"sites.*", lines(R"(latency="20ms")") + large},
      {"sites.count", ""},
      {"sites.per-connection", lines(R"(latency="20ms" measured="goodput" per-connection="2Mbps")") + large},
      {"sites.up-latency", lines(R"(latency="1ms" up-latency="20ms")") + large},
      {"sites.down-latency", lines(R"(latency="1ms" down-latency="20ms")") + large},
      {"hub.*", lines(R"(latency="1ms")") + large},
      {"hub.up-latency", lines(R"(latency="1ms")", R"(latency="1ms" up-latency="20ms")") + large},
      {"hub.down-latency", lines(R"(latency="1ms")", R"(latency="1ms" down-latency="20ms")") + large},
      {"wan.congestion", regions("", R"(host="ethernet-1g" congestion="cubic")") + large},
      {"sites.congestion", lines(even + R"( congestion="cubic")") + large},
      {"hub.congestion", lines(R"(latency="20ms")", even + R"( congestion="cubic")") + large},
      {"hub.per-connection", lines(R"(latency="20ms")", hub + R"( measured="goodput" per-connection="3Mbps")") + large},
      {"pair.*", regions("") + large},
      {"pair.from", regions("") + large, {"aws:sa-east-1"}},
      {"pair.to", regions("") + large, {"aws:sa-east-1"}},
      {"pair.one-way", regions(R"(one-way="true")") + large},
      {"pair.queue", regions(R"(queue="300kB")") + large},
      {"pair.measured", regions(R"(measured="wire")") + large},
      {"gpu-cluster.congestion", nodes(tcp + R"( congestion="cubic")") + large},
      {"gpu-cluster.queue", nodes(tcp) + large},
      {"gpu-cluster.flow-limit", nodes(tcp) + large},
      {"gpu-cluster.mtu", nodes(tcp) + large},
      {"gpu-cluster.transport", nodes(tcp) + large},
      {"gpu-cluster.nic", nodes(R"(nic="5Gbps")") + large},
      {"gpu-cluster.nic-latency", nodes(R"(nic="5Gbps")") + large},
      {"gpu-cluster.slot", nodes(R"(nic="100Gbps" slot="3Gbps")") + large},
      {"gpu-cluster.slot-gpus", clique("8", R"(slot="3Gbps" slot-gpus="2")") + peers, {"1", "4"}},
      {"gpu-cluster.inside", clique() + peers},
      {"gpu-cluster.inside-latency", clique() + peers},
      {"gpu-cluster.inside-transport", clique("4", R"(inside-transport="rdma")", "20GBps") + peers},
      {"gpu-cluster.bridge", clique("4", R"(bridge="8GBps")") + peers, {"pcie-3", "2GBps"}},
      {"gpu-cluster.mesh",
       clique("4", R"(mesh="true")") + kLarge + kLearning + R"(<run algorithm="d-psgd" graph="complete"/>)"},
      {"gpu-cluster.sockets", nodes(R"(nic="100Gbps" transport="tcp" sockets="2")") + large},
      {"gpu-cluster.socket-threads", nodes(R"(nic="100Gbps" transport="tcp" sockets="8")") + large},
      {"gpu-cluster.bridge-latency", clique("4", R"(bridge="8GBps" bridge-latency="50us")") + kLarge + kLearning +
                                         R"(<run algorithm="gradient-sharing" exchange="peer"/>)"},
      {"gpu-cluster.library", clique("8", R"(library="nccl")") + kLarge + kLearning +
                                  R"(<run algorithm="gradient-sharing" exchange="peer"/>)"},
      {"one-switch.sharp", nodes(R"(nic="ib-edr")", "<one-switch sharp=\"true\"/>") + best},
      {"fat-tree.sharp",
       nodes(R"(nic="ib-edr")", R"(<fat-tree link="ib-edr" nodes-per-switch="2" sharp="true"/>)") + best},
      {"fat-tree.*", nodes(R"(nic="10Gbps")", R"(<fat-tree link="5Gbps" nodes-per-switch="2"/>)") + large},
      {"dragonfly.*",
       nodes(R"(nic="10Gbps")", R"(<dragonfly link="5Gbps" groups="3" routers="1" nodes="2"/>)") + large},
      {"torus.*", nodes(R"(nic="10Gbps")", R"(<torus link="5Gbps" dimensions="2x3"/>)") + large},
      {"torus.dimensions",
       nodes(R"(nic="10Gbps")", R"(<torus link="10Gbps" dimensions="2x3"/>)") + large,
       {"3x2", "6"}},
      {"more-nodes.*", group("")},
      {"more-nodes.gpus", groups(R"(nodes="2" gpus="4" inside="pcie-3" nic="10Gbps")") + large, {"2", "3"}},
      {"more-nodes.mesh", groups(R"(nodes="2" gpus="4" inside="pcie-3" mesh="true")") + kLarge + kLearning +
                              R"(<run algorithm="d-psgd" graph="complete"/>)"},
      {"more-nodes.bridge-latency", group(R"(bridge="8GBps" bridge-latency="50us")")},
      {"more-nodes.slot-gpus", group(R"(slot="3Gbps" slot-gpus="2")")},
      {"more-nodes.slot", group(R"(slot="3Gbps")")},
      {"change.link", lines(uneven, hub, R"(<change link="s-1 up" bandwidth-factor="0.2"/>)") + large, {"s-2 up", "*"}},
      {"profile.link",
       lines(uneven, hub, R"(<profile link="s-1 up" times="0s 5ms" factors="1 0.1"/>)") + large,
       {"s-2 up", "s-*"}},
      {"profile.times",
       lines(uneven, hub, R"(<profile link="s-*" times="0s {50ms|200ms}" factors="1 0.1"/>)") + large,
       {"0s 20ms", "0s 500ms"}},
      {"profile.factors",
       lines(uneven, hub, R"(<profile link="s-*" times="0s {50ms|200ms}" factors="1 0.1"/>)") + large,
       {"1 0.5", "0.2 0.1"}},
      {"background.from",
       lines(uneven, hub, R"(<background from="s-1" to="hub" bytes="2MB"/>)") + large,
       {"s-2", "s-6"}},
      {"background.to", lines(uneven, hub, R"(<background from="s-6" to="s-1" bytes="2MB"/>)") + large, {"s-2", "hub"}},
      {"worker.hosts", lines(uneven) + large, {"s-[2-5]", "s-1 s-3 s-5 s-6"}},
      {"aggregator.host", lines(uneven) + large, {"s-5", "s-6"}},
      {"fails.nodes",
       clique("8") + R"(<failures><fails nodes="*" mtbf="{20ms|100ms}" mttr="20ms"/></failures>)" + kLarge + kLearning +
           R"(<run algorithm="gradient-sharing" exchange="peer"/>)",
       {"node-0", "node-1"}},
      {"outage.nodes",
       clique("8") + R"(<failures><outage nodes="*" from="{2ms|10ms}" for="1s"/></failures>)" + kLarge + kLearning +
           R"(<run algorithm="gradient-sharing" exchange="peer" absent="without"/>)",
       {"node-0", "node-1"}},
      {"network.timed-steps", lines(uneven) + R"(<network fidelity="{message|flow}" timed-steps="8"/>
<data><digits train="40" test="10"/></data><model><dense units="12"/><dense units="10"/></model><training batch="2" epochs="8"/>
<run algorithm="gradient-sharing"><compress method="redsync" fraction="0.05"/></run>)"},
      {"framework.message",
       lines(uneven) + kLearning + R"(<run algorithm="fedavg" rounds="2"/><framework name="nvflare" message="25MB"/>)"},
  };
}

}  // namespace dadsim::study
