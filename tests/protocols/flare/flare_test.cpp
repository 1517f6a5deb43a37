#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/random/uniform_01.hpp>
#include <cmath>

#include "protocols/flare/flare_protocol.hpp"
#include "protocols/simulating.hpp"
#include "quick_kernels.hpp"

namespace dadsim::test {
namespace {

TEST(KolmogorovSmirnov, DistanceIsTheLargestGapOfTheSteps) {
  using protocols::ks_distance;
  const std::vector<double> a = {1, 2, 3, 4}, b = {3.5, 5, 6}, ties = {1, 1, 1, 1};
  EXPECT_DOUBLE_EQ(ks_distance(a, a), 0);
  EXPECT_DOUBLE_EQ(ks_distance(a, b), 0.75);  // after the third value, the distributions are at 3/4 and 0
  EXPECT_DOUBLE_EQ(ks_distance(b, a), 0.75);
  EXPECT_DOUBLE_EQ(ks_distance(ties, a), 0.75);
  EXPECT_NEAR(protocols::ks_threshold(100, 100, 0.05), 1.3581 * std::sqrt(0.02), 1e-4);
}

TEST(KolmogorovSmirnov, ThresholdIsPassedAsOftenAsItsLevelSays) {
  for (const double level : {0.05, 0.2}) {
    int passed = 0;
    constexpr int kTrials = 4000;
    for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
      RandomStream random(1, Purpose::test, trial);
      std::vector<double> a(200), b(150);
      for (double& x : a) x = boost::random::uniform_01<double>()(random);
      for (double& x : b) x = boost::random::uniform_01<double>()(random);
      std::ranges::sort(a);
      std::ranges::sort(b);
      passed += protocols::ks_distance(a, b) > protocols::ks_threshold(200, 150, level) ? 1 : 0;
    }
    // The test is asymptotic, and conservative for finite samples. The upper bound is the level plus four standard
    // deviations of the count.
    const double share = static_cast<double>(passed) / kTrials;
    EXPECT_LT(share, level + 4 * std::sqrt(level / kTrials)) << level;
    EXPECT_GT(share, 0.6 * level) << level;
  }
}

TEST(KolmogorovSmirnov, QuantilesOfManyCountAsTheSamplesThatTheyAreOf) {
  // Tests a window of m against K quantiles of h values, as a sensor does. Expected rates at levels 0.05, 0.01 and
  // 0.001 are from numpy (60,000 trials each, seed 1). For m = 200, h = 225, K = 100: 0.0459, 0.0093, 0.0011. For m =
  // 100, h = 30, K = 100: 0.0405, 0.0074, 0.0006. With n = K in place of h, the first rates were 0.004 and 0.002.
  struct Sizes {
    std::size_t window, held_back, quantiles;
  };
  for (const Sizes sizes : {Sizes{200, 225, 100}, Sizes{100, 30, 100}}) {
    constexpr int kTrials = 12000;
    constexpr std::array<double, 3> kLevels = {0.05, 0.01, 0.001};
    std::array<int, 3> alarms{};
    for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
      RandomStream random(2, Purpose::test, trial);
      std::vector<double> live(sizes.window), held_back(sizes.held_back);
      for (double& x : live) x = boost::random::uniform_01<double>()(random);
      for (double& x : held_back) x = boost::random::uniform_01<double>()(random);
      std::ranges::sort(live);
      const double distance = protocols::ks_distance(live, protocols::quantiles(held_back, sizes.quantiles));
      for (std::size_t i = 0; i < kLevels.size(); ++i) {
        alarms[i] += distance > protocols::ks_threshold(sizes.window, sizes.held_back, kLevels[i]) ? 1 : 0;
      }
    }
    // Rates approach the level from below. They must be between 0.6 of the level and the level, within four standard
    // deviations of the count.
    for (std::size_t i = 0; i < kLevels.size(); ++i) {
      const double expected = kLevels[i] * kTrials;
      EXPECT_LT(alarms[i], expected + 4 * std::sqrt(expected)) << sizes.held_back << " at " << kLevels[i];
      EXPECT_GT(alarms[i], 0.6 * expected - 4 * std::sqrt(0.6 * expected)) << sizes.held_back << " at " << kLevels[i];
    }
    EXPECT_GT(alarms[0], 10 * alarms[2]);
    std::printf("%zu held back: %d, %d and %d alarms of %d\n", sizes.held_back, alarms[0], alarms[1], alarms[2],
                kTrials);
  }
}

