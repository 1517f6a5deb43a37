#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "collectives/collective.hpp"
#include "sim/declared.hpp"
#include "sim/simulator.hpp"
#include "spec/platform_specification.hpp"

// Tests the choices of `auto` and `best` among peers on unequal lines: four places on four continents, with
// single-stream rates measured by A. Erben et al., arXiv:2306.03163.

namespace dadsim::sim {
namespace {

struct Measured {
  const char *from, *to;
  double megabits, milliseconds;
};
constexpr std::array kLines{Measured{"us", "eu", 210, 103},  Measured{"us", "asia", 130, 157},
                            Measured{"us", "aus", 120, 176}, Measured{"eu", "asia", 80, 253},
                            Measured{"eu", "aus", 70, 272},  Measured{"asia", "aus", 160, 131}};

/// Returns a cluster with the given number of peers in each place, in the order of the places.
Cluster peers(const std::vector<std::pair<std::string, int>>& places) {
  spec::WanSpec wan;
  wan.host.name = "host";
  wan.host.bandwidth = 8.6e8;
  wan.host.latency = 1.6e-4;
  wan.host.transport = spec::Transport::tcp;
  wan.host.is_goodput = true;
  Cluster cluster;
  for (const auto& [place, count] : places) {
    wan.regions.push_back({place, count});
    for (int i = 1; i <= count; ++i) cluster.hosts.push_back(fmt::format("{}-{}", place, i));
  }
  const auto there = [&](const std::string& name) {
    return std::ranges::any_of(places, [&](const auto& place) { return place.first == name; });
  };
  for (const Measured& line : kLines) {
    if (!there(line.from) || !there(line.to)) continue;
    for (const bool back : {false, true}) {
      spec::WanSpec::Pair pair;
      pair.from = back ? line.to : line.from;
      pair.to = back ? line.from : line.to;
      pair.bandwidth = line.megabits * 1e6 / 8 * 10;
      pair.per_connection = line.megabits * 1e6 / 8;
      pair.round_trip = line.milliseconds / 1e3;
      pair.is_goodput = true;
      wan.pairs.push_back(pair);
    }
  }
  cluster.platform.what = wan;
  return cluster;
}

constexpr double kBytes = 1.12e9;

TEST(BestOverWan, IsTheQuickestForEightPeers) {
  for (const int places : {2, 4}) {
    std::vector<std::pair<std::string, int>> all{{"us", 8 / places}, {"eu", 8 / places}};
    if (places == 4) all.insert(all.end(), {{"asia", 2}, {"aus", 2}});
    std::vector<CollectiveJob> jobs;
    for (const char* name : {"auto", "ring", "direct", "ordered-ring", "halving-doubling", "parameter-server"})
      jobs.push_back(test::job(step::CollectiveKind::all_reduce, name, kBytes));
    const std::vector<CollectiveTiming> timings = time_collectives(peers(all), jobs).timings;
    for (std::size_t i = 1; i < timings.size(); ++i)
      EXPECT_LE(timings[0].seconds, 1.01 * timings[i].seconds) << timings[0].algorithm << ", " << timings[i].algorithm;
    EXPECT_LT(1.5 * timings[0].seconds, timings[1].seconds) << "a ring on unequal lines, " << places << " places";
  }
}

// In a direct all-reduce, every pair sends 2/N of the bytes at once, so the slowest connection decides. `auto` is no
// slower.
TEST(BestOverWan, OnePeerAPlaceTakesWhatTheSlowestPairTakes) {
  const Cluster cluster = peers({{"us", 1}, {"eu", 1}, {"asia", 1}});
  const std::vector<CollectiveTiming> timings =
      time_collectives(cluster, std::vector{test::job(step::CollectiveKind::all_reduce, "direct", kBytes),
                                            test::job(step::CollectiveKind::all_reduce, "auto", kBytes)})
          .timings;
  EXPECT_NEAR(timings[0].seconds, 2 * kBytes / 3 / (80e6 / 8), 0.02 * timings[0].seconds);
  EXPECT_LE(timings[1].seconds, timings[0].seconds);
}

// Flow limits a connection to the same measured rate.
TEST(BestOverWan, FlowIsMessages) {
  Cluster cluster = peers({{"us", 2}, {"eu", 1}, {"asia", 2}});
  for (const char* name : {"ring", "ordered-ring"}) {
    std::vector<double> seconds;
    for (const spec::Fidelity fidelity : {spec::Fidelity::message, spec::Fidelity::flow}) {
      cluster.network.fidelity = fidelity;
      const CollectiveTiming timing =
          time_collectives(cluster, std::vector{test::job(step::CollectiveKind::all_reduce, name, kBytes)})
              .timings.at(0);
      EXPECT_EQ(timing.fidelity, fidelity) << name;
      seconds.push_back(timing.seconds);
    }
    EXPECT_NEAR(seconds[1], seconds[0], 0.005 * seconds[0]) << name;
  }
}

// Peers are numbered so that a plain ring sends from eu to aus over the slowest line.
TEST(BestOverWan, ARingOfQuickPairsAvoidsTheSlowOne) {
  const Cluster cluster = peers({{"eu", 1}, {"aus", 1}, {"us", 1}, {"asia", 1}});
  const auto seconds = [&](const char* name) {
    return time_collectives(cluster, std::vector{test::job(step::CollectiveKind::all_reduce, name, kBytes)})
        .timings.at(0)
        .seconds;
  };
  // Each ring sends 2(N - 1) blocks of b/N over its slowest pair: 70 Mbit/s in the order eu, aus, us, asia; 80 in the
  // order eu, us, aus, asia.
  EXPECT_NEAR(seconds("one-ring") / seconds("ordered-ring"), 80.0 / 70, 0.03);
}

}  // namespace
}  // namespace dadsim::sim
