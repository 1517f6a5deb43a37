#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenario/document/load.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/malformed_cases.hpp"
#include "scenario/same.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

constexpr double kTcpShare = 1448.0 / 1514.0;

class Platform : public testing::Test {
 protected:
  spec::PlatformSpec read(const std::string& inside) const {
    return scenario::load_platform_file(
        folder_.write("cluster.xml", "<cluster-platform>" + inside + "</cluster-platform>"), fake_catalog());
  }
  template <class Kind>
  Kind read_as(const std::string& inside) const {
    return std::get<Kind>(read(inside).what);
  }
  /// Reads a federation with one <sites> element, and returns this element.
  spec::FederationSpec::Sites sites(const std::string& attributes) const {
    return read_as<spec::FederationSpec>("<federation><sites name=\"x\" " + attributes + "/></federation>").sites.at(0);
  }

  TemporaryFolder folder_;
};

TEST_F(Platform, GpuClusterWithASwitchInsideEachNode) {
  const auto cluster =
      read_as<spec::GpuClusterSpec>(R"(<gpu-cluster nodes="2" gpus="4" inside="nvlink-4" nic="ib-ndr"/>)");
  EXPECT_EQ(cluster.name, "");
  EXPECT_EQ(cluster.nodes, 2);
  EXPECT_EQ(cluster.gpus, 4);
  EXPECT_EQ(cluster.inside, spec::InsideNode::switched);
  EXPECT_EQ(cluster.port, fake_catalog().links.at(0));
  EXPECT_EQ(cluster.bridge.bandwidth, 0);
  EXPECT_EQ(cluster.rails, 1);
  EXPECT_EQ(cluster.nic.name, "ib-ndr");
  EXPECT_EQ(cluster.nic.bandwidth, 50e9);
  EXPECT_EQ(cluster.fabric.kind, spec::FabricSpec::Kind::one_switch);
}

TEST_F(Platform, GpuClusterWithABridgeInsideEachNode) {
  const auto cluster = read_as<spec::GpuClusterSpec>(
      R"(<gpu-cluster nodes="2" gpus="4" inside="pcie-3" bridge="ib-edr" rails="2" nic="ib-ndr"><one-switch/></gpu-cluster>)");
  EXPECT_EQ(cluster.inside, spec::InsideNode::shared);
  EXPECT_EQ(cluster.port.name, "pcie-3");
  EXPECT_EQ(cluster.bridge.name, "ib-edr");
  EXPECT_EQ(cluster.rails, 2);
}

TEST_F(Platform, GpuClusterWithLinksOfOnesOwn) {
  auto cluster = read_as<spec::GpuClusterSpec>(
      R"(<gpu-cluster nodes="4" gpus="2" inside="300GBps" nic="25Gbps" nic-latency="3us"><fat-tree link="40Gbps" nodes-per-switch="2"/></gpu-cluster>)");
  EXPECT_EQ(cluster.port.bandwidth, 300e9);
  EXPECT_EQ(cluster.port.transport, spec::Transport::nvlink);
  EXPECT_EQ(cluster.nic.bandwidth, 25e9 / 8);
  EXPECT_EQ(cluster.nic.latency, 3e-6);
  EXPECT_EQ(cluster.nic.transport, spec::Transport::tcp);
  EXPECT_NEAR(cluster.nic.efficiency, 1448.0 / 1514, 1e-12);
  EXPECT_EQ(cluster.fabric.link.bandwidth, 5e9);
  EXPECT_EQ(cluster.fabric.link.latency, 1e-6);
  EXPECT_FALSE(cluster.fabric.adds_up);
  cluster = read_as<spec::GpuClusterSpec>(
      R"(<gpu-cluster nodes="4" gpus="2" inside="nvlink-4" inside-latency="1us" mesh="true" nic="25Gbps" transport="rdma"><one-switch sharp="true"/></gpu-cluster>)");
  EXPECT_EQ(cluster.inside, spec::InsideNode::mesh);
  EXPECT_EQ(cluster.port.name, "nvlink-4");
  EXPECT_EQ(cluster.port.latency, 1e-6);
  EXPECT_EQ(cluster.nic.transport, spec::Transport::rdma);
  EXPECT_EQ(cluster.nic.efficiency, 1);
  EXPECT_TRUE(cluster.fabric.adds_up);
}

