#include "sim/flow/flow.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "sim/declared.hpp"
#include "sim/fidelity_notes.hpp"
#include "sim/platform.hpp"
#include "sim/star.hpp"

// Compares flow with message fidelity, the reference: times of collectives, and of steps with an aggregator.

namespace dadsim::sim {
namespace {

using enum step::CollectiveKind;

constexpr double kMostDeviation = 0.005;  // relative deviation

/// Returns `ranks` GPUs, eight per node. Names "wan_…" give two clusters, and "…_three" three, joined pairwise by 10
/// Gbit/s with a round trip of 20 ms.
spec::PlatformSpec platform_of(const std::string& name, std::int64_t ranks) {
  const std::int64_t nodes = ranks / 8;
  const spec::LinkSpec port = test::line(450e9, 1e-6, spec::Transport::nvlink, 0.8);
  const spec::LinkSpec nic = test::line(50e9, 2e-6, spec::Transport::rdma, 0.9);
  spec::GpuClusterSpec cluster = test::cluster_of(nodes, 8, port, nic);
  if (name == "one_switch") cluster.rails = 8;
  if (name == "fat_tree") {
    cluster.rails = 4;
    cluster.fabric = test::fat_tree(4, nic, 2);
  }
  if (name == "dragonfly") {
    const std::int64_t groups = nodes <= 8 ? 2 : nodes == 16 ? 4 : 8;
    const std::int64_t routers = nodes == 2 ? 1 : nodes == 8 ? 2 : 4;
    cluster.fabric = test::dragonfly(groups, routers, nodes / groups / routers, nic);
  }
  if (!name.starts_with("wan_")) return {"", cluster, {}, {}};
  const std::int64_t clusters = name.ends_with("three") ? 3 : 2;
  const spec::Transport transport = name.starts_with("wan_tcp") ? spec::Transport::tcp : spec::Transport::rdma;
  spec::CompositionSpec composition;
  cluster.nodes = nodes / clusters;
  for (std::int64_t i = 0; i < clusters; ++i) {
    cluster.name = fmt::format("c{}", i);
    composition.clusters.emplace_back(cluster);
    for (std::int64_t j = 0; j < clusters; ++j) {
      if (i != j) composition.pairs.push_back({fmt::format("c{}", i), fmt::format("c{}", j), 1.25e9, 0.02, transport});
    }
  }
  return {"", composition, {}, {}};
}

void expect_same(const std::string& what, double by_flow, double by_message) {
  EXPECT_NEAR(by_flow, by_message, kMostDeviation * by_message) << what;
  fmt::print("{}: flow {:.6g} s, message {:.6g} s, {:+.3f} %\n", what, by_flow, by_message,
             100 * (by_flow / by_message - 1));
}

void expect_same_collectives(const spec::PlatformSpec& platform, const std::vector<CollectiveJob>& jobs) {
  const auto by_message = time_collectives(test::workers_on(platform, spec::Fidelity::message), jobs).timings;
  const auto by_flow = time_collectives(test::workers_on(platform, spec::Fidelity::flow), jobs).timings;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    ASSERT_EQ(by_message[i].fidelity, spec::Fidelity::message);
    ASSERT_EQ(by_flow[i].fidelity, spec::Fidelity::flow);
    expect_same(fmt::format("{} {} {:g}", jobs[i].algorithm, to_string(jobs[i].request.kind), jobs[i].request.bytes[0]),
                by_flow[i].seconds, by_message[i].seconds);
  }
}

/// Returns a step in which every worker sends `bytes` ÷ workers to the aggregator and receives `bytes` back.
schedule::Schedule exchange(std::size_t workers, double bytes) {
  test::Script script(workers);
  const std::int32_t up = script.gather(bytes / static_cast<double>(workers));
  script.wait(up, step::Role::aggregator).compute(1e-4, step::Role::aggregator).wait(script.broadcast(bytes));
  return script.schedule();
}

/// Returns a cluster whose last host is the aggregator.
Cluster with_aggregator(const spec::PlatformSpec& platform, spec::Fidelity fidelity) {
  Cluster cluster = test::workers_on(platform, fidelity);
  cluster.aggregator_host = cluster.hosts.back();
  cluster.hosts.pop_back();
  cluster.devices.assign(cluster.hosts.size(), test::clockwork());
  cluster.aggregator_device = test::clockwork();
  return cluster;
}

void expect_same_exchange(const spec::PlatformSpec& platform) {
  for (const double bytes : {1e6, 1e8}) {
    const auto time = [&](spec::Fidelity fidelity) {
      const Cluster cluster = with_aggregator(platform, fidelity);
      const std::vector<schedule::Schedule> schedules{exchange(cluster.hosts.size(), bytes)};
      const TimedRun run = time_schedules(cluster, schedules);
      EXPECT_EQ(run.network.fidelity, to_string(fidelity)) << test::notes_of(run.network);
      return run.steps.at(0).seconds;
    };
    expect_same(fmt::format("aggregator exchange {:g}", bytes), time(spec::Fidelity::flow),
                time(spec::Fidelity::message));
  }
}

class Flow : public testing::TestWithParam<std::tuple<std::string, std::int64_t>> {};

TEST_P(Flow, RingsTakeTheSameTimeAsMessageByMessage) {
  const auto& [name, ranks] = GetParam();
  std::vector<CollectiveJob> jobs;
  for (const double bytes : {1e6, 1e8}) {
    if (ranks == 128 && bytes < 1e8) continue;  // tested with fewer ranks
    jobs.push_back(test::job(all_reduce, "ring", bytes));
    // With 128 ranks the all-gather is left out, since the all-reduce ends with an all-gather.
    if (ranks < 128) jobs.push_back(test::job(all_gather, "ring", bytes / static_cast<double>(ranks)));
  }
  expect_same_collectives(platform_of(name, ranks), jobs);
}

/// Returns nodes of eight GPUs with eight adapters each, as NCCL and RCCL systems have.
spec::GpuClusterSpec nodes_of_gpus(std::int64_t ranks, const std::string& inside, const std::string& nic) {
  spec::GpuClusterSpec cluster = test::cluster_of(ranks / 8, 8, *sim::find_link(inside), *sim::find_link(nic));
  cluster.rails = 8;
  if (inside.starts_with("xgmi")) cluster.inside = spec::InsideNode::mesh;
  cluster.fabric.adds_up = true;
  return cluster;
}

TEST(FlowOnNodesOfGpus, TakesTheSameTimeAsMessageByMessage) {
  for (const std::int64_t ranks : {16, 64}) {
    for (const auto& [inside, nic] : {std::pair{"nvlink-4", "ib-ndr"}, {"xgmi-mi300x", "roce-400"}}) {
      std::vector<CollectiveJob> jobs;
      for (const char* algorithm : {"ring", "one-ring", "tree", "nvls-tree", "sharp"}) {
        for (const double bytes : {1e3, 1e6, 1e8}) {
          if (ranks == 64 && bytes == 1e6) continue;  // 16 ranks cover this size
          jobs.push_back(test::job(all_reduce, algorithm, bytes));
        }
      }
      for (const double bytes : {1e3, 1e6}) {
        jobs.push_back(test::job(all_gather, "ring", bytes));
        jobs.push_back(test::job(reduce_scatter, "ring", bytes * static_cast<double>(ranks)));
      }
      expect_same_collectives({"", nodes_of_gpus(ranks, inside, nic), {}, {}}, jobs);
    }
  }
}

/// Returns two nodes of eight GPUs, one of four and one of three, with adapters of two kinds.
spec::GpuClusterSpec nodes_of_several_kinds() {
  spec::GpuClusterSpec cluster = nodes_of_gpus(16, "nvlink-4", "ib-ndr");
  cluster.fabric = test::fat_tree(2, *find_link("ib-ndr"), 2);
  cluster.more.push_back({1, 4, *find_link("nvlink-3"), 4, *find_link("ib-hdr")});
  cluster.more.push_back({1, 3, *find_link("nvlink-3"), 1, *find_link("ib-hdr")});
  return cluster;
}

TEST(FlowOnNodesOfGpus, OfSeveralKindsTakesTheSameTimeAsMessageByMessage) {
  std::vector<CollectiveJob> jobs;
  for (const char* algorithm : {"auto", "ring", "one-ring", "double-binary-tree"}) {
    for (const double bytes : {1e4, 3e7}) jobs.push_back(test::job(all_reduce, algorithm, bytes));
  }
  jobs.push_back(test::job(all_gather, "auto", 1e6));
  jobs.push_back(test::job(reduce_scatter, "auto", 2e7));
  expect_same_collectives({"", nodes_of_several_kinds(), {}, {}}, jobs);
}

/// The slowest node limits the ring: its GPUs share one adapter of 200 Gbit/s. Without this node, the slowest node has
/// four such adapters.
TEST(NodesOfGpus, OfSeveralKindsAreAsFastAsTheSlowestNode) {
  constexpr double kBytes = 1 << 30;
  const auto bus = [&](spec::GpuClusterSpec cluster) {
    const Cluster workers = test::workers_on({"", std::move(cluster), {}, {}}, spec::Fidelity::flow);
    const double seconds =
        time_collectives(workers, std::vector{test::job(all_reduce, "ring", kBytes)}).timings.at(0).seconds;
    const auto n = static_cast<double>(workers.hosts.size());
    return kBytes / seconds * 2 * (n - 1) / n;
  };
  EXPECT_NEAR(bus(nodes_of_several_kinds()), 25e9, 2e9);
  spec::GpuClusterSpec four = nodes_of_several_kinds();
  four.more.pop_back();
  EXPECT_NEAR(bus(four), 4 * 25e9, 8e9) << "four rings, each with an adapter of its own";
}

TEST(FlowOnNodesOfGpus, TakesTheSameTimeInOneMeshAsMessageByMessage) {
  std::vector<CollectiveJob> jobs;
  for (const double bytes : {1e3, 1e6, 1e8}) jobs.push_back(test::job(all_reduce, "ring", bytes));
  expect_same_collectives({"", nodes_of_gpus(8, "xgmi-mi300x", "roce-400"), {}, {}}, jobs);
  // With four GPUs, two rings share every link.
  spec::GpuClusterSpec four = nodes_of_gpus(8, "xgmi-mi300x", "roce-400");
  four.gpus = four.rails = 4;
  expect_same_collectives({"", four, {}, {}}, jobs);
}

/// Returns the bus bandwidth of an all-reduce of 1 GiB in byte/s, as nccl-tests defines it.
double bus_bandwidth(spec::GpuClusterSpec cluster) {
  cluster.fabric.adds_up = false;
  constexpr double kBytes = 1 << 30;
  const Cluster workers = test::workers_on({"", cluster, {}, {}}, spec::Fidelity::flow);
  const double seconds =
      time_collectives(workers, std::vector{test::job(all_reduce, "auto", kBytes)}).timings.at(0).seconds;
  const auto n = static_cast<double>(workers.hosts.size());
  return kBytes / seconds * 2 * (n - 1) / n;
}

TEST(NodesOfGpus, ReachTheBusBandwidthsThatAreKnownOfThem) {
  // 8 A100 with NVSwitch reach 230 to 240 GB/s.
  EXPECT_NEAR(bus_bandwidth(nodes_of_gpus(8, "nvlink-3", "ib-hdr")), 235e9, 8e9);
  // DGX A100 with eight HDR adapters reach 192 GB/s (NVIDIA/nccl, issue 812). DGX H100 with eight NDR adapters reach 46
  // to 48 GB/s per adapter (NVIDIA/nccl-tests, issue 290).
  EXPECT_NEAR(bus_bandwidth(nodes_of_gpus(32, "nvlink-3", "ib-hdr")), 188e9, 8e9);
  EXPECT_NEAR(bus_bandwidth(nodes_of_gpus(32, "nvlink-4", "ib-ndr")), 375e9, 30e9);
}

/// Like NCCL's channels, two nodes that are neighbours in both trees share their adapters with their other neighbours.
/// An all-reduce takes at most 8 % longer than the busiest adapter or port needs for its bytes.
TEST(NodesOfGpus, TreesTakeNoLongerThanTheBytesOfTheBusiestAdapter) {
  constexpr double kBytes = 1 << 30;
  for (const auto& [nodes, adapters] : {std::pair{2, 1.0}, {3, 1.5}, {4, 2.0}, {8, 2.0}}) {
    const spec::GpuClusterSpec cluster = nodes_of_gpus(8 * nodes, "nvlink-4", "ib-ndr");
    // In each direction, the eight adapters of a node carry half the vector for each neighbour.
    const double least = adapters * kBytes / 8 / (cluster.nic.bandwidth * cluster.nic.efficiency);
    const CollectiveJob job = test::job(all_reduce, "nvls-tree", kBytes);
    for (const spec::Fidelity fidelity : {spec::Fidelity::flow, spec::Fidelity::message}) {
      if (fidelity == spec::Fidelity::message && nodes > 4) continue;  // too many messages to simulate quickly
      const double seconds =
          time_collectives(test::workers_on({"", cluster, {}, {}}, fidelity), std::vector{job}).timings.at(0).seconds;
      const double inside = (1 + 1.0 / 8) / 0.85 * kBytes / (cluster.port.bandwidth * cluster.port.efficiency);
      EXPECT_GT(seconds, std::max(least, inside)) << nodes;
      EXPECT_LT(seconds, 1.08 * std::max(least, inside)) << nodes << " nodes, " << to_string(fidelity);
    }
  }
}

TEST_P(Flow, HierarchicalAllReduceTakesTheSameTimeAsMessageByMessage) {
  const auto& [name, ranks] = GetParam();
  std::vector<CollectiveJob> jobs{test::job(all_reduce, "hierarchical", 1e8)};
  // Over TCP, messages of a ring arrive from a fast link faster than the slow link sends them. At 100 KB they fit into
  // its queue. At 1 MB they do not, and flow refuses (see below).
  jobs.push_back(test::job(all_reduce, "hierarchical", name.starts_with("wan_tcp") ? 1e5 : 1e6));
  expect_same_collectives(platform_of(name, ranks), jobs);
}

TEST_P(Flow, AnExchangeThroughTheAggregatorTakesTheSameTimeAsMessageByMessage) {
  const auto& [name, ranks] = GetParam();
  expect_same_exchange(platform_of(name, ranks));
}

const auto case_name = [](const auto& given) {
  return fmt::format("{}_{}", std::get<0>(given.param), std::get<1>(given.param));
};

INSTANTIATE_TEST_SUITE_P(Clusters, Flow,
                         testing::Combine(testing::Values("one_switch", "fat_tree", "dragonfly", "wan_tcp", "wan_rdma"),
                                          testing::Values(16, 64)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(MoreRanks, Flow,
                         testing::Values(std::tuple{"one_switch", 128}, std::tuple{"fat_tree", 128},
                                         std::tuple{"dragonfly", 128}, std::tuple{"wan_tcp", 128},
                                         std::tuple{"wan_rdma", 128}),
                         case_name);
INSTANTIATE_TEST_SUITE_P(ThreeClusters, Flow,
                         testing::Combine(testing::Values("wan_tcp_three", "wan_rdma_three"), testing::Values(24, 96)),
                         case_name);
/// Tests of 512 or 1,024 ranks.
class LargeFlow : public testing::TestWithParam<std::string> {};
class LargeFlowOfRings : public LargeFlow {};
class LargeHierarchicalFlow : public LargeFlow {};

TEST_P(LargeFlow, AnExchangeThroughTheAggregatorTakesTheSameTimeAsMessageByMessage) {
  expect_same_exchange(platform_of(GetParam(), 1024));
}

TEST_P(LargeHierarchicalFlow, AllReduceTakesTheSameTimeAsMessageByMessage) {
  // Simulating the messages of 1,024 ranks takes twice as long, so two of the fabrics are tested with 512.
  const int ranks = GetParam() == "one_switch" || GetParam() == "dragonfly" ? 512 : 1024;
  expect_same_collectives(platform_of(GetParam(), ranks), {test::job(all_reduce, "hierarchical", 1e8)});
}

TEST_P(LargeFlowOfRings, TakesTheSameTimeAsMessageByMessage) {
  expect_same_collectives(platform_of(GetParam(), 1024),
                          {test::job(all_reduce, "ring", 1e8), test::job(all_gather, "ring", 1e6 / 1024)});
}

const auto own_name = [](const auto& given) { return given.param; };

const std::vector<std::string> kFabrics{"one_switch", "fat_tree", "dragonfly"};
const std::vector<std::string> kWans{"wan_tcp", "wan_rdma"};

INSTANTIATE_TEST_SUITE_P(Clusters, LargeFlow, testing::ValuesIn(kFabrics), own_name);
INSTANTIATE_TEST_SUITE_P(Wans, LargeFlow, testing::ValuesIn(kWans), own_name);
INSTANTIATE_TEST_SUITE_P(Clusters, LargeHierarchicalFlow, testing::ValuesIn(kFabrics), own_name);

// These tests take half a minute and two million messages each, so the suite leaves them out. Run them by hand:
// DADSIM_SLOW_TESTS=1 build/release/tests/test_sim --gtest_filter='ByHand*'
std::vector<std::string> by_hand(std::vector<std::string> clusters) {
  return std::getenv("DADSIM_SLOW_TESTS") == nullptr ? std::vector<std::string>() : std::move(clusters);
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LargeFlowOfRings);
INSTANTIATE_TEST_SUITE_P(ByHand, LargeHierarchicalFlow, testing::ValuesIn(by_hand(kWans)), own_name);
INSTANTIATE_TEST_SUITE_P(ByHand, LargeFlowOfRings, testing::ValuesIn(by_hand(kFabrics)), own_name);
INSTANTIATE_TEST_SUITE_P(ByHandOverWans, LargeFlowOfRings, testing::ValuesIn(by_hand(kWans)), own_name);

// ---- where flow fidelity does not hold ----

/// Expects that flow refuses: the run falls back to message fidelity and notes the reason `why`.
void expect_refused(Cluster cluster, const schedule::Schedule& schedule, const std::string& why) {
  const std::vector<schedule::Schedule> schedules{schedule};
  cluster.network.fidelity = spec::Fidelity::flow;
  const TimedRun asked = time_schedules(cluster, schedules);
  cluster.network.fidelity = spec::Fidelity::message;
  const TimedRun reference = time_schedules(cluster, schedules);
  EXPECT_EQ(asked.network.fidelity, "message");
  EXPECT_NE(test::notes_of(asked.network).find(why), std::string::npos) << test::notes_of(asked.network);
  EXPECT_EQ(asked.steps.at(0).seconds, reference.steps.at(0).seconds);
}

schedule::Schedule one_ring(std::size_t workers) {
  test::Script script(workers, false);
  script.compute(1.0).wait(script.all_reduce(1e6));
  return script.schedule();
}

Cluster two_nodes() {
  Cluster cluster = test::workers_on(platform_of("one_switch", 16), spec::Fidelity::flow);
  cluster.devices.assign(cluster.hosts.size(), test::clockwork());
  return cluster;
}

TEST(FlowRefuses, NothingWhereAllIsEven) {
  const std::vector<schedule::Schedule> schedules{one_ring(16)};
  const TimedRun run = time_schedules(two_nodes(), schedules);
  EXPECT_EQ(run.network.fidelity, "flow");
  EXPECT_EQ(run.network.messages, 0);
}

/// Expects that flow accepts the step although ranks get out of step.
void expect_taken(Cluster cluster, const schedule::Schedule& schedule) {
  const std::vector<schedule::Schedule> schedules{schedule};
  const TimedRun asked = time_schedules(cluster, schedules);
  cluster.network.fidelity = spec::Fidelity::message;
  const double reference = time_schedules(cluster, schedules).steps.at(0).seconds;
  EXPECT_EQ(asked.network.fidelity, "flow") << test::notes_of(asked.network);
  EXPECT_NEAR(asked.steps.at(0).seconds, reference, 1e-4 * reference);
}

TEST(FlowRefuses, NoSpeedsThatJitter) {
  Cluster cluster = two_nodes();
  cluster.network.jitter.temporal = 0.1;
  expect_taken(cluster, one_ring(16));
}

TEST(FlowRefuses, NoUnequalDevices) {
  Cluster cluster = two_nodes();
  cluster.devices[5].launch_overhead = 1.5;
  cluster.devices[5].name = "slower";
  expect_taken(cluster, one_ring(16));
}

/// Returns steps of 1 s: 0.96 s of computing, and an all-reduce of 40 ms until links change.
std::vector<schedule::Schedule> many_steps(std::size_t count) {
  test::Script script(16, false);
  script.compute(0.96).wait(script.all_reduce(1e9));
  return std::vector<schedule::Schedule>(count, script.schedule());
}

/// Returns the seconds of each step.
std::vector<double> seconds_of(Cluster cluster, spec::Fidelity fidelity, step::NetworkUse* use = nullptr) {
  cluster.network.fidelity = fidelity;
  const TimedRun run = time_schedules(cluster, many_steps(12));
  EXPECT_EQ(run.network.fidelity, to_string(fidelity)) << test::notes_of(run.network);
  if (use != nullptr) *use = run.network;
  std::vector<double> seconds;
  for (const step::StepTiming& step : run.steps) seconds.push_back(step.seconds);
  return seconds;
}

TEST(Flow, TakesANetworkThatChangesAsItIsAtEachDate) {
  Cluster cluster = two_nodes();
  cluster.platform.profiles.push_back(
      {spec::PlatformSpec::Profile::Of::bandwidth, "node-0 rail-0_UP", {0, 4.5}, {1, 0.2}, 9});
  cluster.platform.profiles.push_back(
      {spec::PlatformSpec::Profile::Of::latency, "node-1 rail-0_UP", {0, 8}, {1, 100}, 0});
  step::NetworkUse use;
  const std::vector<double> by_flow = seconds_of(cluster, spec::Fidelity::flow, &use);
  const std::vector<double> by_message = seconds_of(cluster, spec::Fidelity::message);
  EXPECT_EQ(use.messages, 0) << "no message is followed";
  EXPECT_GT(by_flow[5], 1.01 * by_flow[0]) << "a link has a fifth of its bandwidth";
  double apart = 0, all = 0;
  for (std::size_t i = 0; i < by_flow.size(); ++i) {
    const bool changes = i == 4 || i == 8 || i == 7;  // a link changes during step i
    EXPECT_NEAR(by_flow[i], by_message[i], (changes ? 0.1 : kMostDeviation) * by_message[i]) << i;
    apart += std::abs(by_flow[i] - by_message[i]);
    all += by_message[i];
  }
  // The total error must be within the fraction that the note states.
  const auto said = std::ranges::find(use.fidelity_notes, "changes-by-flow", &Statement::kind);
  ASSERT_NE(said, use.fidelity_notes.end());
  EXPECT_LE(apart, (said->number("share") + kMostDeviation) * all);
}

TEST(Flow, TakesASteadyProfileForTheLinkThatItMakes) {
  Cluster cluster = two_nodes();
  cluster.platform.profiles.push_back(
      {spec::PlatformSpec::Profile::Of::bandwidth, "node-0 rail-0_UP", {0, 3}, {0.5, 0.5}, 10});
  EXPECT_FALSE(network_differs(cluster));
  Cluster changed = two_nodes();
  changed.platform.changes.push_back({"node-0 rail-0_UP", 0.5, 1});
  EXPECT_EQ(seconds_of(cluster, spec::Fidelity::flow), seconds_of(changed, spec::Fidelity::flow));
}

TEST(FlowRefuses, AFileWhoseLinksChange) {
  const test::TemporaryFile changes("0 1e6\n1 5e5\n", ".bw");
  test::Star star;
  std::string text = star.xml();
  const std::string link = "<link id=\"up0\"";
  text.insert(text.find(link) + link.size(),
              fmt::format(" bandwidth_file=\"{}\"", std::filesystem::path(changes.path()).filename().string()));
  const test::TemporaryFile file(text);
  test::Script script(2, false);
  script.compute(1.0).wait(script.all_reduce(1e5));
  expect_refused(test::cluster_on(file.path(), 2, false), script.schedule(), "changes over time");
}

/// In a ring, no port receives faster than it can send, so TCP loses nothing.
TEST(Flow, FollowsWhatLosesNothingOverTcpBetweenNodes) {
  const spec::LinkSpec port = test::line(450e9, 1e-6, spec::Transport::nvlink, 0.8);
  const spec::LinkSpec nic = test::line(25e9, 5e-6, spec::Transport::tcp, 1448.0 / 1538);
  for (const std::int64_t rails : {1, 8}) {
    spec::GpuClusterSpec cluster = test::cluster_of(4, 8, port, nic);
    cluster.rails = rails;
    std::vector<CollectiveJob> jobs;
    for (const double bytes : {1e5, 1e7, 1e8}) {
      jobs.push_back(test::job(all_reduce, "ring", bytes));
      jobs.push_back(test::job(all_gather, "ring", bytes / 32));
      jobs.push_back(test::job(reduce_scatter, "ring", bytes));
    }
    expect_same_collectives({"", cluster, {}, {}}, jobs);
  }
}

TEST(FlowRefuses, TheTrafficOfOthers) {
  Cluster cluster = two_nodes();
  cluster.platform.background.push_back({"gpu-0", "gpu-8", 1e9, 0});
  expect_refused(cluster, one_ring(16), "carries other traffic");
}

TEST(FlowRefuses, MessagesThatWaitForTheirReceivers) {
  Cluster cluster = two_nodes();
  cluster.network.rendezvous = true;
  expect_refused(cluster, one_ring(16), "rendezvous");
}

TEST(FlowRefuses, NoWorkersThatGetTheirBroadcastOneAfterTheOther) {
  // Workers on the aggregator's node receive the vector long before other workers, and send their next message at once.
  test::Script script(15);
  for (int layer = 0; layer < 2; ++layer) {
    const std::int32_t up = script.gather(1e6);
    script.wait(up, step::Role::aggregator).wait(script.broadcast(1e6));
  }
  expect_taken(with_aggregator(platform_of("one_switch", 16), spec::Fidelity::flow), script.schedule());
}

TEST(FlowRefuses, SmallMessagesInLineOnTcpConnections) {
  Cluster cluster = test::workers_on(platform_of("wan_tcp", 64), spec::Fidelity::flow);
  cluster.devices.assign(cluster.hosts.size(), test::clockwork());
  test::Script script(64, false);
  script.wait(script.collective(all_reduce, test::same(1e6), "hierarchical"));
  expect_refused(cluster, script.schedule(), "messages queue on TCP connections");
}

}  // namespace
}  // namespace dadsim::sim
