#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/built_platform.hpp"

// Tests that routes between clusters keep all their links; SimGrid 3.32 loses some if zones are nested three deep.

namespace dadsim::sim {
namespace {

using test::BuiltPlatform;
using test::failure_to_build;
using test::gpu_cluster;
using test::link_spec;

spec::GpuClusterSpec cluster(const std::string& name, spec::FabricSpec::Kind kind, std::vector<std::int64_t> dimensions,
                             std::int64_t nodes) {
  spec::GpuClusterSpec spec = gpu_cluster(nodes, 2, 2);
  spec.name = name;
  spec.fabric.kind = kind;
  spec.fabric.link = link_spec("between", 25, 100);
  spec.fabric.dimensions = std::move(dimensions);
  spec.fabric.nodes_per_switch = 2;
  return spec;
}

/// Returns clusters of all kinds, joined pairwise by lines with a round trip of 1000 s. The line from cluster i to j
/// has 5 + i + j byte/s.
spec::CompositionSpec all_kinds() {
  spec::CompositionSpec spec;
  spec::FederationSpec sites;
  sites.name = "sites";
  sites.sites = {{"phone", 2, true, link_spec("up", 20, 1), link_spec("down", 30, 2)}};
  sites.hub_up = link_spec("hub", 40, 3);
  spec.clusters = {cluster("flat", spec::FabricSpec::Kind::one_switch, {}, 2),
                   cluster("tree", spec::FabricSpec::Kind::fat_tree, {}, 4),
                   cluster("fly", spec::FabricSpec::Kind::dragonfly, {2, 2, 1}, 4),
                   cluster("torus", spec::FabricSpec::Kind::torus, {4, 1}, 4), sites};
  const std::vector<std::string> names{"flat", "tree", "fly", "torus", "sites"};
  for (std::size_t a = 0; a < names.size(); ++a) {
    for (std::size_t b = 0; b < names.size(); ++b) {
      if (a != b)
        spec.pairs.push_back({names[a], names[b], static_cast<double>(5 + a + b), 1000, spec::Transport::tcp});
    }
  }
  return spec;
}

TEST(Composition, RoutesWithinAndBetweenClusters) {
  const BuiltPlatform platform({"", all_kinds(), {}, {}});
  platform.expect_hosts();
  platform.expect_route("tree.gpu-0", "tree.gpu-1", {"tree.gpu-0 port_UP", "tree.gpu-1 port_DOWN"}, 2, 300);
  // A leaf has 2 · 2 adapters of 50 byte/s and therefore 8 uplinks of 25.
  platform.expect_route(
      "tree.gpu-0", "tree.gpu-5",
      {"tree.node-0 rail-0_UP", "tree.leaf-0 spine-5_UP", "tree.leaf-1 spine-5_DOWN", "tree.node-2 rail-1_DOWN"}, 220,
      25);
  platform.expect_route("flat.gpu-1", "flat.gpu-2", {"flat.node-0 rail-1_UP", "flat.node-1 rail-0_DOWN"}, 20, 50);
  platform.expect_route("sites.phone-1", "sites.hub", {"sites.phone-1 up"}, 1, 20);

  // A route leaves a cluster through its switch, its spines, router 0 of group 0, the router of node 0, or its hub.
  platform.expect_route(
      "flat.gpu-3", "tree.gpu-5",
      {"flat.node-1 rail-1_UP", "flat -> tree", "tree.leaf-1 spine-5_DOWN", "tree.node-2 rail-1_DOWN"},
      10 + 500 + 100 + 10, 6);
  platform.expect_route("tree.gpu-5", "flat.gpu-3",
                        {"tree.node-2 rail-1_UP", "tree.leaf-1 spine-5_UP", "tree -> flat", "flat.node-1 rail-1_DOWN"},
                        10 + 100 + 500 + 10, 6);
  platform.expect_route("torus.gpu-6", "sites.phone-2",
                        {"torus.node-3 rail-0_UP", "torus.node-3 to node-0_UP", "torus -> sites", "sites.phone-2 down"},
                        10 + 100 + 500 + 2, 12);
  platform.expect_route("sites.hub", "torus.gpu-6",
                        {"sites.hub up", "sites -> torus", "torus.node-3 to node-0_DOWN", "torus.node-3 rail-0_DOWN"},
                        3 + 500 + 100 + 10, 12);
  platform.expect_route("sites.phone-1", "flat.gpu-0", {"sites.phone-1 up", "sites -> flat", "flat.node-0 rail-0_DOWN"},
                        1 + 500 + 10, 9);
  // fly has 2 groups of 2 routers of 1 node, with 2 lines between the groups. gpu-7 has adapter 7, which uses line 1,
  // at router 1 of both groups.
  platform.expect_route(
      "fly.gpu-7", "tree.gpu-0",
      {"fly.node-3 rail-1_UP", "fly.group-0 to group-1 line-1_DOWN", "fly.group-0 router-0 to router-1_DOWN",
       "fly -> tree", "tree.leaf-0 spine-0_DOWN", "tree.node-0 rail-0_DOWN"},
      10 + 100 + 100 + 500 + 100 + 10, 8);
  EXPECT_EQ(platform.node_of("tree.gpu-5"), "tree.node-2");
  EXPECT_EQ(platform.node_of("sites.hub"), "sites.hub");
}

TEST(Composition, NoRouteLosesALink) {
  const BuiltPlatform platform({"", all_kinds(), {}, {}});
  const auto cluster_of = [](const std::string& host) { return host.substr(0, host.find('.')); };
  const std::vector<std::string> hosts = spec::host_names({"", all_kinds(), {}, {}});
  std::size_t between = 0;
  for (const std::string& from : hosts) {
    for (const std::string& to : hosts) {
      if (from == to || cluster_of(from) == cluster_of(to)) continue;
      ++between;
      const std::vector<std::string> names = platform.route(from, to);
      const std::string line = cluster_of(from) + " -> " + cluster_of(to);
      EXPECT_EQ(std::ranges::count(names, line), 1) << from << " → " << to;
      // A route has links of the sender's cluster, the line between clusters, and links of the receiver's cluster. No
      // link leads down to the hub.
      const bool to_hub = to == "sites.hub";
      ASSERT_GE(names.size(), to_hub ? 2U : 3U) << from << " → " << to;
      EXPECT_EQ(cluster_of(names.front()), cluster_of(from)) << names.front();
      EXPECT_EQ(to_hub ? cluster_of(from) + " -> sites" : cluster_of(to),
                to_hub ? names.back() : cluster_of(names.back()));
    }
  }
  EXPECT_EQ(between, 31U * 31 - (4U * 4 + 8 * 8 * 3 + 3 * 3));
}

// Four senders share the 6 byte/s from flat to tree.
TEST(Composition, AllShareTheLineBetweenTwoClusters) {
  const BuiltPlatform platform({"", all_kinds(), {}, {}});
  EXPECT_NEAR(platform.send({{"flat.gpu-0", "tree.gpu-0"},
                             {"flat.gpu-1", "tree.gpu-1"},
                             {"flat.gpu-2", "tree.gpu-4"},
                             {"flat.gpu-3", "tree.gpu-5"}},
                            600),
              620 + 4 * 600 / 6.0, 1e-6);
}

TEST(Composition, ClustersThatNothingJoins) {
  spec::CompositionSpec spec = all_kinds();
  spec.pairs.pop_back();
  EXPECT_EQ(failure_to_build({"", spec, {}, {}}), "no link joins 'sites' to 'torus'; add a pair");
}

TEST(Composition, TwoClustersOfOneName) {
  spec::CompositionSpec spec = all_kinds();
  std::get<spec::GpuClusterSpec>(spec.clusters[1]).name = "flat";
  EXPECT_EQ(failure_to_build({"", spec, {}, {}}), "two clusters are named 'flat'; names must differ");
}

}  // namespace
}  // namespace dadsim::sim
