// Tests that drawn clusters obey laws of the algorithms that `auto` chooses.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sim/declared.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"

namespace dadsim::sim {
namespace {

using enum step::CollectiveKind;

/// Tolerance: near the bounds between two algorithms, the tuner may choose the slower one on a slightly faster network.
constexpr double kSameTime = 1.01;

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[random_() % values.size()];
  }

 private:
  std::mt19937_64 random_;
};

struct Drawn {
  spec::GpuClusterSpec cluster;
  double bytes = 0;
  std::string words;
};

Drawn drawn(std::uint64_t seed) {
  Draws draws(seed);
  Drawn result;
  spec::GpuClusterSpec& cluster = result.cluster;
  cluster.nodes = draws.one_of<std::int64_t>({2, 3, 4});
  cluster.gpus = draws.one_of<std::int64_t>({1, 2, 4, 8});
  cluster.rails = std::min(cluster.gpus, draws.one_of<std::int64_t>({1, 1, 2, 4}));
  cluster.port = *find_link(draws.one_of({"nvlink-2", "nvlink-3", "nvlink-4", "pcie-4"}));
  cluster.nic = *find_link(draws.one_of(
      {"ethernet-10g", "ethernet-25g", "ethernet-100g", "ib-edr", "ib-hdr", "ib-ndr", "roce-100", "roce-400"}));
  // Bandwidth limits vectors of these sizes. For short vectors, NCCL too sums sooner along a tree of few hops than a
  // ring gathers.
  result.bytes = draws.one_of({256.0, 512.0, 1024.0}) * (1 << 20);
  result.words = cluster.nic.name + ", " + cluster.port.name + ", " + std::to_string(cluster.nodes) + " x " +
                 std::to_string(cluster.gpus) + ", " + std::to_string(cluster.rails) + " adapters, " +
                 std::to_string(static_cast<int>(result.bytes / (1 << 20))) + " MiB";
  return result;
}

std::vector<CollectiveTiming> timed(const spec::GpuClusterSpec& cluster, const std::vector<step::CollectiveKind>& kinds,
                                    double bytes) {
  const auto ranks = static_cast<double>(cluster.nodes * cluster.gpus);
  std::vector<CollectiveJob> jobs;
  for (const step::CollectiveKind kind : kinds)
    jobs.push_back(test::job(kind, "auto", kind == all_gather ? bytes / ranks : bytes));
  return time_collectives(test::workers_on({"", cluster, {}, {}}, spec::Fidelity::flow), jobs).timings;
}

TEST(DrawnClusters, ObeyTheLaws) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Drawn one = drawn(seed);
    const step::CollectiveKind part = seed % 2 == 0 ? reduce_scatter : all_gather;
    const std::vector<CollectiveTiming> times = timed(one.cluster, {all_reduce, part}, one.bytes);
    EXPECT_LE(times[1].seconds, times[0].seconds)
        << one.words << ": " << times[1].algorithm << " of a part, " << times[0].algorithm << " of the whole";
    if (seed % 4 > 1) continue;
    spec::GpuClusterSpec more = one.cluster;
    const bool wider = seed % 4 == 0 || 2 * more.rails > more.gpus;
    if (wider) {
      more.nic.bandwidth *= 2;
    } else {
      more.rails *= 2;
    }
    const std::vector<CollectiveTiming> quicker = timed(more, {all_reduce, part}, one.bytes);
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_LE(quicker[i].seconds, kSameTime * times[i].seconds)
          << one.words << (wider ? ", twice the bandwidth: " : ", twice the adapters: ") << quicker[i].algorithm
          << " in place of " << times[i].algorithm;
    }
  }
}

TEST(DrawnClusters, AMeshByBandwidthIsTheSameMeshByName) {
  for (const char* name : {"nvlink-3", "nvlink-4", "xgmi-mi300x", "pcie-4"}) {
    for (const std::int64_t gpus : {4, 8}) {
      spec::GpuClusterSpec by_name = test::cluster_of(1, gpus, *find_link(name), *find_link("ib-hdr"));
      by_name.inside = spec::InsideNode::mesh;
      spec::GpuClusterSpec by_bandwidth = by_name;
      by_bandwidth.port.bandwidth *= by_bandwidth.port.efficiency;
      by_bandwidth.port.efficiency = 1;
      by_bandwidth.port.name = "gpu-cluster inside";
      for (const double bytes : {1e4, 1e6, 1e9}) {
        const std::vector<CollectiveTiming> named = timed(by_name, {all_reduce, reduce_scatter, all_gather}, bytes);
        const std::vector<CollectiveTiming> given =
            timed(by_bandwidth, {all_reduce, reduce_scatter, all_gather}, bytes);
        for (std::size_t i = 0; i < named.size(); ++i) {
          EXPECT_EQ(named[i].algorithm, given[i].algorithm) << name << ' ' << gpus;
          EXPECT_NEAR(named[i].seconds, given[i].seconds, 1e-9 * named[i].seconds) << name << ' ' << gpus;
        }
      }
    }
  }
}

}  // namespace
}  // namespace dadsim::sim