TEST_F(Platform, GpuClusterWithNodesOfSeveralKinds) {
  const std::string more = R"(<more-nodes nodes="3" gpus="2" inside="pcie-3" rails="1" nic="ib-edr"/>)";
  const auto cluster = read_as<spec::GpuClusterSpec>(
      R"(<gpu-cluster nodes="2" gpus="4" inside="nvlink-4" rails="4" nic="ib-ndr"><more-nodes nodes="1"/>)" + more +
      R"(<fat-tree link="ib-ndr" nodes-per-switch="2"/></gpu-cluster>)");
  ASSERT_EQ(cluster.more.size(), 2U);
  EXPECT_EQ(cluster.more[0], (spec::NodeGroup{1, 4, cluster.port, 4, cluster.nic}));
  EXPECT_EQ(cluster.more[1].gpus, 2);
  EXPECT_EQ(cluster.more[1].port.name, "pcie-3");
  EXPECT_EQ(cluster.more[1].rails, 1);
  EXPECT_EQ(cluster.more[1].nic.name, "ib-edr");
  EXPECT_EQ(all_nodes(cluster), 6);
  EXPECT_EQ(all_gpus(cluster), 18);
  EXPECT_EQ(read_as<spec::GpuClusterSpec>(R"(<gpu-cluster nodes="2" gpus="2" inside="nvlink-4" nic="ib-ndr">)" + more +
                                          R"(<torus link="ib-ndr" dimensions="5"/></gpu-cluster>)")
                .fabric.dimensions.at(0),
            5);
}

