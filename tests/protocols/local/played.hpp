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

}  // namespace dadsim::test
