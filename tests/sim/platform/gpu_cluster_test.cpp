#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "sim/built_platform.hpp"
#include "sim/platform/build/fabric.hpp"

// Tests GPU clusters. Each test builds one platform in its own process.

namespace dadsim::sim {
namespace {

using test::BuiltPlatform;
using test::failure_to_build;
using test::gpu_cluster;
using test::link_spec;

std::string gpu(std::int64_t i) { return fmt::format("gpu-{}", i); }

spec::FabricSpec fabric(spec::FabricSpec::Kind kind, std::vector<std::int64_t> dimensions = {}) {
  spec::FabricSpec spec;
  spec.kind = kind;
  spec.link = link_spec("between", 25, 100);
  spec.dimensions = std::move(dimensions);
  return spec;
}

spec::GpuClusterSpec fat_tree(std::int64_t nodes, std::int64_t gpus, std::int64_t rails, std::int64_t per_switch,
                              double oversubscription) {
  spec::GpuClusterSpec spec = gpu_cluster(nodes, gpus, rails);
  spec.fabric = fabric(spec::FabricSpec::Kind::fat_tree);
  spec.fabric.nodes_per_switch = per_switch;
  spec.fabric.oversubscription = oversubscription;
  return spec;
}

TEST(GpuCluster, OneSwitch) {
  const BuiltPlatform platform({"", gpu_cluster(3, 4, 2), {}, {}});
  platform.expect_hosts();
  platform.expect_route("gpu-0", "gpu-3", {"gpu-0 port_UP", "gpu-3 port_DOWN"}, 2, 300);
  platform.expect_route("gpu-3", "gpu-0", {"gpu-3 port_UP", "gpu-0 port_DOWN"}, 2, 300);
  // GPUs 0 and 1 of a node share rail 0, GPUs 2 and 3 rail 1.
  platform.expect_route("gpu-0", "gpu-5", {"node-0 rail-0_UP", "node-1 rail-0_DOWN"}, 20, 50);
  platform.expect_route("gpu-1", "gpu-6", {"node-0 rail-0_UP", "node-1 rail-1_DOWN"}, 20, 50);
  platform.expect_route("gpu-11", "gpu-2", {"node-2 rail-1_UP", "node-0 rail-1_DOWN"}, 20, 50);
}

/// Returns two nodes of four GPUs and four adapters, then three nodes of two GPUs with one adapter.
spec::GpuClusterSpec two_kinds() {
  spec::GpuClusterSpec spec = gpu_cluster(2, 4, 4);
  spec.more.push_back({3, 2, link_spec("bus", 30, 2), 1, link_spec("slow", 20, 15)});
  return spec;
}

TEST(GpuCluster, NodesOfTwoKindsAreNumberedOn) {
  const BuiltPlatform platform({"", two_kinds(), {}, {}});
  platform.expect_hosts();
  EXPECT_EQ(platform.node_of("gpu-7"), "node-1");
  EXPECT_EQ(platform.node_of("gpu-8"), "node-2");
  EXPECT_EQ(platform.node_of("gpu-13"), "node-4");
  platform.expect_route("gpu-4", "gpu-7", {"gpu-4 port_UP", "gpu-7 port_DOWN"}, 2, 300);
  platform.expect_route("gpu-9", "gpu-8", {"gpu-9 port_UP", "gpu-8 port_DOWN"}, 4, 30);
  platform.expect_route("gpu-6", "gpu-11", {"node-1 rail-2_UP", "node-3 rail-0_DOWN"}, 25, 20);
  platform.expect_route("gpu-13", "gpu-0", {"node-4 rail-0_UP", "node-0 rail-0_DOWN"}, 25, 20);
  platform.expect_route("gpu-7", "gpu-8", {"node-1 rail-3_UP", "node-2 rail-0_DOWN"}, 25, 20);
}

TEST(GpuCluster, ALeafOfAFatTreeHasLinesForItsFastestAdapters) {
  spec::GpuClusterSpec spec = two_kinds();
  spec.fabric = fabric(spec::FabricSpec::Kind::fat_tree);
  spec.fabric.nodes_per_switch = 2;
  spec.fabric.oversubscription = 2;
  // Leaf 0 has 8 adapters of 50 byte/s. With an oversubscription of 2, it needs 200 byte/s of uplinks: 8 lines of 25.
  EXPECT_EQ(fat_tree_size(spec).spines, 8);
  EXPECT_EQ(fat_tree_size(spec).leaves, 3);
  const BuiltPlatform platform({"", spec, {}, {}});
  platform.expect_route("gpu-0", "gpu-5", {"node-0 rail-0_UP", "node-1 rail-1_DOWN"}, 20, 50);
  platform.expect_route("gpu-10", "gpu-9", {"node-3 rail-0_UP", "node-2 rail-0_DOWN"}, 30, 20);
  // The first three nodes have 10 adapters, so that of node 4 has number 10, which spine 10 mod 8 serves.
  platform.expect_route("gpu-3", "gpu-12",
                        {"node-0 rail-3_UP", "leaf-0 spine-2_UP", "leaf-2 spine-2_DOWN", "node-4 rail-0_DOWN"}, 225,
                        20);
}

TEST(GpuCluster, ATorusCountsTheNodesOfAllKinds) {
  spec::GpuClusterSpec spec = two_kinds();
  spec.fabric = fabric(spec::FabricSpec::Kind::torus, {5});
  const BuiltPlatform platform({"", spec, {}, {}});
  platform.expect_route("gpu-5", "gpu-10",
                        {"node-1 rail-1_UP", "node-1 to node-2_UP", "node-2 to node-3_UP", "node-3 rail-0_DOWN"}, 225,
                        20);
}

TEST(GpuCluster, PropertiesOfLinksAndHosts) {
  const spec::GpuClusterSpec spec = fat_tree(4, 2, 2, 2, 1);
  const BuiltPlatform platform({"", spec, {}, {}});
  for (const char* way : {"_UP", "_DOWN"}) {
    platform.expect_link(std::string("gpu-7 port") + way, spec.port);
    platform.expect_link(std::string("node-3 rail-1") + way, spec.nic);
    platform.expect_link(std::string("leaf-1 spine-3") + way, spec.fabric.link);
  }
  EXPECT_EQ(platform.node_of("gpu-0"), "node-0");
  EXPECT_EQ(platform.node_of("gpu-1"), "node-0");
  EXPECT_EQ(platform.node_of("gpu-7"), "node-3");
  for (const simgrid::s4u::Link* link : platform.engine().get_all_links()) {
    for (const char* key : {"transport", "efficiency", "queue", "class"}) {
      EXPECT_TRUE(link->get_property(key) != nullptr || link->get_name() == "__loopback__") << link->get_name();
    }
  }
}

TEST(GpuCluster, ASharedBridgeLiesBetweenThePorts) {
  spec::GpuClusterSpec spec = gpu_cluster(2, 3);
  spec.inside = spec::InsideNode::shared;
  spec.bridge = link_spec("bridge", 200, 0.5);
  const BuiltPlatform platform({"", spec, {}, {}});
  platform.expect_route("gpu-3", "gpu-5", {"gpu-3 port_UP", "node-1 bridge", "gpu-5 port_DOWN"}, 2.5, 200);
  platform.expect_route("gpu-0", "gpu-5", {"node-0 rail-0_UP", "node-1 rail-0_DOWN"}, 20, 50);
  platform.expect_link("node-0 bridge", spec.bridge);
}

TEST(GpuCluster, ABridgeWithoutABandwidthIsNoLimit) {
  spec::GpuClusterSpec spec = gpu_cluster(1, 3);
  spec.inside = spec::InsideNode::shared;
  const BuiltPlatform platform({"", spec, {}, {}});
  platform.expect_route("gpu-0", "gpu-2", {"gpu-0 port_UP", "gpu-2 port_DOWN"}, 2, 300);
}

TEST(GpuCluster, AMeshJoinsEveryTwoGpusOfANode) {
  spec::GpuClusterSpec spec = gpu_cluster(2, 4);
  spec.inside = spec::InsideNode::mesh;
  const BuiltPlatform platform({"", spec, {}, {}});
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) {
      const std::string low = fmt::format("gpu-{}", 4 + a), high = fmt::format("gpu-{}", 4 + b);
      platform.expect_route(low, high, {low + " " + high + "_UP"}, 1, 300);
      platform.expect_route(high, low, {low + " " + high + "_DOWN"}, 1, 300);
    }
  }
  platform.expect_route("gpu-0", "gpu-5", {"node-0 rail-0_UP", "node-1 rail-0_DOWN"}, 20, 50);
}