TEST_F(Platform, GpuClusterWithNodesThatDoNotFit) {
  const auto refused = [&](const std::string& more, const std::string& why) {
    try {
      read(R"(<gpu-cluster nodes="2" gpus="8" inside="nvlink-4" rails="8" nic="ib-ndr">)" + more + "</gpu-cluster>");
      ADD_FAILURE() << more << " is accepted";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  refused(R"(<more-nodes nodes="1" gpus="3"/>)", "are more than the 3 GPUs of a node, but not a multiple of the GPUs");
  refused(R"(<more-nodes nodes="1" nic="ethernet-10g"/>)", "uses tcp, but the adapters of the other nodes use rdma");
  refused(R"(<more-nodes nodes="1" gpus="1" rails="1" inside="pcie-3"/>)", "needs several GPUs per node");
  refused(R"(<more-nodes nodes="1" nic-latency="1us"/>)", "needs 'nic'");
  refused(R"(<more-nodes nodes="1" gpus="1" rails="1" bridge="pcie-3"/>)", "needs several GPUs per node");
  refused(R"(<more-nodes nodes="1" mesh="true" bridge="pcie-3"/>)",
          "cannot be combined with 'bridge'; remove one of them");
  refused(R"(<more-nodes nodes="1" bridge-latency="1us"/>)", "needs 'bridge'");
  refused(R"(<more-nodes nodes="1" slot-gpus="2"/>)", "needs 'slot'; add slot=\"pcie-5\"");
  refused(R"(<more-nodes nodes="1" slot="pcie-3" slot-gpus="3"/>)",
          "does not divide the 8 GPUs of a node; use a divisor");
  refused(R"(<more-nodes nodes="1"/><torus link="ib-ndr" dimensions="2"/>)", "the cluster has 3");
}

TEST_F(Platform, SlotsThatGpusShare) {
  const auto cluster = read_as<spec::GpuClusterSpec>(
      R"(<gpu-cluster nodes="2" gpus="8" inside="pcie-3" bridge="20GBps" rails="2" nic="ib-ndr" slot="12GBps" slot-gpus="4"><more-nodes nodes="1" gpus="4" rails="1" mesh="false" slot-gpus="2"/><more-nodes nodes="1" bridge="9GBps" slot="5GBps"/></gpu-cluster>)");
  const std::vector<spec::NodeGroup> groups = node_groups(cluster);
  ASSERT_EQ(groups.size(), 3U);
  const auto is = [&](std::size_t group, spec::InsideNode inside, double bridge, double slot, std::int64_t gpus) {
    EXPECT_EQ(groups[group].inside, inside) << group;
    EXPECT_EQ(groups[group].bridge.bandwidth, bridge) << group;
    EXPECT_EQ(groups[group].slot->bandwidth, slot) << group;
    EXPECT_EQ(groups[group].slot_gpus, gpus) << group;
  };
  is(0, spec::InsideNode::shared, 20e9, 12e9, 4);
  is(1, spec::InsideNode::switched, 0, 12e9, 2);
  is(2, spec::InsideNode::shared, 9e9, 5e9, 4);
  try {
    read(
        R"(<gpu-cluster nodes="2" gpus="8" inside="nvlink-4" rails="8" nic="ib-ndr" slot="pcie-3" slot-gpus="4"><more-nodes nodes="1" gpus="2" rails="2"/></gpu-cluster>)");
    ADD_FAILURE() << "two GPUs behind slots of four";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("<more-nodes> takes slots of 4 GPUs from <gpu-cluster>, which do not divide the 2 "
                        "GPUs of a node; set slot-gpus=\"1\""),
              std::string::npos)
        << error.what();
  }
}

TEST_F(Platform, GpuClusterWhosePortsHoldWhatPassesInATime) {
  const auto queue = [&](const std::string& nic) {
    return read_as<spec::GpuClusterSpec>("<gpu-cluster nodes=\"2\" gpus=\"1\" nic=\"" + nic + "\"/>").nic.queue_bytes;
  };
  EXPECT_EQ(queue("1Gbps"), 3e5);
  EXPECT_NEAR(queue("9Gbps"), 3.6e5, 1);
  EXPECT_NEAR(queue("10Gbps"), 4e5, 1);
  EXPECT_NEAR(queue("25Gbps"), 1e6, 1);
  EXPECT_EQ(queue("900Gbps"), 16e6);
}

TEST_F(Platform, GpuClusterWithALibraryAndATransportInside) {
  const auto cluster = [&](const std::string& attributes) {
    return read_as<spec::GpuClusterSpec>("<gpu-cluster nodes=\"2\" nic=\"ib-ndr\" " + attributes + "/>");
  };
  EXPECT_FALSE(cluster(R"(gpus="2" inside="50GBps")").library_is_given);
  EXPECT_EQ(cluster(R"(gpus="2" inside="50GBps")").port.library, spec::CollectiveLibrary::nccl);
  const spec::GpuClusterSpec xgmi = cluster(R"(gpus="2" inside="50GBps" inside-transport="rdma" library="rccl")");
  EXPECT_TRUE(xgmi.library_is_given);
  EXPECT_EQ(xgmi.port.library, spec::CollectiveLibrary::rccl);
  EXPECT_EQ(xgmi.port.transport, spec::Transport::rdma);
  EXPECT_EQ(xgmi.port.costs, spec::MessageCosts::xgmi);
  EXPECT_EQ(cluster(R"(gpus="2" inside="50GBps" inside-transport="rdma")").port.costs, spec::MessageCosts::pcie);
  EXPECT_EQ(cluster(R"(gpus="2" inside="50GBps" inside-transport="tcp")").port.transport, spec::Transport::tcp);
  EXPECT_EQ(cluster(R"(gpus="1" library="rccl")").port.library, spec::CollectiveLibrary::rccl);
  const spec::GpuClusterSpec pcie = cluster(R"(gpus="2" inside="pcie-3" library="rccl")");
  EXPECT_EQ(pcie.port.library, spec::CollectiveLibrary::rccl);
  EXPECT_EQ(pcie.port.costs, fake_catalog().links.at(1).costs);
}

TEST_F(Platform, BbrIsAQueueThatIsNeverFull) {
  EXPECT_EQ(sites(R"(up="10Mbps" down="10Mbps" latency="5ms" congestion="bbr")").up.queue_bytes, 1e9);
  EXPECT_EQ(sites(R"(up="10Mbps" down="10Mbps" latency="5ms" congestion="cubic")").up.queue_bytes, 3e5);
  const auto pair = [&](const std::string& attributes) {
    return read_as<spec::WanSpec>(
               "<wan host=\"ethernet-10g\"><region name=\"a\" hosts=\"1\"/><region name=\"b\" "
               "hosts=\"1\"/><pair from=\"a\" to=\"b\" bandwidth=\"1Gbps\" round-trip=\"20ms\"" +
               attributes + "/></wan>")
        .pairs.at(0);
  };
  EXPECT_EQ(pair(" measured=\"wire\"").queue_bytes, 3e5);
  EXPECT_EQ(pair(" queue=\"2MB\"").queue_bytes, 2e6);
  EXPECT_EQ(pair(" congestion=\"bbr\"").queue_bytes, 1e9);
}

TEST_F(Platform, BandwidthsThatWereMeasured) {
  const spec::FederationSpec::Sites given =
      sites(R"(up="10Mbps" down="cable-down" latency="5ms" measured="goodput" per-connection="4Mbps")");
  for (const spec::LinkSpec& link : {given.up, given.down}) {
    EXPECT_TRUE(link.is_goodput);
    EXPECT_EQ(link.efficiency, 1);
    EXPECT_EQ(link.per_connection, 5e5);
  }
  EXPECT_FALSE(sites(R"(up="10Mbps" down="10Mbps" latency="5ms")").up.is_goodput) << "lines of sites are the wire's";

  const auto wan = [&](const std::string& host, const std::string& pair) {
    return read_as<spec::WanSpec>(fmt::format(R"(<wan {}><region name="a" hosts="1"/><region name="b" hosts="1"/>
                       <pair from="a" to="b" bandwidth="1Gbps" round-trip="20ms"{}/></wan>)",
                                              host, pair));
  };
  const std::string own = R"(host-bandwidth="8Gbps" host-latency="1ms")";
  const spec::WanSpec measured = wan(own, " per-connection=\"80Mbps\"");
  EXPECT_TRUE(measured.host.is_goodput);
  EXPECT_EQ(measured.host.efficiency, 1);
  EXPECT_TRUE(measured.pairs[1].is_goodput);
  EXPECT_EQ(measured.pairs[1].per_connection, 1e7);
  const spec::WanSpec queued = wan(own + " queue=\"2MB\"", " queue=\"1MB\"");
  EXPECT_FALSE(queued.host.is_goodput);
  EXPECT_EQ(queued.host.efficiency, kTcpShare);
  EXPECT_FALSE(queued.pairs[0].is_goodput);
  // The default queue has the bandwidth-delay product of the longest route: two host lines in both directions, and the
  // pair.
  EXPECT_NEAR(wan(own + " measured=\"wire\"", "").host.queue_bytes, 1e9 * (0.02 + 4 * 0.001), 1);
  EXPECT_FALSE(wan("host=\"ethernet-10g\"", "").host.is_goodput);
  EXPECT_GT(wan("host=\"ethernet-10g\"", "").host.queue_bytes, 1.25e9 * 0.02);
}

