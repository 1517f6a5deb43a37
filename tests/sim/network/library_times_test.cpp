// Tests times of algorithms that `auto` chooses on GPU clusters: parts of an all-reduce against the whole, rails,
// meshes.
#include <gtest/gtest.h>

#include "sim/declared.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"

namespace dadsim::sim {
namespace {

using enum step::CollectiveKind;

constexpr double kMebibyte = 1 << 20;

spec::GpuClusterSpec cluster_of(std::int64_t nodes, std::int64_t gpus, std::int64_t rails, const std::string& nic,
                                const std::string& inside = "nvlink-3") {
  spec::GpuClusterSpec cluster;
  cluster.nodes = nodes;
  cluster.gpus = gpus;
  cluster.rails = rails;
  cluster.port = *find_link(inside);
  cluster.nic = *find_link(nic);
  return cluster;
}

std::vector<CollectiveTiming> timed_by_library(const spec::GpuClusterSpec& cluster,
                                               const std::vector<CollectiveJob>& jobs) {
  const Cluster workers = test::workers_on({"", cluster, {}, {}}, spec::Fidelity::flow);
  return time_collectives(workers, jobs).timings;
}

// Bandwidth limits these sizes; for short vectors, NCCL too sums along a tree sooner than a long ring gathers. A
// reduce-scatter by halving over one adapter once took seven times the ring, more than the whole all-reduce.
TEST(TimesOfNccl, APartOfAnAllReduceIsNeverLongerThanTheWhole) {
  for (const char* nic : {"ethernet-25g", "ib-hdr", "roce-100"}) {
    for (const std::int64_t nodes : {2, 4}) {
      for (const auto& [gpus, rails] : {std::pair<std::int64_t, std::int64_t>{2, 1}, {4, 2}, {8, 1}, {8, 8}}) {
        const auto n = static_cast<double>(nodes * gpus);
        std::vector<CollectiveJob> jobs;
        for (const double bytes : {64 * kMebibyte}) {
          for (const char* algorithm : {"auto", "ring"}) {
            jobs.push_back(test::job(reduce_scatter, algorithm, bytes));
            jobs.push_back(test::job(all_gather, algorithm, bytes / n));
          }
          jobs.push_back(test::job(all_reduce, "auto", bytes));
        }
        const std::vector<CollectiveTiming> times = timed_by_library(cluster_of(nodes, gpus, rails, nic), jobs);
        for (std::size_t i = 0; i < times.size(); i += 5) {
          for (const std::size_t part : {i, i + 1}) {
            EXPECT_EQ(times[part].algorithm, "ring");
            EXPECT_NEAR(times[part].seconds, times[part + 2].seconds, 1e-9 * times[part].seconds);
            EXPECT_LE(times[part].seconds, times[i + 4].seconds)
                << nic << ' ' << nodes << " x " << gpus << ", " << rails << " adapters, " << times[i + 4].algorithm;
          }
        }
      }
    }
  }
}

TEST(TimesOfNccl, AProtocolIsChosenForTheWholeCollective) {
  // LL was once chosen by the size of a lane's message: up to 64 MiB it sent twice the bytes, so 128 MiB took no
  // longer.
  const std::vector<CollectiveTiming> times =
      timed_by_library(cluster_of(4, 8, 1, "ib-hdr"),
                       {test::job(all_reduce, "ring", 64 * kMebibyte), test::job(all_reduce, "ring", 128 * kMebibyte)});
  EXPECT_GT(times[1].seconds, 1.8 * times[0].seconds);
  EXPECT_EQ(times[0].protocol, "Simple");
}

TEST(TimesOfNccl, BroadcastsAndReducesUseAllAdapters) {
  // 512 MiB through eight adapters of 48 GB/s take 1.4 ms, plus up to 0.25 ms for the segments that fill the pipeline.
  for (const step::CollectiveKind kind : {broadcast, reduce}) {
    const std::vector<CollectiveTiming> times =
        timed_by_library(cluster_of(2, 8, 8, "ib-ndr", "nvlink-4"), {test::job(kind, "auto", 512 * kMebibyte)});
    EXPECT_EQ(times[0].algorithm, "ring");
    EXPECT_NEAR(times[0].seconds, 512 * kMebibyte / (8 * 48e9), 0.25e-3) << to_string(kind);
  }
}

TEST(TimesOfAMesh, AreThoseOfAllItsLinks) {
  // Four A100, pairwise connected by 100 GB/s, each send 2 · 3/4 · 1 GiB over three links. Two rings share each link.
  spec::GpuClusterSpec pairwise = cluster_of(1, 4, 1, "ib-hdr");
  pairwise.inside = spec::InsideNode::mesh;
  pairwise.port = {.name = "gpu-cluster inside",
                   .bandwidth = 100e9,
                   .latency = 0.5e-6,
                   .transport = spec::Transport::nvlink,
                   .source = {}};
  for (const spec::Fidelity fidelity : {spec::Fidelity::flow, spec::Fidelity::message}) {
    const Cluster workers = test::workers_on({"", pairwise, {}, {}}, fidelity);
    const double seconds =
        time_collectives(workers, std::vector{test::job(all_reduce, "auto", 1024 * kMebibyte)}).timings[0].seconds;
    EXPECT_NEAR(seconds, 1.5 * 1024 * kMebibyte / 300e9, 0.05 * seconds) << to_string(fidelity);
  }
}

TEST(TimesOfLibraries, SayWhichOfTheirOwnAlgorithmsIsQuicker) {
  // Over sockets between four nodes, NCCL's tuner chooses the ring with LL for 64 KiB. It ignores the latency of
  // sockets, which a ring pays more often in sequence than a tree.
  const std::vector<CollectiveTiming> times =
      timed_by_library(cluster_of(4, 8, 1, "ethernet-100g", "nvlink-2"),
                       {test::job(all_reduce, "auto", 65536), test::job(all_reduce, "ring", 65536)});
  EXPECT_EQ(times[0].algorithm + " " + times[0].protocol, "ring LL");
  ASSERT_TRUE(times[0].quicker);
  EXPECT_EQ(times[0].quicker->subject(), "tree");
  EXPECT_EQ(times[0].quicker->text("protocol"), "LL");
  EXPECT_EQ(times[0].quicker->text("setting"), "NCCL_ALGO=Tree NCCL_PROTO=LL");
  EXPECT_FALSE(times[1].quicker) << "nobody asked for what the library takes";
}

}  // namespace
}  // namespace dadsim::sim
