// Tests adapters of GPU nodes: over TCP, several adapters of one GPU, and adapters in a PCIe slot.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/declared.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"

namespace dadsim::sim {
namespace {

using enum step::CollectiveKind;

constexpr double kMebi = 1 << 20;
constexpr double kGbit = 1e9 / 8;  // byte/s

spec::GpuClusterSpec over_tcp(std::int64_t nodes, std::int64_t gpus, double gbit) {
  spec::GpuClusterSpec cluster = test::cluster_of(nodes, gpus, *find_link("nvlink-4"), *find_link("ethernet-25g"));
  cluster.nic.bandwidth = gbit * kGbit;
  return cluster;
}

std::vector<CollectiveTiming> timed(const spec::GpuClusterSpec& cluster, const std::vector<CollectiveJob>& jobs) {
  return time_collectives(test::workers_on({"", cluster, {}, {}}, spec::Fidelity::message), jobs).timings;
}

/// Returns one message from each of the first `senders` ranks to the rank after them, all sent at once.
CollectiveJob into_one(std::int64_t senders, double bytes) {
  CollectiveJob job = test::job(neighbour_exchange, "auto", bytes);
  job.request.neighbours.assign(static_cast<std::size_t>(senders + 1), {});
  for (std::int64_t i = 0; i < senders; ++i)
    job.request.neighbours[static_cast<std::size_t>(i)] = {static_cast<collectives::Rank>(senders)};
  return job;
}

TEST(AdaptersOverTcp, CarryWhatTheirLineDoes) {
  // One sender at line rate does not overflow a line of that rate. Of the 1538 bytes of a frame, 1448 are payload. The
  // 16 connections of 20 Gbit/s that a pair uses exceed each of these rates.
  double before = 1e9;
  for (const double gbit : {10.0, 25.0, 32.0, 40.0, 100.0, 200.0}) {
    for (const double bytes : {16 * kMebi, 256 * kMebi}) {
      const CollectiveTiming time = timed(over_tcp(2, 1, gbit), {into_one(1, bytes)})[0];
      const double payload = gbit * kGbit * 1448 / 1538;
      EXPECT_GE(bytes / time.seconds, 0.9 * payload) << gbit << ' ' << bytes;
      EXPECT_LE(bytes / time.seconds, payload) << gbit << ' ' << bytes;
      EXPECT_LE(time.seconds, time.cold_seconds) << gbit << ' ' << bytes;
      if (bytes < 256 * kMebi) continue;
      EXPECT_LT(time.seconds, before);
      before = time.seconds;
    }
  }
}

TEST(AdaptersOverTcp, AreNeverSlowerWhenWarmOrWithMore) {
  for (const std::int64_t gpus : {1, 4}) {
    std::vector<double> slower(6, 1e9);
    for (const double gbit : {10.0, 25.0, 50.0, 100.0, 400.0}) {
      const double ranks = 4.0 * static_cast<double>(gpus);
      std::vector<CollectiveJob> jobs;
      for (const double bytes : {1e5, 2e7}) {
        jobs.push_back(test::job(all_reduce, "ring", bytes));
        jobs.push_back(test::job(all_gather, "ring", bytes / ranks));
        jobs.push_back(test::job(all_to_all, "direct", bytes / ranks));
      }
      const std::vector<CollectiveTiming> times = timed(over_tcp(4, gpus, gbit), jobs);
      for (std::size_t i = 0; i < times.size(); ++i) {
        EXPECT_LE(times[i].seconds, 1.001 * times[i].cold_seconds) << gbit << ' ' << gpus << ' ' << i;
        EXPECT_LE(times[i].seconds, 1.001 * slower[i]) << gbit << ' ' << gpus << ' ' << i;
        slower[i] = times[i].seconds;
      }
    }
  }
}

TEST(AdaptersOverTcp, AreAsMuchQuickerAsTheirRateAtMost) {
  // Times change without a jump between 1 and 40 Gbit/s.
  const std::vector<std::pair<std::int64_t, std::vector<double>>> sweeps{{1, {1, 3, 7.5, 9.9, 10, 10.1, 20, 40}},
                                                                         {2, {5, 9.9, 10, 12, 25}}};
  for (const auto& [gpus, rates] : sweeps) {
    std::vector<double> before;
    double last = 0;
    for (const double gbit : rates) {
      spec::GpuClusterSpec cluster = over_tcp(3, gpus, gbit);
      cluster.nic.queue_bytes = std::max(3e5, 320e-6 * cluster.nic.bandwidth);
      CollectiveJob message = test::job(neighbour_exchange, "auto", 256 * kMebi);
      message.request.neighbours.assign(static_cast<std::size_t>(3 * gpus), {});
      message.request.neighbours[0] = {static_cast<collectives::Rank>(gpus)};  // a rank of the next node
      std::vector<CollectiveJob> jobs{message, test::job(all_reduce, "ring", 64 * kMebi),
                                      test::job(all_reduce, "parameter-server", 64 * kMebi)};
      // Left out with two GPUs per node, since the library then uses more channels for a short message above some rate.
      if (gpus == 1) jobs.push_back(test::job(all_reduce, "ring", 1e5));
      std::vector<double> seconds;
      for (const CollectiveTiming& one : timed(cluster, jobs)) seconds.push_back(one.seconds);
      for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_LE(seconds[i], 1.0001 * before[i]) << gpus << ' ' << gbit << ' ' << i;
        EXPECT_LE(before[i], 1.05 * gbit / last * seconds[i]) << gpus << ' ' << gbit << ' ' << i;
      }
      before = seconds;
      last = gbit;
    }
  }
}

TEST(AdaptersOverTcp, ThatAreAccessLinesLoseWhatTheirQueueDoesNotHold) {
  const auto both_ways = [](const char* name) {
    spec::GpuClusterSpec cluster = over_tcp(4, 1, 10);
    cluster.nic = *find_link(name);
    cluster.nic.latency = 1e-6;
    return timed(cluster, {test::job(all_reduce, "ring", 64 * kMebi)})[0].seconds;
  };
  EXPECT_GT(both_ways("fibre-10g"), 1.3 * both_ways("ethernet-10g"));
}

TEST(AdaptersOverTcp, GoByConnectionsCoresAndPackets) {
  const auto rate = [](const spec::GpuClusterSpec& cluster) {
    return 256 * kMebi / timed(cluster, {into_one(1, 256 * kMebi)})[0].seconds / kGbit;
  };
  spec::GpuClusterSpec one_thread = over_tcp(2, 1, 100);
  one_thread.socket_threads = 1;
  EXPECT_NEAR(rate(one_thread), 20, 0.5);
  spec::GpuClusterSpec few = over_tcp(2, 1, 100);
  few.sockets = 3;
  EXPECT_NEAR(rate(few), 60, 1);
  spec::GpuClusterSpec limited = over_tcp(2, 1, 100);
  limited.sockets = 8;
  limited.flow_limit = 5 * kGbit;
  EXPECT_NEAR(rate(limited), 40, 1);
  spec::GpuClusterSpec jumbo = over_tcp(2, 1, 40);
  jumbo.mtu = 9000;
  EXPECT_NEAR(rate(jumbo), 40 * 8948.0 / 9038, 0.2);
}

TEST(AdaptersOverTcp, LoseOnlyWhereMoreArrivesThanLeaves) {
  // Seven senders to one receiver lose packets that the port's queue cannot hold; a larger queue or BBR loses fewer.
  // Two separate pairs lose none.
  spec::GpuClusterSpec cluster = over_tcp(8, 1, 25);
  cluster.nic.queue_bytes = 3e5;
  const double small = timed(cluster, {into_one(7, 4 * kMebi)})[0].seconds;
  cluster.nic.queue_bytes = 1e9;  // congestion="bbr" has such a queue
  const double endless = timed(cluster, {into_one(7, 4 * kMebi)})[0].seconds;
  EXPECT_GT(small, 1.002 * endless);
  EXPECT_NEAR(endless, 7 * 4 * kMebi / (25 * kGbit * 1448 / 1538), 0.02 * endless);
  CollectiveJob pairs = test::job(neighbour_exchange, "auto", 4 * kMebi);
  pairs.request.neighbours = {{1}, {}, {3}, {}, {}, {}, {}, {}};
  cluster.nic.queue_bytes = 3e5;
  const double lossless = timed(cluster, {pairs})[0].seconds;
  EXPECT_NEAR(lossless, 4 * kMebi / (25 * kGbit * 1448 / 1538), 0.05 * lossless);
}

TEST(AdaptersOfAGpu, ShareItsMessagesBehindItsSlot) {
  // NVIDIA/nccl-tests, issue 232 (2024), measured 50 GB/s on each of two H100 with four adapters of 400 Gbit/s.
  spec::GpuClusterSpec cluster = test::cluster_of(2, 1, *find_link("nvlink-4"), *find_link("roce-400"));
  cluster.rails = 4;
  const auto bus = [](const spec::GpuClusterSpec& on) {
    return 1024 * kMebi / timed(on, {test::job(all_reduce, "ring", 1024 * kMebi)})[0].seconds / 1e9;
  };
  EXPECT_NEAR(bus(cluster), 50, 2);
  cluster.slot = *find_link("pcie-4");
  EXPECT_NEAR(bus(cluster), 24.8, 1);
  cluster.rails = 1;
  cluster.slot = {};
  EXPECT_NEAR(bus(cluster), 45, 1.5);
}

}  // namespace
}  // namespace dadsim::sim