TEST_F(Platform, Fabrics) {
  const auto fabric = [&](const std::string& element) {
    return read_as<spec::GpuClusterSpec>("<gpu-cluster nodes=\"12\" gpus=\"1\" nic=\"ib-ndr\">" + element +
                                         "</gpu-cluster>")
        .fabric;
  };
  const spec::FabricSpec tree = fabric(R"(<fat-tree link="ib-edr" nodes-per-switch="4" oversubscription="2.5"/>)");
  EXPECT_EQ(tree.kind, spec::FabricSpec::Kind::fat_tree);
  EXPECT_EQ(tree.link.name, "ib-edr");
  EXPECT_EQ(tree.nodes_per_switch, 4);
  EXPECT_EQ(tree.oversubscription, 2.5);
  EXPECT_EQ(fabric(R"(<fat-tree link="ib-edr" nodes-per-switch="16"/>)").oversubscription, 1);
  const spec::FabricSpec dragonfly = fabric(R"(<dragonfly link="ib-edr" groups="3" routers="2" nodes="2"/>)");
  EXPECT_EQ(dragonfly.kind, spec::FabricSpec::Kind::dragonfly);
  EXPECT_EQ(dragonfly.dimensions, (std::vector<std::int64_t>{3, 2, 2}));
  const spec::FabricSpec torus = fabric(R"(<torus link="ib-edr" dimensions="2x3x2"/>)");
  EXPECT_EQ(torus.kind, spec::FabricSpec::Kind::torus);
  EXPECT_EQ(torus.dimensions, (std::vector<std::int64_t>{2, 3, 2}));
}