TEST(GpuCluster, OneGpuPerNodeNeedsNoPort) {
  spec::GpuClusterSpec spec = gpu_cluster(2, 1);
  spec.port = {};
  const BuiltPlatform platform({"", spec, {}, {}});
  platform.expect_route("gpu-0", "gpu-1", {"node-0 rail-0_UP", "node-1 rail-0_DOWN"}, 20, 50);
}

TEST(GpuCluster, OneNodeNeedsNoAdapter) {
  spec::GpuClusterSpec spec = gpu_cluster(1, 2);
  spec.nic = {};
  const BuiltPlatform platform({"", spec, {}, {}});
  platform.expect_route("gpu-1", "gpu-0", {"gpu-1 port_UP", "gpu-0 port_DOWN"}, 2, 300);
}

TEST(GpuCluster, AHostReachesItself) {
  const BuiltPlatform platform({"", gpu_cluster(2, 2), {}, {}});
  EXPECT_EQ(platform.route("gpu-1", "gpu-1"), std::vector<std::string>{"loopback"});
}

// Both GPUs of node 0 send to node 1 over one rail, so they share its 50 byte/s. Its latency is 20 s.
TEST(GpuCluster, GpusOfARailShareIt) {
  const BuiltPlatform platform({"", gpu_cluster(2, 2, 1), {}, {}});
  EXPECT_NEAR(platform.send({{"gpu-0", "gpu-2"}, {"gpu-1", "gpu-3"}}, 1000), 20 + 2 * 1000 / 50.0, 1e-6);
}