/// Provides sensors with drawn digits, and a network of one layer.
struct Sensors {
  Sensors(std::size_t sites, std::uint64_t seed, const std::vector<spec::DriftSpec>& drifts,
          std::int64_t samples = 3000)
      : small(sites, samples, 0.1) {
    small.training.batch = 16;
    small.model.layers = {spec::DenseSpec{.units = 32, .activation = spec::Activation::relu},
                          spec::DenseSpec{.units = 10}};
    small.training.optimizer.kind = spec::OptimizerSpec::Kind::sgd;
    drift = models::make_drift(drifts, small.data, small.partition, seed);
    problem.emplace(
        algorithms::LearningProblem{small.data, small.partition, small.model, small.training, seed, &drift});
  }
  Simulated simulate(const spec::ParameterValues& changed) {
    History history(1, nullptr);
    Learning learning(*problem, history);
    const auto server = static_cast<world::Node>(small.partition.size());
    world::ClosedFormWorld world(
        {.nodes = small.partition.size() + 1,
         .line = [](world::Node,
                    world::Node) { return world::ClosedFormWorld::SiteLine{.latency = 0.01, .bandwidth = 1e6}; },
         .seconds =
             [server](world::Node node, const world::Work& work) {
               return node == server ? 0.02 * static_cast<double>(work.steps) : 0.01;
             },
         .link = nullptr});
    return test::simulate(world, small, learning, run_of("flare", changed));
  }

  SmallProblem small;
  models::DriftedData drift;
  std::optional<algorithms::LearningProblem> problem;
};

TEST(Flare, WithoutDriftFalseAlarmsAreAsRareAsTheLevelSays) {
  // Each sensor tests one window, of all samples that are not the client's: m = 30, h = 60, K = 20. numpy (200,000
  // trials, seed 1) gives rates of 0.1733 and 0.0380; with n = K the first would be 0.035.
  for (const auto& [level, rate] : {std::pair{"0.2", 0.1733}, std::pair{"0.05", 0.0380}}) {
    double alarms = 0, windows = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Sensors sensors(60, seed, {}, 6000);
      const Simulated simulated = sensors.simulate({{"duration", "5"},
                                                    {"samples", "30"},
                                                    {"quantiles", "20"},
                                                    {"held", "0.7"},
                                                    {"validation", "0.86"},
                                                    {"patience", "5"},
                                                    {"level", level}});
      const auto& facts = simulated.protocol_log.facts;
      windows += facts.at("windows tested without drift");
      alarms += facts.at("false alarms");
      // Every alarm causes an upload, and nothing else does.
      EXPECT_DOUBLE_EQ(facts.contains("uploads") ? facts.at("uploads") : 0, facts.at("false alarms"));
      EXPECT_EQ(facts.count("detections"), 0U);
    }
    std::printf("level %s: %g false alarms in %g windows\n", level, alarms, windows);
    EXPECT_EQ(windows, 180);
    EXPECT_NEAR(alarms, rate * windows, 4 * std::sqrt(rate * (1 - rate) * windows)) << level;
  }
}

TEST(Flare, SamplesThatItHasTrainedWithRaiseNoAlarms) {
  Sensors sensors(2, 3,
                  {{.sites = "",
                    .workers = {0, 1},
                    .at = 100,
                    .corrupts = true,
                    .corruption = spec::Corruption::glass_blur,
                    .severity = 5}});
  // The network memorises similar pictures. Two sensors upload twice each: once when the drift begins in the middle of
  // a window, and once for the next window, which has only drifted samples.
  const Simulated simulated = sensors.simulate(
      {{"duration", "1000"}, {"samples", "200"}, {"interval", "0.05"}, {"level", "0.001"}, {"local-steps", "20"}});
  EXPECT_EQ(simulated.protocol_log.facts.at("detections"), 2);
  EXPECT_LE(simulated.protocol_log.facts.at("uploads"), 4);
  EXPECT_EQ(simulated.protocol_log.facts.at("false alarms"), 0);
}

TEST(Flare, ASensorOfWhichAllIsUploadedLooksAtNothing) {
  Sensors sensors(3, 1, {}, 120);
  const Simulated simulated =
      sensors.simulate({{"duration", "300"}, {"samples", "10"}, {"level", "0.5"}, {"phi", "0.01"}, {"patience", "5"}});
  // The client has 20 of the 40 samples. Each sensor tests two windows of ten, then has no new samples.
  const auto& facts = simulated.protocol_log.facts;
  EXPECT_EQ(facts.at("uploads"), 6);
  EXPECT_EQ(facts.at("windows tested"), 6);
  EXPECT_GT(facts.at("windows not tested: all samples uploaded before"), 0);
  EXPECT_DOUBLE_EQ(facts.at("bytes of uploads"), 6 * 10 * 4 * 784);
}