TEST_F(Platform, SitesByBandwidthAreOverTcpUnlessTheySayOtherwise) {
  const spec::FederationSpec::Sites one = sites(R"(up="10Mbps" down="50Mbps" latency="8ms")");
  EXPECT_EQ(one.name, "x");
  EXPECT_EQ(one.count, 1);
  EXPECT_FALSE(one.numbered);
  EXPECT_EQ(one.up,
            (spec::LinkSpec{"x up", 1.25e6, 8e-3, spec::Transport::tcp, kTcpShare, 3e5, "defined in the platform"}));
  EXPECT_EQ(one.down,
            (spec::LinkSpec{"x down", 6.25e6, 8e-3, spec::Transport::tcp, kTcpShare, 3e5, "defined in the platform"}));

  const spec::FederationSpec::Sites other =
      sites(R"(count="1" up="10Mbps" down="50Mbps" up-latency="1ms" down-latency="2ms" transport="rdma")");
  EXPECT_TRUE(other.numbered);
  EXPECT_EQ(other.up.latency, 1e-3);
  EXPECT_EQ(other.down.latency, 2e-3);
  EXPECT_EQ(other.up.transport, spec::Transport::rdma);
  EXPECT_EQ(other.up.efficiency, 1);

  const spec::FederationSpec::Sites own =
      sites(R"(up="10Mbps" down="50Mbps" latency="3ms" down-latency="0" efficiency="0.5" queue="1MB")");
  EXPECT_EQ(own.up.latency, 3e-3);
  EXPECT_EQ(own.down.latency, 0);
  EXPECT_EQ(own.up.efficiency, 0.5);
  EXPECT_EQ(own.down.queue_bytes, 1e6);
}

TEST_F(Platform, SitesByTheCatalogueBringTheirOwnNumbers) {
  const std::vector<spec::LinkSpec> links = fake_catalog().links;
  const spec::FederationSpec::Sites as_they_are = sites(R"(count="3" up="cable-up" down="cable-down")");
  EXPECT_EQ(as_they_are.up, links.at(6));
  EXPECT_EQ(as_they_are.down, links.at(7));
  const spec::FederationSpec::Sites changed =
      sites(R"(up="ib-ndr" down="cable-down" transport="tcp" up-latency="1ms")");
  EXPECT_EQ(changed.up.name, "ib-ndr");
  EXPECT_EQ(changed.up.latency, 1e-3);
  EXPECT_EQ(changed.down.latency, 8e-3);
  EXPECT_EQ(changed.up.efficiency, kTcpShare) << "the share of another transport does not hold";
  EXPECT_EQ(changed.down.efficiency, 0.95) << "its own transport, its own share";
  const spec::FederationSpec::Sites mixed = sites(R"(up="ib-ndr" down="cable-down" queue="1kB")");
  EXPECT_EQ(mixed.up.queue_bytes, 3e5) << "no queue without tcp";
  EXPECT_EQ(mixed.down.queue_bytes, 1e3);
}

TEST_F(Platform, HubIsNoLimitUnlessGiven) {
  EXPECT_EQ(read_as<spec::FederationSpec>(kFederation).hub_up, spec::LinkSpec{});
  const auto federation = read_as<spec::FederationSpec>("<federation>" + kSites +
                                                        R"(<hub up="1Gbps" down="2Gbps" latency="0"/></federation>)");
  EXPECT_EQ(federation.hub_up.name, "hub up");
  EXPECT_EQ(federation.hub_up.bandwidth, 1.25e8);
  EXPECT_EQ(federation.hub_down.bandwidth, 2.5e8);
  EXPECT_EQ(federation.hub_down.latency, 0);
}

TEST_F(Platform, PairsOfRegionsComeFromTheTable) {
  const auto wan = read_as<spec::WanSpec>(R"(
    <wan host="ethernet-1g" host-latency="1ms">
      <region name="aws:us-east-1" hosts="2"/><region name="aws:eu-west-1" hosts="1"/><region name="home" hosts="1"/>
      <pair from="home" to="aws:us-east-1" bandwidth="10Mbps" round-trip="80ms" transport="plain"/>
      <pair from="home" to="aws:eu-west-1" bandwidth="20Mbps" round-trip="10ms"/>
      <pair from="aws:us-east-1" to="aws:eu-west-1" bandwidth="1Gbps" round-trip="70ms" one-way="true"/>
    </wan>)");
  EXPECT_EQ(wan.host.name, "ethernet-1g");
  EXPECT_EQ(wan.host.latency, 1e-3);
  EXPECT_EQ(wan.regions.at(0).hosts, 2);
  const std::vector<spec::WanSpec::Pair> expected = {
      {"aws:us-east-1", "aws:eu-west-1", 1.25e8, 0.07, spec::Transport::tcp, 3e5, true},
      {"aws:us-east-1", "home", 1.25e6, 0.08, spec::Transport::plain},
      {"aws:eu-west-1", "aws:us-east-1", 6e8, 0.07, spec::Transport::tcp},  // from the table of regions
      {"aws:eu-west-1", "home", 2.5e6, 0.01, spec::Transport::tcp, 3e5, true},
      {"home", "aws:us-east-1", 1.25e6, 0.08, spec::Transport::plain},
      {"home", "aws:eu-west-1", 2.5e6, 0.01, spec::Transport::tcp, 3e5, true}};
  EXPECT_TRUE(Same::same(wan.pairs, expected));
}