TEST(GpuCluster, GpusOfDifferentRailsDoNotShare) {
  const BuiltPlatform platform({"", gpu_cluster(2, 2, 2), {}, {}});
  EXPECT_NEAR(platform.send({{"gpu-0", "gpu-2"}, {"gpu-1", "gpu-3"}}, 1000), 20 + 1000 / 50.0, 1e-6);
}

// A leaf's 2 nodes × 2 rails have 200 byte/s downwards. Its uplinks have as much: 8 lines of 25, one to each of 8
// spines.
TEST(FatTree, Routes) {
  const BuiltPlatform platform({"", fat_tree(8, 2, 2, 2, 1), {}, {}});
  platform.expect_hosts();
  platform.expect_route("gpu-0", "gpu-1", {"gpu-0 port_UP", "gpu-1 port_DOWN"}, 2, 300);
  platform.expect_route("gpu-0", "gpu-3", {"node-0 rail-0_UP", "node-1 rail-1_DOWN"}, 20, 50);
  // gpu-9 has adapter 9, which spine 9 mod 8 serves.
  platform.expect_route("gpu-0", "gpu-9",
                        {"node-0 rail-0_UP", "leaf-0 spine-1_UP", "leaf-2 spine-1_DOWN", "node-4 rail-1_DOWN"}, 220,
                        25);
  platform.expect_route("gpu-9", "gpu-0",
                        {"node-4 rail-1_UP", "leaf-2 spine-0_UP", "leaf-0 spine-0_DOWN", "node-0 rail-0_DOWN"}, 220,
                        25);
  platform.expect_route("gpu-1", "gpu-15",
                        {"node-0 rail-1_UP", "leaf-0 spine-7_UP", "leaf-3 spine-7_DOWN", "node-7 rail-1_DOWN"}, 220,
                        25);
}

