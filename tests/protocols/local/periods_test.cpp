// Tests the period H by a list of steps and by the learning rate. Sites differ in samples and speed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "protocols/local/played.hpp"

namespace dadsim::test {
namespace {

TEST(Periods, RoundsBeginAtTheListedSteps) {
  const double bandwidth = 1e5, latency = 0.05, slowest = 0.2 + 0.13 * 3, bytes = 4 * kSentNumbers;
  const std::vector<double> steps = {2, 2, 3, 3, 5, 5, 5};  // from steps 0, 2, 4, 7, 10, 15, 20
  const spec::ParameterValues parameters{{"period", "2"}, {"periods", "4:3 10:5"}, {"rounds", "7"}};
  spec::ParameterValues among = parameters;
  among["to"] = "peers";
  const Played peers =
      played(run_of("diloco", among), unequal_problem(kPlayedSamples), {.latency = latency, .bandwidth = bandwidth});
  ASSERT_EQ(peers.simulated.protocol_log.versions.size(), 8U);
  double at = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    // In this World, an outer step takes as long as a local one.
    at += steps[i] * slowest + 2 * 3 * (latency + bytes / 4 / bandwidth);
    EXPECT_NEAR(peers.simulated.protocol_log.versions[i + 1].at, at + static_cast<double>(i) * slowest + 0.2, 1e-9);
  }
  for (std::size_t node = 0; node < 4; ++node)
    EXPECT_NEAR(peers.simulated.log.nodes[node].sent, 7 * 2 * 3.0 / 4 * bytes, 1e-6);
  expect_same_models(peers, played("diloco", parameters), 1e-6, "through an aggregator");
  expect_same_models(played("diloco", {{"period", "3"}, {"periods", "1:3 6:3"}}), played("diloco", {{"period", "3"}}));
}

TEST(Periods, FollowTheLearningRate) {
  SmallProblem small = unequal_problem(kPlayedSamples);  // six steps in each of two epochs
  const auto run = [](const spec::ParameterValues& parameters) { return run_of("local-sgd", parameters); };
  // period: (0.18 / 0.1)² = 3.24, rounded
  expect_same_models(played(run({{"period", "2"}, {"period-by-rate", "0.18"}}), small),
                     played(run({{"period", "3"}}), small));
  expect_same_models(played(run({{"period", "2"}, {"period-by-rate", "0.1"}}), small),
                     played(run({{"period", "2"}}), small));
  small.training.epochs = 4;
  small.training.schedule = {.kind = spec::ScheduleSpec::Kind::steps, .milestones = {1}, .factor = 0.7};
  // period: (0.18 / 0.07)² = 6.6, rounded
  expect_same_models(played(run({{"period", "2"}, {"period-by-rate", "0.18"}}), small),
                     played(run({{"period", "3"}, {"periods", "6:6"}}), small));
  small.training.schedule = {.kind = spec::ScheduleSpec::Kind::cosine, .milestones = {}};
  const Played cosine = played(run({{"period", "2"}, {"period-by-rate", "0.15"}}), small);
  std::size_t rounds = 0;
  for (double first = 0; first < 24; ++rounds) {
    const double rate = 0.1 * 0.5 * (1 + std::cos(first / 24 * std::acos(-1.0)));
    first += std::max(2.0, std::floor(std::pow(0.15 / rate, 2)));
  }
  EXPECT_EQ(cosine.simulated.protocol_log.versions.size(), 1 + rounds);
  EXPECT_LT(rounds, 12U);
  // During the warm-up, H is that of the first step after the warm-up.
  small.training.schedule = {.warm_up_epochs = 1, .milestones = {}};
  expect_same_models(played(run({{"period", "2"}, {"period-by-rate", "0.18"}}), small),
                     played(run({{"period", "3"}}), small));
}

}  // namespace
}  // namespace dadsim::test
