#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/built_platform.hpp"
#include "sim/platform.hpp"
#include "sim/star.hpp"

namespace dadsim::sim {
namespace {

using test::gpu_cluster;
using test::link_spec;
using test::TemporaryFile;

using Names = std::vector<std::string>;

spec::PlatformSpec cluster_of(std::int64_t nodes, std::int64_t gpus, std::int64_t rails) {
  return {"a description", gpu_cluster(nodes, gpus, rails), {}, {}};
}

/// Returns the report on a SimGrid file with this zone.
PlatformReport inspect_file(const std::string& body, spec::Transport transport = spec::Transport::plain,
                            const std::string& routing = "Full") {
  const TemporaryFile file(test::platform_xml(body, routing));
  return inspect_platform({"", spec::PlatformFileSpec{file.path(), transport}, {}, {}});
}

TEST(Inspect, PartsOfAGpuCluster) {
  const PlatformReport report = inspect_platform(cluster_of(4, 2, 2));
  EXPECT_EQ(report.kind, "gpu-cluster");
  EXPECT_EQ(report.description, "a description");
  EXPECT_EQ(report.hosts, 8);
  EXPECT_EQ(report.nodes, 4);
  // 8 adapters and 8 ports have two directions each; loop-backs are not counted.
  const std::vector<PlatformReport::LinkClass> expected{{"nic", 16, 50, 10, "rdma", 0.5},
                                                        {"port", 16, 300, 1, "nvlink", 0.75}};
  EXPECT_EQ(report.links, expected);
}

TEST(Inspect, BestAndWorstRoute) {
  const PlatformReport report = inspect_platform(cluster_of(4, 2, 2));
  EXPECT_EQ(report.routes, 8 * 7);
  EXPECT_TRUE(report.all_routes);
  EXPECT_EQ(report.routes_missing, 0);
  ASSERT_TRUE(report.best && report.worst);
  EXPECT_EQ(report.best->from, "gpu-0");
  EXPECT_EQ(report.best->to, "gpu-1");
  EXPECT_EQ(report.best->links, (Names{"gpu-0 port_UP", "gpu-1 port_DOWN"}));
  EXPECT_EQ(report.best->bandwidth, 300);
  EXPECT_EQ(report.best->payload_rate, 225);
  EXPECT_EQ(report.best->latency, 2);
  EXPECT_EQ(report.worst->links, (Names{"node-0 rail-0_UP", "node-1 rail-0_DOWN"}));
  EXPECT_EQ(report.worst->bandwidth, 50);
  EXPECT_EQ(report.worst->payload_rate, 25);
  EXPECT_EQ(report.worst->latency, 20);
}

// Among routes of equal bandwidth, latency decides which is worst.
TEST(Inspect, TheLongestOfTheNarrowestIsTheWorst) {
  spec::FederationSpec spec;
  spec.sites = {{"a", 1, false, link_spec("l", 10, 1), link_spec("l", 10, 1)},
                {"b", 1, false, link_spec("l", 10, 5), link_spec("l", 10, 3)},
                {"c", 1, false, link_spec("l", 10, 2), link_spec("l", 10, 7)}};
  const PlatformReport report = inspect_platform({"", spec, {}, {}});
  EXPECT_EQ(report.worst->links, (Names{"b up", "c down"}));
  EXPECT_EQ(report.worst->latency, 12);
  EXPECT_EQ(report.best->links, (Names{"a up"}));
  EXPECT_EQ(report.best->latency, 1);
}

// 4 nodes of 2 GPUs, each GPU with its own rail: the 4 pairs across the bisection share no link.
TEST(Inspect, BisectionWithARailPerGpu) {
  const PlatformReport report = inspect_platform(cluster_of(4, 2, 2));
  EXPECT_EQ(report.bisection_pairs, 4);
  ASSERT_TRUE(report.bisection.has_value());
  EXPECT_DOUBLE_EQ(*report.bisection, 4 * 50);
}

// Each node has one rail, which two pairs share.
TEST(Inspect, BisectionWithSharedRails) {
  const PlatformReport report = inspect_platform(cluster_of(4, 2, 1));
  ASSERT_TRUE(report.bisection.has_value());
  EXPECT_DOUBLE_EQ(*report.bisection, 2 * 50);
}

// Two leaves with 4 adapters each send everything to the other leaf. An oversubscription of 4 leaves one uplink of 50
// byte/s.
TEST(Inspect, BisectionOfAnOversubscribedTree) {
  spec::GpuClusterSpec spec = gpu_cluster(4, 2, 2);
  spec.fabric = {spec::FabricSpec::Kind::fat_tree, link_spec("up", 50, 1), 2, 4, false, {}};
  PlatformReport report = inspect_platform({"", spec, {}, {}});
  EXPECT_DOUBLE_EQ(report.bisection.value(), 50);
  spec.fabric.oversubscription = 1;
  report = inspect_platform({"", spec, {}, {}});
  EXPECT_DOUBLE_EQ(report.bisection.value(), 4 * 50);
}

// a sends at its 10 byte/s and b at its 60; c-1 → hub has the 1000 byte/s of c's uplink alone.
TEST(Inspect, BisectionIsMaxMinFair) {
  spec::FederationSpec spec;
  spec.sites = {{"a", 1, false, link_spec("l", 10, 1), link_spec("l", 10, 1)},
                {"b", 1, false, link_spec("l", 60, 1), link_spec("l", 60, 1)},
                {"c", 3, true, link_spec("l", 1000, 1), link_spec("l", 1000, 1)}};
  const PlatformReport report = inspect_platform({"", spec, {}, {}});
  // Hosts are paired first half to second half: a → c-2, b → c-3, c-1 → hub.
  EXPECT_EQ(report.bisection_pairs, 3);
  EXPECT_DOUBLE_EQ(report.bisection.value(), 10 + 60 + 1000);
}

TEST(Inspect, ALargeClusterIsSampled) {
  const PlatformReport report = inspect_platform(cluster_of(64, 8, 8));
  EXPECT_EQ(report.hosts, 512);
  EXPECT_FALSE(report.all_routes);
  EXPECT_EQ(report.routes, 256 * 9);
  EXPECT_EQ(report.routes_missing, 0);
  // The sample contains pairs of one node (300 byte/s) and of two nodes (50 byte/s).
  EXPECT_EQ(report.best->bandwidth, 300);
  EXPECT_EQ(report.worst->bandwidth, 50);
  EXPECT_DOUBLE_EQ(report.bisection.value(), 256 * 50);
}

TEST(Inspect, AFile) {
  const PlatformReport report = inspect_platform(
      {"",
       spec::PlatformFileSpec{std::string(DADSIM_SOURCE_DIR) + "/platforms/two-sites.xml", spec::Transport::tcp},
       {},
       {}});
  EXPECT_EQ(report.kind, "file");
  EXPECT_EQ(report.hosts, 3);
  EXPECT_EQ(report.nodes, 3);
  const std::vector<PlatformReport::LinkClass> expected{{"", 4, 125e6, 0.01, "tcp", 1448.0 / 1514}};
  EXPECT_EQ(report.links, expected);
  EXPECT_EQ(report.best->latency, 0.01);
  EXPECT_EQ(report.worst->latency, 0.02);
  EXPECT_EQ(report.worst->bandwidth, 125e6);
}

TEST(Inspect, PropertiesInAFile) {
  const PlatformReport report = inspect_file(
      "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>"
      "<link id=\"l\" bandwidth=\"100Bps\" latency=\"1s\"><prop id=\"transport\" value=\"rdma\"/>"
      "<prop id=\"efficiency\" value=\"0.25\"/><prop id=\"class\" value=\"own\"/></link>"
      "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>",
      spec::Transport::tcp);
  const std::vector<PlatformReport::LinkClass> expected{{"own", 1, 100, 1, "rdma", 0.25}};
  EXPECT_EQ(report.links, expected);
  EXPECT_EQ(report.best->payload_rate, 25);
}

TEST(Inspect, RoutesThatAreMissingInAFile) {
  const PlatformReport report = inspect_file(
      "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/><host id=\"c\" speed=\"1Gf\"/>"
      "<link id=\"l\" bandwidth=\"100Bps\" latency=\"1s\"/>"
      "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>");
  EXPECT_EQ(report.routes, 6);
  EXPECT_EQ(report.routes_missing, 4);
  EXPECT_EQ(report.best->links, Names{"l"});
}

TEST(Inspect, AFileWithoutAnyRoute) {
  const PlatformReport report =
      inspect_file("<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>", spec::Transport::plain, "None");
  EXPECT_EQ(report.routes_missing, 2);
  EXPECT_FALSE(report.best.has_value());
  EXPECT_FALSE(report.bisection.has_value());
}

TEST(Inspect, APlatformThatCannotBeBuilt) {
  spec::GpuClusterSpec spec = gpu_cluster(2, 2);
  spec.nic.bandwidth = 0;
  try {
    inspect_platform({"", spec, {}, {}});
    FAIL() << "it was built";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("link 'node-0 rail-0' has a bandwidth of 0 byte/s"), std::string::npos)
        << error.what();
  }
}

std::size_t boxes(const PlatformReport& report, const std::string& part) {
  return static_cast<std::size_t>(std::ranges::count_if(
      report.picture.boxes, [&](const Picture::Box& box) { return box.label.find(part) != std::string::npos; }));
}

TEST(Picture, FewGpusAreDrawnOneByOne) {
  const PlatformReport report = inspect_platform(cluster_of(4, 2, 2));
  EXPECT_EQ(boxes(report, "gpu-"), 8U);
  const std::string dot = to_dot(report);
  EXPECT_TRUE(dot.starts_with("graph platform {")) << dot;
  EXPECT_NE(dot.find("label=\"a description\""), std::string::npos) << dot;
  EXPECT_NE(dot.find("label=\"node-3\""), std::string::npos) << dot;
  EXPECT_NE(dot.find("\"node-3\" -- \"switch\" [label=\"2 x nic 0.4 kbit/s\"]"), std::string::npos) << dot;
}

TEST(Picture, ManyGpusAreFolded) {
  const PlatformReport usual = inspect_platform(cluster_of(8, 8, 1));  // 64 GPUs in nodes of 8
  EXPECT_EQ(boxes(usual, "1 node of 8 GPUs"), 8U);
  EXPECT_EQ(boxes(usual, "gpu-"), 0U);
  EXPECT_EQ(boxes(inspect_platform(cluster_of(16, 8, 8)), "1 node of 8 GPUs"), 16U);
  const PlatformReport large = inspect_platform(cluster_of(128, 8, 8));
  EXPECT_EQ(boxes(large, "128 nodes of 8 GPUs"), 1U);
  EXPECT_EQ(large.picture.boxes.size(), 2U);
}

TEST(Picture, SitesAreFoldedByClass) {
  spec::FederationSpec spec;
  spec.sites = {{"phone", 200, true, link_spec("up", 1e6, 1), link_spec("down", 2e6, 1)},
                {"lab", 1, false, link_spec("l", 1e6, 1), link_spec("l", 1e6, 1)}};
  const PlatformReport report = inspect_platform({"", spec, {}, {}});
  EXPECT_EQ(boxes(report, "200 x phone"), 1U);
  EXPECT_EQ(report.picture.boxes.size(), 3U);
  EXPECT_NE(to_dot(report).find("[label=\"up up 8 Mbit/s, down down 16 Mbit/s\"]"), std::string::npos);
}

TEST(Picture, EveryEdgeJoinsTwoBoxes) {
  spec::CompositionSpec spec;
  const std::vector<spec::FabricSpec> fabrics{
      {spec::FabricSpec::Kind::one_switch, {}, 0, 1, false, {}},
      {spec::FabricSpec::Kind::fat_tree, link_spec("up", 50, 1), 2, 1, false, {}},
      {spec::FabricSpec::Kind::dragonfly, link_spec("up", 50, 1), 0, 1, false, {3, 2, 2}},
      {spec::FabricSpec::Kind::torus, link_spec("up", 50, 1), 0, 1, false, {3, 2, 2}}};
  for (std::size_t i = 0; i < fabrics.size(); ++i) {
    spec::GpuClusterSpec cluster = gpu_cluster(12, 2);
    cluster.name = fmt::format("c{}", i);
    cluster.fabric = fabrics[i];
    spec.clusters.emplace_back(cluster);
    for (std::size_t j = 0; j < i; ++j) {
      spec.pairs.push_back({fmt::format("c{}", i), fmt::format("c{}", j), 7, 2, spec::Transport::tcp});
      spec.pairs.push_back({fmt::format("c{}", j), fmt::format("c{}", i), 7, 2, spec::Transport::tcp});
    }
  }
  const PlatformReport report = inspect_platform({"", spec, {}, {}});
  const auto drawn = [&](const std::string& id) {
    return std::ranges::count(report.picture.boxes, id, &Picture::Box::id);
  };
  for (const Picture::Box& box : report.picture.boxes) EXPECT_EQ(drawn(box.id), 1) << box.id;
  std::size_t between = 0;
  for (const Picture::Edge& edge : report.picture.edges) {
    EXPECT_EQ(drawn(edge.from), 1) << edge.from;
    EXPECT_EQ(drawn(edge.to), 1) << edge.to;
    if (edge.from.substr(0, 2) != edge.to.substr(0, 2)) ++between;
  }
  EXPECT_EQ(between, 6U);  // each pair is drawn once
}

Names links_of(const PlatformReport& report, const std::string& from, const std::string& to) {
  for (const Picture::Edge& edge : report.picture.edges) {
    if (edge.from == from && edge.to == to) return edge.links;
  }
  ADD_FAILURE() << "no edge from " << from << " to " << to;
  return {};
}

/// Returns the line of the dot text that draws the edge between two boxes.
std::string drawn_edge(const std::string& dot, const std::string& from, const std::string& to) {
  const std::size_t start = dot.find(fmt::format("\"{}\" -- \"{}\"", from, to));
  return start == std::string::npos ? "" : dot.substr(start, dot.find('\n', start) - start);
}

// Each drawn edge lists links that exist in the platform.
TEST(Picture, EdgesKnowTheirLinks) {
  const std::vector<spec::FabricSpec> fabrics{
      {spec::FabricSpec::Kind::one_switch, {}, 0, 1, false, {}},
      {spec::FabricSpec::Kind::fat_tree, link_spec("up", 50, 1), 2, 1, false, {}},
      {spec::FabricSpec::Kind::dragonfly, link_spec("up", 50, 1), 0, 1, false, {3, 2, 2}},
      {spec::FabricSpec::Kind::torus, link_spec("up", 50, 1), 0, 1, false, {3, 2, 2}}};
  spec::CompositionSpec composition;
  for (std::size_t i = 0; i < fabrics.size(); ++i) {
    spec::GpuClusterSpec cluster = gpu_cluster(12, 2);
    cluster.name = fmt::format("c{}", i);
    cluster.fabric = fabrics[i];
    composition.clusters.emplace_back(cluster);
    for (std::size_t j = 0; j < i; ++j) {
      composition.pairs.push_back({fmt::format("c{}", i), fmt::format("c{}", j), 7, 2, spec::Transport::tcp});
      composition.pairs.push_back({fmt::format("c{}", j), fmt::format("c{}", i), 7, 2, spec::Transport::tcp});
    }
  }
  spec::FederationSpec few, many;
  few.sites = {{"site", 3, true, link_spec("u", 10, 1), link_spec("d", 20, 1)}};
  many.sites = {{"phone", 80, true, link_spec("u", 10, 1), link_spec("d", 20, 1)}};
  spec::WanSpec wan;
  wan.host = link_spec("host", 100, 1);
  wan.regions = {{"east", 2}, {"west", 1}};
  wan.pairs = {{"east", "west", 7, 2, spec::Transport::tcp}, {"west", "east", 9, 2, spec::Transport::tcp}};
  spec::GpuClusterSpec large = gpu_cluster(100, 8, 2);
  large.fabric = fabrics[1];
  large.fabric.nodes_per_switch = 1;
  for (const spec::PlatformSpec& platform :
       {spec::PlatformSpec{"", composition, {}, {}}, spec::PlatformSpec{"", few, {}, {}},
        spec::PlatformSpec{"", many, {}, {}}, spec::PlatformSpec{"", wan, {}, {}},
        spec::PlatformSpec{"", large, {}, {}}, cluster_of(2, 2, 2)}) {
    Names there;
    for (const PlatformLink& link : platform_links(platform)) {
      EXPECT_GT(link.bandwidth, 0) << link.name;
      there.push_back(link.name);
    }
    std::ranges::sort(there);
    Names drawn;
    for (const Picture::Edge& edge : inspect_platform(platform).picture.edges) {
      for (const std::string& link : edge.links) {
        EXPECT_TRUE(std::ranges::binary_search(there, link)) << link;
        drawn.push_back(link);
      }
    }
    EXPECT_FALSE(drawn.empty());
    std::ranges::sort(drawn);
    EXPECT_EQ(std::ranges::adjacent_find(drawn), drawn.end()) << "a link belongs to one edge";
  }
  EXPECT_EQ(links_of(inspect_platform({"", few, {}, {}}), "site-2", "hub"), (Names{"site-2 up", "site-2 down"}));
  EXPECT_EQ(links_of(inspect_platform({"", many, {}, {}}), "phone", "hub").size(), 160U);
  // A pair with unequal directions is drawn as two edges.
  EXPECT_EQ(links_of(inspect_platform({"", wan, {}, {}}), "east", "west"), Names{"east -> west"});
  wan.pairs[1].bandwidth = 7;
  EXPECT_EQ(links_of(inspect_platform({"", wan, {}, {}}), "east", "west"), (Names{"east -> west", "west -> east"}));
}

TEST(Picture, BusyEdgesAreDarkerAndThicker) {
  spec::FederationSpec spec;
  spec.sites = {{"site", 4, true, link_spec("u", 1e6, 1), link_spec("d", 1e6, 1)}};
  const PlatformReport report = inspect_platform({"", spec, {}, {}});
  const std::string dot = to_dot(
      report, {{"site-1 up", 0.25}, {"site-1 down", 0.5}, {"site-2 up", 1.25}, {"site-3 down", 0.001}, {"other", 1}});
  const std::string label = "u 8 Mbit/s, down d 8 Mbit/s";
  // The busier direction sets the colour, here half-way between the lightest and the darkest.
  EXPECT_EQ(drawn_edge(dot, "site-1", "hub"),
            "\"site-1\" -- \"hub\" [label=\"up " + label +
                "\\nbusy 50 %\", tooltip=\"site-1 -- hub: busy 50 %\", color=\"#58759a\", penwidth=3.5];");
  EXPECT_NE(drawn_edge(dot, "site-2", "hub").find("busy 125 %\", color=\"#062a5e\", penwidth=6.0"), std::string::npos);
  EXPECT_NE(drawn_edge(dot, "site-3", "hub").find("busy under 1 %\", color=\"#a9bfd6\", penwidth=1.0"),
            std::string::npos);
  EXPECT_EQ(drawn_edge(dot, "site-4", "hub"),
            "\"site-4\" -- \"hub\" [label=\"up " + label + "\", color=\"#c4c8cd\", penwidth=1];");
  EXPECT_EQ(to_dot(report).find("penwidth"), std::string::npos);
}

TEST(Picture, AHostOfAFileHasTheLinksThatLeadToItAlone) {
  const PlatformReport report = inspect_file(
      "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/><host id=\"c\" speed=\"1Gf\"/>"
      "<link id=\"la\" bandwidth=\"100Bps\" latency=\"1s\"/><link id=\"lb\" bandwidth=\"100Bps\" latency=\"1s\"/>"
      "<link id=\"lc\" bandwidth=\"100Bps\" latency=\"1s\"/><link id=\"middle\" bandwidth=\"100Bps\" latency=\"1s\"/>"
      "<route src=\"a\" dst=\"b\"><link_ctn id=\"la\"/><link_ctn id=\"middle\"/><link_ctn id=\"lb\"/></route>"
      "<route src=\"a\" dst=\"c\"><link_ctn id=\"la\"/><link_ctn id=\"middle\"/><link_ctn id=\"lc\"/></route>"
      "<route src=\"b\" dst=\"c\"><link_ctn id=\"lb\"/><link_ctn id=\"middle\"/><link_ctn id=\"lc\"/></route>");
  EXPECT_EQ(links_of(report, "a", "the network"), Names{"la"});
  EXPECT_EQ(links_of(report, "b", "the network"), Names{"lb"});
  EXPECT_EQ(links_of(report, "c", "the network"), Names{"lc"});
  const std::string dot = to_dot(report, {{"lb", 1}, {"middle", 1}});
  EXPECT_NE(drawn_edge(dot, "b", "the network").find("busy 100 %"), std::string::npos) << dot;
  EXPECT_EQ(drawn_edge(dot, "a", "the network").find("busy"), std::string::npos) << dot;
}

TEST(Picture, WordsAreQuoted) {
  PlatformReport report;
  report.description = "a \"good\" \\ one";
  report.picture.boxes = {{"x", "two\nlines", Picture::Kind::host, ""}};
  const std::string dot = to_dot(report);
  EXPECT_NE(dot.find(R"(label="a \"good\" \\ one")"), std::string::npos) << dot;
  EXPECT_NE(dot.find(R"("x" [label="two\nlines")"), std::string::npos) << dot;
}

}  // namespace
}  // namespace dadsim::sim