TEST(FatTree, Sizes) {
  const auto expect = [](const spec::GpuClusterSpec& spec, std::int64_t leaves, std::int64_t spines) {
    const FatTreeSize size = fat_tree_size(spec);
    EXPECT_EQ(size.leaves, leaves);
    EXPECT_EQ(size.spines, spines);
  };
  expect(fat_tree(8, 2, 2, 2, 1), 4, 8);
  expect(fat_tree(8, 2, 2, 2, 2), 4, 4);
  expect(fat_tree(8, 2, 2, 2, 3), 4, 3);     // 2.67 uplinks are rounded up
  expect(fat_tree(8, 2, 2, 2, 1000), 4, 1);  // a leaf has at least one uplink
  expect(fat_tree(9, 2, 2, 2, 1), 5, 8);     // the last leaf has one node of two
  expect(fat_tree(2, 2, 2, 2, 1), 1, 0);     // one leaf needs no spine
  spec::GpuClusterSpec real = fat_tree(128, 8, 8, 16, 1);
  real.nic.bandwidth = real.fabric.link.bandwidth = 50e9;
  expect(real, 8, 128);
  real.fabric.oversubscription = 1.6;  // 80 uplinks, computed from a factor that is not exact in binary
  expect(real, 8, 80);
}

// Without oversubscription, all GPUs can send i → i + k at once without sharing a line, for any k (Zahavi 2010).
TEST(FatTree, ShiftsDoNotCollide) {
  spec::GpuClusterSpec spec = fat_tree(8, 2, 2, 2, 1);
  spec.fabric.link.bandwidth = 50;  // the bandwidth of the adapters
  const BuiltPlatform platform({"", spec, {}, {}});
  for (int shift = 4; shift < 16; ++shift) {
    std::map<std::string, int> used;
    for (int from = 0; from < 16; ++from) {
      for (const std::string& name : platform.route(gpu(from), gpu((from + shift) % 16))) ++used[name];
    }
    for (const auto& [name, times] : used) EXPECT_EQ(times, 1) << name << " at a shift of " << shift;
  }
}

// All 4 GPUs of leaf 0 send to leaf 1. Without oversubscription they get 200 byte/s; an oversubscription of 4 leaves
// one line of 50.
TEST(FatTree, OversubscriptionLimitsWhatLeavesALeaf) {
  spec::GpuClusterSpec spec = fat_tree(4, 2, 2, 2, 4);
  spec.fabric.link.bandwidth = 50;
  const BuiltPlatform platform({"", spec, {}, {}});
  EXPECT_NEAR(platform.send({{"gpu-0", "gpu-4"}, {"gpu-1", "gpu-5"}, {"gpu-2", "gpu-6"}, {"gpu-3", "gpu-7"}}, 1000),
              220 + 4 * 1000 / 50.0, 1e-6);
}

