// Tests the layout of a platform for collectives. Each test builds one platform in its own process.
#include "sim/network/rank_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/built_platform.hpp"
#include "sim/declared.hpp"
#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "sim/star.hpp"

namespace dadsim::sim {
namespace {

/// Returns nodes of eight GPUs behind a switch, with eight adapters each, on a fat tree.
spec::GpuClusterSpec nodes_of_eight(std::int64_t nodes, const std::string& port, const std::string& nic) {
  spec::GpuClusterSpec cluster;
  cluster.nodes = nodes;
  cluster.gpus = 8;
  cluster.port = *find_link(port);
  cluster.rails = 8;
  cluster.nic = *find_link(nic);
  cluster.fabric.kind = spec::FabricSpec::Kind::fat_tree;
  cluster.fabric.link = cluster.nic;
  cluster.fabric.nodes_per_switch = 4;
  return cluster;
}

/// Returns the layout of the first `count` hosts (0: all), which have these devices in turn, or unknown devices.
collectives::RankLayout layout_on(const spec::PlatformSpec& platform, std::size_t count = 0,
                                  const std::vector<std::string>& of = {}) {
  const auto engine = load_engine(platform);
  std::vector<std::string> names = host_names(platform);
  if (count > 0) names.resize(count);
  std::vector<simgrid::s4u::Host*> hosts;
  for (const std::string& name : names) hosts.push_back(engine->host_by_name(name));
  Interconnect network(*engine, false, spec::Transport::plain);
  std::vector<const spec::DeviceSpec*> devices;
  for (std::size_t i = 0; i < hosts.size() && !of.empty(); ++i) {
    devices.push_back(&*std::ranges::find(device_catalog().all(), of[i % of.size()], &spec::DeviceSpec::name));
  }
  return rank_layout(hosts, network, devices);
}

// The platform equals platforms/dgx-h100-pod.xml.
TEST(RankLayout, NodesOfH100AreSwitchedAndTheSwitchAddsUp) {
  const collectives::RankLayout layout = layout_on({"", nodes_of_eight(32, "nvlink-4", "ib-ndr"), {}, {}});
  EXPECT_EQ(layout.library, spec::CollectiveLibrary::nccl);
  EXPECT_EQ(layout.generation, spec::GpuGeneration::hopper);
  EXPECT_TRUE(layout.nvlink_inside);
  EXPECT_TRUE(layout.switch_adds_up);
  EXPECT_TRUE(layout.is_hierarchical());
  EXPECT_EQ(layout.ranks(), 256);
  EXPECT_EQ(layout.ranks_per_node(), 8);
  EXPECT_GT(layout.inside.bandwidth, layout.between.bandwidth);
  EXPECT_LT(layout.inside.latency, layout.between.latency);
}

TEST(RankLayout, SoIsOneNodeByItself) {
  const collectives::RankLayout layout = layout_on({"", nodes_of_eight(4, "nvlink-4", "ib-ndr"), {}, {}}, 8);
  EXPECT_EQ(layout.library, spec::CollectiveLibrary::nccl);
  EXPECT_EQ(layout.generation, spec::GpuGeneration::hopper);
  EXPECT_TRUE(layout.nvlink_inside);
  EXPECT_TRUE(layout.switch_adds_up);
  EXPECT_EQ(layout.between.bandwidth, layout.inside.bandwidth);
  EXPECT_EQ(layout.between.latency, layout.inside.latency);
}

TEST(RankLayout, OfNodesOfTwoKindsHasWhatTheSlowerHave) {
  spec::GpuClusterSpec cluster = nodes_of_eight(2, "nvlink-4", "ib-ndr");
  cluster.more.push_back({2, 8, *find_link("nvlink-3"), 2, *find_link("ib-hdr")});
  const collectives::RankLayout layout = layout_on({"", cluster, {}, {}});
  EXPECT_TRUE(layout.is_hierarchical());
  EXPECT_TRUE(layout.nvlink_inside);
  EXPECT_FALSE(layout.switch_adds_up) << "NVLink SHARP came with Hopper";
  EXPECT_EQ(layout.rails, 2);
  EXPECT_EQ(layout.adapter_bandwidth, find_link("ib-hdr")->bandwidth);
  EXPECT_LT(layout.inside.bandwidth, find_link("nvlink-4")->bandwidth * 0.7);
  EXPECT_LE(layout.between.bandwidth, find_link("ib-hdr")->bandwidth);
}

// The platform equals platforms/dgx-a100-pod.xml. NVLink SHARP requires Hopper or later.
TEST(RankLayout, TheSwitchOfA100DoesNotAddUp) {
  const collectives::RankLayout layout = layout_on({"", nodes_of_eight(16, "nvlink-3", "ib-hdr"), {}, {}});
  EXPECT_EQ(layout.generation, spec::GpuGeneration::ampere);
  EXPECT_FALSE(layout.switch_adds_up);
}

// The platform equals platforms/mi300x-pod.xml.
TEST(RankLayout, NodesOfXgmiAreMeshes) {
  spec::GpuClusterSpec cluster = nodes_of_eight(4, "xgmi-mi300x", "roce-400");
  cluster.inside = spec::InsideNode::mesh;
  const collectives::RankLayout layout = layout_on({"", cluster, {}, {}});
  EXPECT_TRUE(layout.meshed_nodes);
  EXPECT_EQ(layout.library, spec::CollectiveLibrary::rccl);
  EXPECT_FALSE(layout.switch_adds_up);
  EXPECT_EQ(layout.rails, 8);
  EXPECT_GT(layout.start_seconds, 0);
  EXPECT_GT(layout.tree_latency, layout.between.latency);
}

/// Returns 12 TPU v6e in a torus of 4 × 3, with four links each.
spec::PlatformSpec pod_of_tpus() {
  spec::GpuClusterSpec pod;
  pod.nodes = 12;
  pod.gpus = 1;
  pod.rails = 4;
  pod.nic = *find_link("ici-v6e");
  pod.fabric.kind = spec::FabricSpec::Kind::torus;
  pod.fabric.link = pod.nic;
  pod.fabric.dimensions = {4, 3};
  return {"", pod, {}, {}};
}

TEST(RankLayout, ChipsOfATorusOfTpusAreUnderXla) {
  const collectives::RankLayout all = layout_on(pod_of_tpus());
  EXPECT_EQ(all.library, spec::CollectiveLibrary::xla);
  EXPECT_EQ(all.torus, (std::vector<collectives::Rank>{4, 3}));
  EXPECT_EQ(all.start_seconds, 0);
  EXPECT_NEAR(all.between.bandwidth, 90e9, 1e6) << "one link of the way";
}

TEST(RankLayout, ASliceOfATorusIsATorus) {
  EXPECT_EQ(layout_on(pod_of_tpus(), 8).torus, (std::vector<collectives::Rank>{4, 2}));
}

TEST(RankLayout, ChipsThatFillNoGridAreNoTorus) {
  EXPECT_EQ(layout_on(pod_of_tpus(), 6).torus, std::vector<collectives::Rank>());
}

TEST(RankLayout, TheDevicesOfATorusDecideTheLibrary) {
  EXPECT_EQ(layout_on(pod_of_tpus(), 0, {"h100-sxm5"}).library, spec::CollectiveLibrary::nccl);
}

TEST(RankLayout, HasARailForEveryAdapterOfANode) {
  EXPECT_EQ(layout_on({"", nodes_of_eight(4, "nvlink-3", "ib-hdr"), {}, {}}).rails, 8);
}

TEST(RankLayout, KnowsTheAdaptersOfANodeAndWhetherTheFabricAddsUp) {
  spec::GpuClusterSpec cluster = nodes_of_eight(4, "nvlink-3", "ib-hdr");
  cluster.rails = 2;
  cluster.fabric.adds_up = true;
  const collectives::RankLayout layout = layout_on({"", cluster, {}, {}});
  EXPECT_EQ(layout.rails, 2);
  EXPECT_TRUE(layout.fabric_adds_up);
  EXPECT_FALSE(layout.meshed_nodes);
  EXPECT_EQ(layout.tree_latency, 0);
  EXPECT_GT(layout.between.bulk_latency, layout.between.latency);
}

TEST(RankLayout, PcieSlotsAreNoSwitchOfNvlink) {
  const collectives::RankLayout layout = layout_on({"", nodes_of_eight(4, "pcie-4", "ib-hdr"), {}, {}});
  EXPECT_EQ(layout.library, spec::CollectiveLibrary::nccl);
  EXPECT_FALSE(layout.nvlink_inside);
  EXPECT_FALSE(layout.switch_adds_up);
  EXPECT_TRUE(layout.is_hierarchical());
}

TEST(RankLayout, NvlinkThroughABridgeIsNoSwitch) {
  spec::GpuClusterSpec cluster = nodes_of_eight(4, "nvlink-4", "ib-hdr");
  cluster.inside = spec::InsideNode::shared;
  cluster.bridge = *find_link("pcie-4");
  const collectives::RankLayout layout = layout_on({"", cluster, {}, {}});
  EXPECT_FALSE(layout.switch_adds_up);
}

TEST(RankLayout, HostsOfOneGpuOnAFatTreeHaveNoSwitchInside) {
  spec::GpuClusterSpec cluster = nodes_of_eight(16, "nvlink-4", "ib-ndr");
  cluster.gpus = 1;
  cluster.rails = 1;
  const collectives::RankLayout layout = layout_on({"", cluster, {}, {}});
  EXPECT_EQ(layout.library, spec::CollectiveLibrary::nccl);
  EXPECT_FALSE(layout.switch_adds_up);
  EXPECT_FALSE(layout.is_hierarchical());
  EXPECT_EQ(layout.ranks_per_node(), 1);
  EXPECT_EQ(layout.inside.bandwidth, layout.between.bandwidth);
  EXPECT_EQ(layout.inside.latency, layout.between.latency);
}

// A mesh with a given bandwidth equals the catalogue's mesh of that bandwidth.
TEST(RankLayout, AMeshByItsBandwidthIsTheOneOfTheCatalogue) {
  spec::GpuClusterSpec cluster = nodes_of_eight(1, "xgmi-mi300x", "roce-400");
  cluster.inside = spec::InsideNode::mesh;
  cluster.port.name = "gpu-cluster inside";
  const collectives::RankLayout layout = layout_on({"", cluster, {}, {}});
  EXPECT_TRUE(layout.meshed_nodes);
  EXPECT_EQ(layout.library, spec::CollectiveLibrary::rccl);
  EXPECT_NEAR(layout.inside.bandwidth, 48e9, 1);
  EXPECT_NEAR(layout.inside.latency, 0.5e-6 + 1.2e-6, 1e-9) << "xGMI's LL";
}

void expect_gpus_over_sockets(std::int64_t gpus) {
  spec::GpuClusterSpec cluster = nodes_of_eight(4, "nvlink-3", "ethernet-25g");
  cluster.gpus = gpus;
  cluster.rails = 1;
  const collectives::RankLayout layout = layout_on({"", cluster, {}, {}});
  EXPECT_EQ(layout.library, spec::CollectiveLibrary::nccl);
  EXPECT_TRUE(layout.over_sockets);
  EXPECT_EQ(layout.rails, 1);
  EXPECT_NEAR(layout.adapter_bandwidth, 25e9 / 8, 1);
  EXPECT_EQ(layout.between.ll128_latency, 0);
  EXPECT_GT(layout.start_seconds, 0);
  EXPECT_EQ(layout.rail_of, std::vector<std::int32_t>(static_cast<std::size_t>(4 * gpus), 0));
}

// GPUs use their vendor's library over any fabric.
TEST(RankLayout, GpusOverSocketsHaveTheirLibrary) { expect_gpus_over_sockets(8); }
TEST(RankLayout, SoHasOneGpuToANode) { expect_gpus_over_sockets(1); }

// Returns four GPUs of a federation; the devices determine the library.
spec::PlatformSpec four_hospitals() {
  spec::FederationSpec federation;
  const spec::LinkSpec line = test::line(1e9 / 8, 5e-3, spec::Transport::tcp);
  federation.sites = {{"hospital", 4, true, line, line}};
  return {"", federation, {}, {}};
}

TEST(RankLayout, GpusOfAFederationHaveTheLibraryOfTheirMaker) {
  const collectives::RankLayout layout = layout_on(four_hospitals(), 4, {"h100-pcie"});
  EXPECT_EQ(layout.library, spec::CollectiveLibrary::nccl);
  EXPECT_EQ(layout.generation, spec::GpuGeneration::hopper);
  EXPECT_TRUE(layout.over_sockets);
  EXPECT_GT(layout.start_seconds, 0);
}
TEST(RankLayout, SoHaveThoseOfAmd) {
  EXPECT_EQ(layout_on(four_hospitals(), 4, {"mi300x"}).library, spec::CollectiveLibrary::rccl);
}
TEST(RankLayout, TheOldestOfTheirGpusCounts) {
  EXPECT_EQ(layout_on(four_hospitals(), 4, {"h100-pcie", "t4"}).generation, spec::GpuGeneration::volta);
}
TEST(RankLayout, DevicesOfDifferentLibrariesHaveMpi) {
  const collectives::RankLayout layout = layout_on(four_hospitals(), 4, {"h100-pcie", "mi300x"});
  EXPECT_EQ(layout.library, spec::CollectiveLibrary::mpi);
  EXPECT_EQ(layout.start_seconds, 0);
}
TEST(RankLayout, CpusHaveMpiInAGpuClusterToo) {
  EXPECT_EQ(layout_on({"", nodes_of_eight(4, "nvlink-4", "ib-ndr"), {}, {}}, 0, {"epyc-9654"}).library,
            spec::CollectiveLibrary::mpi);
}
TEST(RankLayout, WithoutDevicesThePlatformSaysIt) {
  EXPECT_EQ(layout_on(four_hospitals(), 4).library, spec::CollectiveLibrary::mpi);
}
TEST(RankLayout, ADeviceWhoseLibraryIsNotKnownLeavesItToThePlatform) {
  EXPECT_EQ(layout_on({"", nodes_of_eight(4, "nvlink-4", "ib-ndr"), {}, {}}, 0, {"trainium-2"}).library,
            spec::CollectiveLibrary::nccl);
}
TEST(RankLayout, ALibraryThatIsGivenOverrulesTheDevices) {
  spec::GpuClusterSpec cluster = nodes_of_eight(4, "pcie-4", "ib-hdr");
  cluster.port.library = spec::CollectiveLibrary::rccl;
  cluster.library_is_given = true;
  EXPECT_EQ(layout_on({"", cluster, {}, {}}, 0, {"h100-pcie"}).library, spec::CollectiveLibrary::rccl);
}

TEST(RankLayout, HospitalsAreNodesOfTheirOwn) {
  spec::PlatformSpec platform = test::platform_file(std::string(DADSIM_SOURCE_DIR) + "/platforms/hospitals.xml");
  const auto engine = load_engine(platform);
  std::vector<simgrid::s4u::Host*> hosts;
  for (const char* name : {"hospital-1", "hospital-2", "hospital-3", "hospital-4", "hospital-5", "hub"}) {
    hosts.push_back(engine->host_by_name(name));
  }
  Interconnect network(*engine, false, spec::Transport::tcp);
  const collectives::RankLayout layout = rank_layout(hosts, network);
  EXPECT_EQ(layout.library, spec::CollectiveLibrary::mpi);
  EXPECT_FALSE(layout.switch_adds_up);
  EXPECT_EQ(layout.node_of, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(layout.inside.bandwidth, layout.between.bandwidth);
  EXPECT_EQ(layout.inside.latency, layout.between.latency);
}

// Each of the two clusters has a fabric of its own. The platform equals platforms/two-clusters-wan.xml.
TEST(RankLayout, ClustersFarApartAreNotOneFabric) {
  spec::CompositionSpec composition;
  for (const char* name : {"east", "west"}) {
    spec::GpuClusterSpec cluster = nodes_of_eight(4, "nvlink-3", "ib-hdr");
    cluster.name = name;
    composition.clusters.emplace_back(cluster);
  }
  composition.pairs = {{"east", "west", 1.25e9, 90e-3, spec::Transport::tcp},
                       {"west", "east", 1.25e9, 90e-3, spec::Transport::tcp}};
  const collectives::RankLayout layout = layout_on({"", composition, {}, {}});
  EXPECT_EQ(layout.library, spec::CollectiveLibrary::mpi);
  EXPECT_EQ(layout.ranks(), 64);
}

}  // namespace
}  // namespace dadsim::sim