TEST_F(Platform, HostsOfAWanByBandwidth) {
  const auto wan = read_as<spec::WanSpec>(
      R"(<wan host-bandwidth="200Mbps" host-latency="0.05ms" queue="1MB"><region name="left" hosts="4"/></wan>)");
  EXPECT_EQ(wan.host,
            (spec::LinkSpec{"host", 2.5e7, 5e-5, spec::Transport::tcp, kTcpShare, 1e6, "defined in the platform"}));
  EXPECT_TRUE(wan.pairs.empty());
}

TEST_F(Platform, SeveralClustersMakeAComposition) {
  const spec::PlatformSpec platform = read(kTwoClusters + "<federation name=\"c\">" + kSites + "</federation>" +
                                           R"(<pair from="a" to="b" bandwidth="10Gbps" round-trip="90ms"/>
                                        <pair from="c" to="a" bandwidth="1Gbps" round-trip="9ms"/>
                                        <pair from="c" to="b" bandwidth="1Gbps" round-trip="9ms"/>)");
  const auto& composition = std::get<spec::CompositionSpec>(platform.what);
  ASSERT_EQ(composition.clusters.size(), 3U);
  EXPECT_EQ(std::get<spec::GpuClusterSpec>(composition.clusters[1]).name, "b");
  EXPECT_EQ(std::get<spec::FederationSpec>(composition.clusters[2]).name, "c");
  EXPECT_EQ(composition.pairs.size(), 6U);
  const std::vector<std::string> hosts = host_names(platform);
  EXPECT_EQ(hosts.front(), "a.gpu-0");
  EXPECT_EQ(hosts.back(), "c.hub");
}

TEST_F(Platform, OneClusterMayHaveAName) {
  EXPECT_EQ(host_names(read(replaced(kGpuCluster, "nodes", "name=\"left\" nodes"))).at(7), "left.gpu-7");
}

TEST_F(Platform, FileOfSimGridIsRecognisedAndLeftToItsParser) {
  const std::string path = folder_.write(
      "x.xml",
      "\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"a>b\" [<!-- ]> --> <!ENTITY a \"]>\">]>\n"
      "<!-- <cluster-platform/> -->\n<platform\nversion=\"4.1\">");
  const spec::PlatformSpec platform = scenario::load_platform_file(path, fake_catalog());
  EXPECT_EQ(std::get<spec::PlatformFileSpec>(platform.what).path, path);
}