// The torus has 4 × 3 × 2 nodes of one GPU; node = x + 4 y + 12 z.
TEST(Torus, Routes) {
  spec::GpuClusterSpec spec = gpu_cluster(24, 1);
  spec.fabric = fabric(spec::FabricSpec::Kind::torus, {4, 3, 2});
  const BuiltPlatform platform({"", spec, {}, {}});
  platform.expect_hosts();
  const auto expect = [&](int from, int to, std::vector<std::string> between) {
    const double hops = static_cast<double>(between.size());
    between.insert(between.begin(), fmt::format("node-{} rail-0_UP", from));
    between.push_back(fmt::format("node-{} rail-0_DOWN", to));
    platform.expect_route(gpu(from), gpu(to), between, 20 + 100 * hops, 25);
  };
  expect(0, 1, {"node-0 to node-1_UP"});
  expect(1, 0, {"node-0 to node-1_DOWN"});
  expect(0, 3, {"node-3 to node-0_DOWN"});                       // the wrap-around link is shorter
  expect(0, 2, {"node-0 to node-1_UP", "node-1 to node-2_UP"});  // both directions take two hops: upwards is chosen
  expect(2, 0, {"node-2 to node-3_UP", "node-3 to node-0_UP"});
  expect(0, 8, {"node-8 to node-0_DOWN"});
  expect(0, 12, {"node-0 to node-12_UP"});  // an axis of two nodes has one link, not two
  expect(12, 0, {"node-0 to node-12_DOWN"});
  // A route from (1, 2, 1) to (3, 0, 0) goes along x first, then y, then z.
  expect(21, 3, {"node-21 to node-22_UP", "node-22 to node-23_UP", "node-23 to node-15_UP", "node-3 to node-15_DOWN"});
  const auto ring = [](int a, int b, int size) { return std::min((a - b + size) % size, (b - a + size) % size); };
  for (int a = 0; a < 24; ++a) {
    for (int b = 0; b < 24; ++b) {
      if (a == b) continue;
      const int hops = ring(a % 4, b % 4, 4) + ring(a / 4 % 3, b / 4 % 3, 3) + ring(a / 12, b / 12, 2);
      EXPECT_EQ(platform.route(gpu(a), gpu(b)).size(), static_cast<std::size_t>(hops) + 2) << a << " → " << b;
    }
  }
}

// The dragonfly has 3 groups of 2 routers of 2 nodes of 2 GPUs, and 2 lines between two groups.
TEST(Dragonfly, Routes) {
  spec::GpuClusterSpec spec = gpu_cluster(12, 2);
  spec.fabric = fabric(spec::FabricSpec::Kind::dragonfly, {3, 2, 2});
  EXPECT_EQ(dragonfly_lines(spec.fabric), 2);
  const BuiltPlatform platform({"", spec, {}, {}});
  platform.expect_hosts();
  platform.expect_route("gpu-0", "gpu-1", {"gpu-0 port_UP", "gpu-1 port_DOWN"}, 2, 300);
  platform.expect_route("gpu-0", "gpu-2", {"node-0 rail-0_UP", "node-1 rail-0_DOWN"}, 20, 50);  // both nodes are at the
                                                                                                // same router
  platform.expect_route("gpu-0", "gpu-4", {"node-0 rail-0_UP", "group-0 router-0 to router-1_UP", "node-2 rail-0_DOWN"},
                        120, 25);
  platform.expect_route("gpu-4", "gpu-0",
                        {"node-2 rail-0_UP", "group-0 router-0 to router-1_DOWN", "node-0 rail-0_DOWN"}, 120, 25);
  // Line l between two groups ends at router l of both groups. The number of the destination's adapter, modulo 2,
  // selects the line.
  platform.expect_route("gpu-0", "gpu-8", {"node-0 rail-0_UP", "group-0 to group-1 line-0_UP", "node-4 rail-0_DOWN"},
                        120, 25);
  platform.expect_route("gpu-8", "gpu-0", {"node-4 rail-0_UP", "group-0 to group-1 line-0_DOWN", "node-0 rail-0_DOWN"},
                        120, 25);
  platform.expect_route("gpu-0", "gpu-10",
                        {"node-0 rail-0_UP", "group-0 router-0 to router-1_UP", "group-0 to group-1 line-1_UP",
                         "group-1 router-0 to router-1_DOWN", "node-5 rail-0_DOWN"},
                        320, 25);
  for (int a = 0; a < 24; ++a) {
    for (int b = 0; b < 24; ++b) {
      if (a / 2 == b / 2) continue;
      int between_groups = 0;
      const std::vector<std::string> names = platform.route(gpu(a), gpu(b));
      for (const std::string& name : names) {
        if (name.find(" to group-") != std::string::npos) ++between_groups;
      }
      EXPECT_EQ(between_groups, a / 8 == b / 8 ? 0 : 1) << a << " → " << b;
      EXPECT_LE(names.size(), 5U) << a << " → " << b;
    }
  }
}

