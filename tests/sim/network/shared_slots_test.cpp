// Tests slots that several GPUs of a node share: the time that sharing costs, and times that it must not change.
#include <gtest/gtest.h>

#include <vector>

#include "sim/declared.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"

namespace dadsim::sim {
namespace {

using enum step::CollectiveKind;

spec::GpuClusterSpec with_slots(const spec::LinkSpec& nic, std::int64_t rails) {
  spec::GpuClusterSpec cluster = test::cluster_of(2, 8, *find_link("pcie-4"), nic);
  cluster.rails = rails;
  cluster.slot = *find_link("pcie-4");
  return cluster;
}

std::vector<double> seconds(const spec::GpuClusterSpec& cluster, const std::vector<CollectiveJob>& jobs,
                            spec::Fidelity fidelity = spec::Fidelity::message) {
  std::vector<double> all;
  for (const CollectiveTiming& timing :
       time_collectives(test::workers_on({"", cluster, {}, {}}, fidelity), jobs).timings)
    all.push_back(timing.seconds);
  return all;
}

/// Returns messages from each rank r in `from` to rank r + `apart`, if it exists.
CollectiveJob pairs(const std::vector<std::int64_t>& from, std::int64_t apart, double bytes) {
  CollectiveJob job = test::job(neighbour_exchange, "auto", bytes);
  job.request.neighbours.assign(16, {});
  for (const std::int64_t rank : from)
    job.request.neighbours[static_cast<std::size_t>(rank)] = {static_cast<collectives::Rank>(rank + apart)};
  return job;
}

TEST(SharedSlots, AreSharedByWhatLeavesAndComes) {
  constexpr double kBytes = 512e6;
  spec::GpuClusterSpec cluster = with_slots(*find_link("ib-hdr"), 8);
  const auto to_the_other = [&](std::int64_t behind, const std::vector<std::int64_t>& from) {
    cluster.slot_gpus = behind;
    return seconds(cluster, {pairs(from, 8, kBytes)})[0];
  };
  const double alone = to_the_other(1, {0});
  EXPECT_NEAR(to_the_other(2, {0}), alone, 1e-12);
  EXPECT_NEAR(to_the_other(2, {0, 2}), alone, 1e-12) << "each with a slot of its own";
  // A slot is faster than one 200 Gbit/s adapter and slower than two.
  const double slot = 31e9 * 0.8;  // 248 Gbit/s, from adapter_constants.csv
  EXPECT_NEAR(to_the_other(2, {0, 1}), 2 * kBytes / slot, 0.02 * 2 * kBytes / slot);
  EXPECT_NEAR(to_the_other(4, {0, 1, 2, 3}), 4 * kBytes / slot, 0.02 * 4 * kBytes / slot);
  EXPECT_NEAR(to_the_other(1, {0, 1}), alone, 1e-12);
}

TEST(SharedSlots, LieOnBothSidesOfABridge) {
  constexpr double kBytes = 512e6;
  spec::GpuClusterSpec cluster = with_slots(*find_link("ib-hdr"), 1);
  cluster.inside = spec::InsideNode::shared;
  cluster.bridge = *find_link("pcie-4");
  cluster.slot = test::line(2e9, 0);
  cluster.slot_gpus = 4;
  const std::vector<double> times = seconds(cluster, {pairs({0}, 1, kBytes), pairs({0}, 4, kBytes)});
  EXPECT_NEAR(times[1], kBytes / 2e9, 0.02 * times[1]) << "by way of both slots";
  EXPECT_LT(times[0], 0.2 * times[1]) << "below one switch";
  // The bridge has half the slot's bandwidth. Messages between GPUs below the same PCIe switch do not cross it.
  cluster.bridge = test::line(1e9, 0);
  const std::vector<double> narrow = seconds(cluster, {pairs({0}, 1, kBytes), pairs({0}, 4, kBytes)});
  EXPECT_EQ(narrow[0], times[0]);
  EXPECT_NEAR(narrow[1], kBytes / 1e9, 0.02 * narrow[1]);
}

// This law does not hold over TCP, where a slot that slows its host can keep a switch's queue from overflowing.
TEST(SharedSlots, AreNeverQuickerThanSlotsOfOnesOwn) {
  for (const std::int64_t rails : {2, 16}) {
    spec::GpuClusterSpec cluster = with_slots(*find_link("ib-ndr"), rails);
    const std::vector<CollectiveJob> jobs{test::job(all_reduce, "ring", 16e6),
                                          test::job(all_reduce, "hierarchical", 16e6),
                                          test::job(all_to_all, "direct", 1e6), test::job(all_reduce, "auto", 1e4)};
    std::vector<double> before = seconds(cluster, jobs);
    for (const std::int64_t behind : {2, 8}) {
      cluster.slot_gpus = behind;
      const std::vector<double> now = seconds(cluster, jobs);
      for (std::size_t i = 0; i < jobs.size(); ++i)
        EXPECT_GE(now[i], (1 - 1e-9) * before[i]) << rails << ' ' << behind << ' ' << i;
      before = now;
    }
    const std::vector<double> flow = seconds(cluster, jobs, spec::Fidelity::flow);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(flow[i], before[i], 0.01 * before[i]) << rails << ' ' << i;
  }
}

TEST(SharedSlots, MayDifferFromNodeToNode) {
  constexpr double kBytes = 512e6;
  spec::GpuClusterSpec cluster = with_slots(*find_link("ib-ndr"), 8);
  cluster.nodes = 1;
  cluster.slot = {};
  spec::NodeGroup other{1, 8, cluster.port, 8, cluster.nic};
  other.slot = test::line(10e9, 0);
  other.slot_gpus = 2;
  cluster.more = {other};
  const double into = seconds(cluster, {pairs({0, 1}, 8, kBytes)})[0];
  EXPECT_NEAR(into, 2 * kBytes / 10e9, 0.02 * into) << "they come to GPUs that share one";
  cluster.more[0].slot = test::line(200e9, 0);
  const double wide = seconds(cluster, {pairs({0, 1}, 8, kBytes)})[0];
  EXPECT_NEAR(wide, kBytes / 48e9, 0.02 * wide) << "which is wider than two adapters";
}

}  // namespace
}  // namespace dadsim::sim