TEST(Flare, SendsAFifthOfTheBytesAndHearsSixteenTimesSoonerThanFixedIntervals) {
  // The fixed schedule uploads 200 samples and deploys every 600 s for two hours. The drift begins at three phases of
  // this interval. At a level of 5 %, false alarms alone would send more than the fixed uploads, so the level is 0.1 %.
  const QuickKernels quick;
  double bytes_dual = 0, bytes_fixed = 0, latency_dual = 0, latency_fixed = 0;
  for (const double at : {1300.0, 1500.0, 1700.0}) {
    Sensors sensors(2, 1,
                    {{.sites = "",
                      .workers = {0, 1},
                      .at = at,
                      .corrupts = true,
                      .corruption = spec::Corruption::contrast,
                      .severity = 5}});
    const spec::ParameterValues common = {{"duration", "7200"},   {"samples", "200"},    {"interval", "0.05"},
                                          {"level", "0.001"},     {"local-steps", "20"}, {"upload-every", "600"},
                                          {"deploy-every", "600"}};
    const Simulated dual = sensors.simulate(common);
    spec::ParameterValues intervals = common;
    intervals["schedule"] = "fixed";
    const Simulated fixed = sensors.simulate(intervals);
    for (const Simulated* one : {&dual, &fixed}) {
      const auto& facts = one->protocol_log.facts;
      EXPECT_EQ(facts.at("detections"), 2);
      EXPECT_LT(facts.at("accuracy after the drift"), facts.at("accuracy before the drift") - 0.1);
      EXPECT_GT(facts.at("accuracy at the end"), facts.at("accuracy after the drift") + 0.05);
    }
    bytes_dual += dual.protocol_log.facts.at("bytes on sensor links");
    bytes_fixed += fixed.protocol_log.facts.at("bytes on sensor links");
    latency_dual += dual.protocol_log.facts.at("detection latency, seconds") / 3;
    latency_fixed += fixed.protocol_log.facts.at("detection latency, seconds") / 3;
  }
  EXPECT_GT(bytes_fixed / bytes_dual, 5);
  EXPECT_GT(latency_fixed / latency_dual, 16);
  std::printf("bytes %g %g, seconds until detection %g %g\n", bytes_dual / 3, bytes_fixed / 3, latency_dual,
              latency_fixed);
}

TEST(Flare, UploadsAreSamplesAndDeploymentsAreModelsWithQuantiles) {
  Sensors sensors(2, 1, {});
  const Simulated simulated = sensors.simulate({{"schedule", "fixed"},
                                                {"duration", "300"},
                                                {"upload-every", "50"},
                                                {"deploy-every", "100"},
                                                {"quantiles", "40"},
                                                {"validation", "0.5"},
                                                {"sample-bytes", "784"}});
  const auto& facts = simulated.protocol_log.facts;
  EXPECT_DOUBLE_EQ(facts.at("bytes of uploads"), facts.at("uploads") * 100 * 784);
  EXPECT_NEAR(facts.at("bytes of deployments") / facts.at("deployments"), 4.0 * (784 * 32 + 32 + 320 + 10) + 4 * 41, 1);
  double sent = 0;
  for (const auto& node : simulated.log.nodes) sent += node.sent;
  EXPECT_DOUBLE_EQ(sent, facts.at("bytes on sensor links"));
  EXPECT_DOUBLE_EQ(simulated.log.seconds, 300);
}

// The confidences of a diverged network are NaN, so no distribution can be tested.
TEST(Flare, GoesOnWithANetworkThatHasDiverged) {
  Sensors sensors(2, 7, {}, 300);
  sensors.problem->training.optimizer.learning_rate = 1e6;
  EXPECT_DOUBLE_EQ(sensors.simulate({{"duration", "100"}, {"local-steps", "20"}}).log.seconds, 100);
}

TEST(Flare, TheSameSeedGivesTheSame) {
  const std::vector<spec::DriftSpec> drifts = {
      {.sites = "", .workers = {1}, .at = 100, .corrupts = true, .corruption = spec::Corruption::blur, .severity = 5}};
  Sensors one(2, 7, drifts), other(2, 7, drifts);
  const spec::ParameterValues brief = {{"duration", "130"}, {"local-steps", "20"}};
  const Simulated first = one.simulate(brief), second = other.simulate(brief);
  EXPECT_EQ(first.protocol_log.facts, second.protocol_log.facts);
  EXPECT_EQ(first.qualities, second.qualities);
}

}  // namespace
}  // namespace dadsim::test