// Lines between groups are assigned to routers in turn. With 5 groups of 2 routers of 1 node, one line joins two
// groups, and a route may need a hop in both groups.
TEST(Dragonfly, LinesAreDealtOutToRouters) {
  spec::GpuClusterSpec spec = gpu_cluster(10, 1);
  spec.fabric = fabric(spec::FabricSpec::Kind::dragonfly, {5, 2, 1});
  const BuiltPlatform platform({"", spec, {}, {}});
  // The line from group 0 to group 2 is the second of group 0 (router 1) and the third of group 2 (router 0).
  platform.expect_route("gpu-0", "gpu-5",
                        {"node-0 rail-0_UP", "group-0 router-0 to router-1_UP", "group-0 to group-2 line-0_UP",
                         "group-2 router-0 to router-1_UP", "node-5 rail-0_DOWN"},
                        320, 25);
  platform.expect_route("gpu-5", "gpu-0",
                        {"node-5 rail-0_UP", "group-2 router-0 to router-1_DOWN", "group-0 to group-2 line-0_DOWN",
                         "group-0 router-0 to router-1_DOWN", "node-0 rail-0_DOWN"},
                        320, 25);
}

TEST(GpuCluster, NodesThatDoNotFitADragonfly) {
  spec::GpuClusterSpec spec = gpu_cluster(11, 1);
  spec.fabric = fabric(spec::FabricSpec::Kind::dragonfly, {5, 2, 1});
  EXPECT_EQ(failure_to_build({"", spec, {}, {}}), "a dragonfly of 5 groups x 2 routers x 1 nodes has 10 nodes, not 11");
}

TEST(GpuCluster, NodesThatDoNotFitATorus) {
  spec::GpuClusterSpec spec = gpu_cluster(5, 1);
  spec.fabric = fabric(spec::FabricSpec::Kind::torus, {3, 2});
  EXPECT_EQ(failure_to_build({"", spec, {}, {}}), "a torus of 3 x 2 has 6 nodes, not 5");
}

TEST(GpuCluster, AnOversubscriptionBelowOne) {
  EXPECT_EQ(failure_to_build({"", fat_tree(4, 1, 1, 2, 0.5), {}, {}}),
            "a fat tree has an oversubscription of 0.5; use at least 1");
}

TEST(GpuCluster, APortWithoutBandwidth) {
  spec::GpuClusterSpec spec = gpu_cluster(1, 2);
  spec.port.bandwidth = 0;
  EXPECT_EQ(failure_to_build({"", spec, {}, {}}),
            "link 'gpu-0 port' has a bandwidth of 0 byte/s; use a bandwidth above 0");
}

TEST(GpuCluster, SixteenThousandGpus) {
  const BuiltPlatform platform({"", fat_tree(2048, 8, 8, 16, 1), {}, {}});
  EXPECT_EQ(platform.engine().get_host_count(), 16384U);
  platform.expect_route("gpu-0", "gpu-7", {"gpu-0 port_UP", "gpu-7 port_DOWN"}, 2, 300);
  // A leaf has 128 adapters of 50 byte/s and 256 lines of 25. Spine 16383 mod 256 serves adapter 16383.
  platform.expect_route("gpu-0", "gpu-16383",
                        {"node-0 rail-0_UP", "leaf-0 spine-255_UP", "leaf-127 spine-255_DOWN", "node-2047 rail-7_DOWN"},
                        220, 25);
}

}  // namespace
}  // namespace dadsim::sim
