#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "protocols/simulating.hpp"

namespace dadsim::test {

inline const std::vector<std::int64_t> kPlayedSamples = {20, 60, 120, 40};
inline constexpr double kSentNumbers = 784 * 10 + 10;  ///< one layer on digits of 28 × 28 pixels
inline constexpr double kLatency = 0.01, kBandwidth = 1e6;

/// A simulated run, with the loss of every evaluation.
struct Played {
  Simulated simulated;
  std::vector<double> losses;
};

/// Simulates a run of sites that are unequal in samples and speed.
inline Played played(const spec::RunSpec& run, const SmallProblem& small = unequal_problem(kPlayedSamples),
                     world::ClosedFormWorld::SiteLine line = {.latency = kLatency, .bandwidth = kBandwidth},
                     const std::vector<std::size_t>& regions = {}) {
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto world = closed_form(
      small.partition.size(), [](world::Node node) { return 0.2 + 0.13 * node; }, line);
  Played result{simulate(world, small, learning, run, {}, {}, {}, regions), {}};
  for (const auto& quality : result.simulated.qualities) result.losses.push_back(quality[0]);
  return result;
}

inline Played played(const char* method, const spec::ParameterValues& parameters) {
  return played(run_of(method, parameters));
}

/// Expects the same losses, within `tolerance` and within the same fraction of each loss.
inline void expect_same_models(const Played& a, const Played& b, double tolerance = 0, const std::string& what = {}) {
  ASSERT_EQ(a.losses.size(), b.losses.size()) << what;
  ASSERT_GE(a.losses.size(), 3U) << what;
  for (std::size_t i = 0; i < a.losses.size(); ++i)
    EXPECT_NEAR(a.losses[i], b.losses[i], tolerance * std::min(1.0, b.losses[i])) << what << ", " << i;
}

/// Expects that 40 rounds end in spite of outages of workers and links, and that every byte is received or lost.
inline void expect_outages_survived(const char* method, const char* to, const std::vector<std::size_t>& regions = {}) {
  const SmallProblem small = unequal_problem(kPlayedSamples);
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  world::ClosedFormWorld world(
      {.nodes = 6,
       .line =
           [](world::Node, world::Node) {
             return world::ClosedFormWorld::SiteLine{0.2, 1e6};
           },
       .seconds = [](world::Node node,
                     const world::Work& work) { return (0.3 + 0.1 * node) * static_cast<double>(work.steps); },
       .link = [](world::Node from, world::Node into) { return "of-" + std::to_string(std::min(from, into)); }});
  const std::vector<Fate> fates = {
      {1.0, 1, false},  {4.1, 1, true},  {7.3, 0, false},           {7.9, 3, false},
      {9.9, 0, true},   {12.5, 3, true}, {20.0, -1, false, "of-1"}, {31.0, -1, true, "of-1"},
      {40.0, 2, false}, {43.0, 2, true}};
  const spec::RunSpec run = run_of(method, {{"period", "2"}, {"rounds", "40"}, {"to", to}});
  const Simulated simulated = simulate(world, small, learning, run, {}, fates, regions);
  EXPECT_EQ(simulated.protocol_log.updates, 40) << method;
  EXPECT_GT(simulated.protocol_log.failed, 0) << method;
  EXPECT_LT(simulated.qualities.back()[0], 0.9 * simulated.qualities.front()[0]) << method;
  double sent = 0, arrived = 0;
  for (const step::EventLog::NodeUse& node : simulated.log.nodes) {
    sent += node.sent;
    arrived += node.received + node.lost;
  }
  EXPECT_NEAR(sent, arrived, 1e-9 * sent) << method;
}

}  // namespace dadsim::test