TEST_F(Platform, LoadPlatformFileThrowsAllFindings) {
  const auto refused = [&](const std::string& path) -> std::string {
    try {
      scenario::load_platform_file(path, fake_catalog());
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refused(folder_.path("none.xml")),
            folder_.path("none.xml") + ": no such file; give the path of a platform file");
  EXPECT_EQ(refused(folder_.path("")), folder_.path("") + ": is a folder; give the path of a platform file");
  const std::string path =
      folder_.write("two.xml", "<cluster-platform>\n<wan>\n<regoin/></wan>\n<zone/></cluster-platform>");
  EXPECT_EQ(refused(path),
            path +
                ":2: <wan> lacks 'host'; add a link of the catalogue, e.g. host=\"ethernet-10g\", or "
                "host-bandwidth=\"…\" and "
                "host-latency=\"…\"\n" +
                path +
                ":2: <wan> lacks <region>; add at least one, e.g. <region name=\"aws:us-east-1\" hosts=\"4\"/>\n" +
                path + ":3: unknown element <regoin> in <wan>; did you mean 'region'?\n" + path +
                ":4: unknown element <zone> in <cluster-platform>; one of gpu-cluster, federation, wan, pair, profile, "
                "background, change");
}

// A platform file in dadsim's language equals the same platform inside the scenario, when printed, hashed and checked.
TEST_F(Platform, FileIsTheSameAsTheTextInside) {
  folder_.write("cluster.xml", "<cluster-platform description=\"sites\">" + kFederation + "</cluster-platform>");
  const auto load = [&](const std::string& platform) {
    const std::string text = edited({{R"(<platform file="@PLATFORM@"/>)", platform}});
    return scenario::load_scenario(folder_.write("scenario.xml", text), {}, fake_catalog());
  };
  const scenario::Scenario of_file = load(R"(<platform file="cluster.xml"/>)");
  const scenario::Scenario inside = load("<platform description=\"sites\">" + kFederation + "</platform>");
  EXPECT_EQ(scenario::print_scenario(of_file), print_scenario(inside));
  EXPECT_EQ(of_file.hash, inside.hash);
  EXPECT_EQ(print_scenario(of_file).find("cluster.xml"), std::string::npos);
  const scenario::Scenario renamed = load(R"(<platform file="cluster.xml" description="mine"/>)");
  EXPECT_EQ(renamed.platform.description, "mine");
  EXPECT_NE(load("<platform description=\"sites\">" + replaced(kFederation, "8ms", "9ms") + "</platform>").hash,
            inside.hash);
}

TEST_F(Platform, WhatVariesAddsToAFile) {
  folder_.write("cluster.xml", "<cluster-platform>" + kFederation +
                                   R"(<profile link="a" times="0s" factors="2"/></cluster-platform>)");
  const std::string text = edited({{R"(<platform file="@PLATFORM@"/>)", R"(<platform file="cluster.xml">
    <profile link="b*" times="0s" factors="3"/><background from="hub" to="hospital-5" bytes="1B"/></platform>)"}});
  const spec::PlatformSpec platform = load_scenario(folder_.write("scenario.xml", text), {}, fake_catalog()).platform;
  ASSERT_EQ(platform.profiles.size(), 2U);
  EXPECT_EQ(platform.profiles[1].link, "b*");
  EXPECT_EQ(platform.profiles[1].period, 0);
  EXPECT_EQ(platform.background.at(0).every, 0);
}

// SimGrid checks inline platforms too, but must not repeat the reader's messages about a host.
TEST_F(Platform, AsksAboutDeclaredPlatforms) {
  scenario::Catalog catalog = fake_catalog();
  catalog.check_platform = [](const scenario::Catalog::PlatformQuestion& question) {
    scenario::Catalog::PlatformAnswer answer;
    for (const std::string& host : question.hosts) answer.host_errors.push_back("about " + host);
    EXPECT_TRUE(std::holds_alternative<spec::FederationSpec>(question.platform.what));
    return answer;
  };
  const std::string text = edited({{R"(<platform file="@PLATFORM@"/>)", "<platform>" + kFederation + "</platform>"},
                                   {"hospital-[1-5]", "hospital-1 nobody"}});
  const std::string path = folder_.write("scenario.xml", text);
  try {
    scenario::load_scenario(path, {}, catalog);
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), path + ":5: no host 'nobody' in the platform; hosts are hospital-[1-5] hub\n" + path +
                                ":5: about hospital-1\n" + path + ":6: about hub");
  }
}

TEST_F(Platform, OverridesReachInside) {
  const std::string path = folder_.write("scenario.xml", with_platform(kFederation));
  const scenario::Scenario scenario =
      load_scenario(path,
                    {"platform.federation.sites[hospital].count=7", "platform.federation.hub.up=1Gbps",
                     "platform.federation.hub.down=1Gbps", "platform.federation.hub.latency=1ms",
                     "network.fidelity=message", "network.jitter.spatial=0.5", "workers.worker.hosts=hospital-[1-7]"},
                    fake_catalog());
  const auto& federation = std::get<spec::FederationSpec>(scenario.platform.what);
  EXPECT_EQ(federation.sites.at(0).count, 7);
  EXPECT_EQ(federation.hub_down.latency, 1e-3);
  EXPECT_EQ(scenario.network.fidelity, spec::Fidelity::message);
  EXPECT_EQ(scenario.network.jitter.spatial, 0.5);
  EXPECT_EQ(scenario.workers.size(), 7U);
}

TEST_F(Platform, AsLargeAsAllowed) {
  EXPECT_EQ(host_names(read(R"(<gpu-cluster nodes="12500" gpus="8" inside="nvlink-4" nic="ib-ndr"/>)")).size(),
            100000U);
}

}  // namespace
}  // namespace dadsim::test
