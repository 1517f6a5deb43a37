#include "scenario/elements/elements.hpp"

namespace dadsim::scenario {

std::vector<ElementRule> gpu_cluster_rules() {
  return {
      element(
          "gpu-cluster",
          "Nodes of GPUs. Hosts are called gpu-0, gpu-1 and so on, node by node. Without a fabric inside, all nodes "
          "hang on one switch.",
          {attribute("name", text("", kPrefix),
                     "Stands with a dot before the names of its hosts; required where there are several clusters."),
           attribute("nodes", integer(1, 100'000), "How many.").must(),
           attribute("gpus", integer(1, 100'000), "Per node.").must(),
           attribute("inside", name_in("links"),
                     "The link of each GPU into the switch or bridge of its node, in a mesh that of every two GPUs: a "
                     "link of the catalogue, or a bandwidth of your own with its unit (300GBps), of payload. May be "
                     "left out with one GPU per node."),
           attribute("inside-latency", text(),
                     "One way, with its unit. Default: what the catalogue says, 0.5us for a bandwidth."),
           attribute("inside-transport", one_of<spec::Transport>(),
                     "How bytes travel over a link inside that is given by its bandwidth. rdma is for PCIe and xGMI.")
               .otherwise("nvlink"),
           attribute("library", one_of({"nccl", "rccl"}),
                     "What carries out collectives, whatever the devices are: nccl (NVIDIA) or rccl (AMD). Default: "
                     "the library of the workers' devices; where that is not known, the one of the link inside."),
           attribute("mesh", truth(),
                     "Whether every two GPUs of a node have a link of their own (xGMI), instead of a port each into a "
                     "switch.")
               .otherwise("false"),
           attribute("bridge", text(),
                     "The host bridge that all GPUs of a node share: a link of the catalogue, or a bandwidth with its "
                     "unit. Without it a switch that never blocks joins them."),
           attribute("bridge-latency", text(),
                     "One way, with its unit. Default: what the catalogue says, 0.5us for a bandwidth."),
           attribute("rails", integer(1, 100'000), "Network adapters per node, at most one for each GPU.")
               .otherwise("1"),
           attribute("nic", name_in("links"),
                     "The link of each adapter: of the catalogue, or a bandwidth of your own with its unit (25Gbps).")
               .must(),
           attribute("nic-latency", text(),
                     "One way, with its unit. Default: what the catalogue says, 1us for a bandwidth."),
           attribute("transport", one_of<spec::Transport>(),
                     "How bytes travel over links between nodes that are given by their bandwidth.")
               .otherwise("tcp")})
          .holds({"one-switch", "fat-tree", "dragonfly", "torus"})
          .repeats(),
      element("one-switch", "Fabric: one switch that never blocks.",
              {attribute("sharp", truth(), "Whether the switch can add up what passes (InfiniBand SHARP).")
                   .otherwise("false")}),
      element("fat-tree", "Fabric: two levels of switches, each leaf joined to every spine.",
              {attribute("link", name_in("links"),
                         "Between switches: a link of the catalogue, or a bandwidth with its unit.")
                   .must(),
               attribute("link-latency", text(),
                         "One way, with its unit. Default: what the catalogue says, 1us for a bandwidth."),
               attribute("sharp", truth(), "Whether the switches can add up what passes (InfiniBand SHARP).")
                   .otherwise("false"),
               attribute("nodes-per-switch", integer(1, 100'000), "Nodes below each leaf switch.").must(),
               attribute("oversubscription", real({.minimum = 1, .maximum = 1e6}),
                         "Bandwidth down divided by bandwidth up of a leaf switch, from 1 to 1000000. Default 1.")}),
      element("dragonfly",
              "Fabric: groups of routers, all groups joined. Groups times routers times nodes are the nodes of the "
              "cluster.",
              {attribute("link", name_in("links"),
                         "Between routers: a link of the catalogue, or a bandwidth with its unit.")
                   .must(),
               attribute("link-latency", text(),
                         "One way, with its unit. Default: what the catalogue says, 1us for a bandwidth."),
               attribute("groups", integer(1, 100'000), "How many.").must(),
               attribute("routers", integer(1, 100'000), "Per group.").must(),
               attribute("nodes", integer(1, 100'000), "Per router.").must()}),
      element("torus", "Fabric: a grid of nodes that closes on itself along each axis.",
              {attribute("link", name_in("links"),
                         "Between neighbours: a link of the catalogue, or a bandwidth with its unit.")
                   .must(),
               attribute("link-latency", text(),
                         "One way, with its unit. Default: what the catalogue says, 1us for a bandwidth."),
               attribute("dimensions", text("", "[0-9]+(x[0-9]+)*"),
                         "Nodes along each axis, e.g. 4x4x4; their product is the nodes of the cluster.")
                   .must()})};
}

}  // namespace dadsim::scenario
