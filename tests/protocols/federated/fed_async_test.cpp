#include <gtest/gtest.h>

#include <cmath>

#include "protocols/simulating.hpp"

namespace dadsim::test {
namespace {

struct Clients {
  std::vector<Quadratics::Site> sites;
  std::vector<double> seconds;  ///< seconds per step, per client
  double start = 10;

  Simulated operator()(const std::string& protocol, spec::ParameterValues parameters,
                       const std::vector<Fate>& fates = {}) const {
    SmallProblem small(sites.size());
    small.training.evaluate_every = 1;
    History history(1, nullptr);
    Quadratics learning(small.problem(), history, sites, start);
    auto world =
        closed_form(sites.size(), [this](world::Node node) { return seconds[static_cast<std::size_t>(node)]; });
    parameters.emplace("local-steps", "1");
    spec::RunSpec run = run_of(protocol, parameters);
    return simulate(world, small, learning, run, {}, fates);
  }
};

TEST(FedBuff, OfAsManyUpdatesAsClientsOfEqualSpeedIsFedAvg) {
  const Clients clients{{{1, 0}, {2, 3}, {0.5, 7}, {1, 1}}, {1, 1, 1, 1}};
  const Simulated buffered = clients("fedbuff", {{"updates", "8"}, {"buffer", "4"}});
  const Simulated rounds = clients("fedavg", {{"rounds", "8"}});
  ASSERT_EQ(buffered.qualities.size(), rounds.qualities.size());
  for (std::size_t i = 0; i < rounds.qualities.size(); ++i) {
    EXPECT_NEAR(buffered.qualities[i][1], rounds.qualities[i][1], 1e-5);
  }
  EXPECT_NEAR(buffered.log.seconds, rounds.log.seconds, 1e-9);
  EXPECT_EQ(buffered.protocol_log.staleness, (std::map<std::int64_t, std::int64_t>{{0, 32}}));
}

TEST(FedBuff, CountsOldUpdatesLess) {
  // The first client answers at 1, 2 and 3 s. The second answers at 2.5 s, two models after it was asked.
  const Clients clients{{{1, 0}, {1, 0}}, {1, 2.5}};
  const Simulated simulated = clients("fedbuff", {{"updates", "3"}, {"buffer", "1"}});
  EXPECT_NEAR(simulated.log.seconds, 2.5, 1e-9);
  EXPECT_EQ(simulated.protocol_log.staleness, (std::map<std::int64_t, std::int64_t>{{0, 2}, {2, 1}}));
  EXPECT_NEAR(simulated.qualities[2][1], 8.1, 1e-5);
  EXPECT_NEAR(simulated.qualities[3][1], 8.1 - 0.1 * 10 / std::sqrt(3), 1e-5);
}

TEST(FedBuff, KeepsAsManyAtWorkAsAreAsked) {
  const Clients clients{std::vector<Quadratics::Site>(8, {1, 0}), std::vector<double>(8, 1)};
  const Simulated simulated = clients("fedbuff", {{"updates", "6"}, {"buffer", "2"}, {"concurrency", "2"}});
  EXPECT_NEAR(simulated.log.seconds, 6, 1e-9);
  EXPECT_EQ(simulated.protocol_log.asked, 12);
}

TEST(FedAsync, OfOneClientWithAlphaOneIsThatClient) {
  const Clients clients{{{1, 2}}, {1}};
  const Simulated simulated = clients("fedasync", {{"updates", "10"}, {"alpha", "1"}, {"staleness", "constant"}});
  double x = 10;
  for (std::size_t i = 0; i <= 10; ++i) {
    EXPECT_NEAR(simulated.qualities.at(i)[1], x, 1e-5);
    x -= 0.1 * (x - 2);
  }
}

// Model t uses an update that started from model τ. Even without other updates in between, t − τ is 1 (arXiv
// 1903.03934, algorithm 1), so a fresh update has the weight (1 + 1)^−½ = 0.707 of α.
TEST(FedAsync, AFreshUpdateHasTheStalenessOne) {
  const Clients clients{{{1, 0}}, {1}};
  const auto after_one = [&](spec::ParameterValues how) {
    how.insert({{"updates", "1"}, {"alpha", "0.6"}});
    return clients("fedasync", how).qualities.at(1)[1];
  };
  EXPECT_NEAR(after_one({{"staleness", "constant"}}), 10 - 0.6, 1e-5);
  EXPECT_NEAR(after_one({{"staleness", "polynomial"}}), 10 - 0.6 / std::sqrt(2), 1e-5);
  EXPECT_NEAR(after_one({{"staleness", "polynomial"}, {"a", "1"}}), 10 - 0.6 / 2, 1e-5);
  EXPECT_NEAR(after_one({{"staleness", "hinge"}}), 10 - 0.6, 1e-5);
  EXPECT_NEAR(after_one({{"staleness", "hinge"}, {"b", "0"}}), 10 - 0.6 / (10 + 1), 1e-5) << "a = 10 is the paper's";
}

TEST(FedAsync, RefusesAnExponentThatIsNone) {
  const auto faults = [](const char* a) {
    return faults_of(protocols::protocol_registry().at("fedasync"), {run_of("fedasync", {{"a", a}}), 2});
  };
  EXPECT_EQ(faults("-0.5").at(0),
            (Fault{"a = -0.5 would give old updates more weight", "use 0 or more, or -1 for the paper's value"}));
  EXPECT_TRUE(faults("-1").empty());
  EXPECT_TRUE(faults("0").empty());
}

TEST(FedAsync, MixesByStaleness) {
  const Clients clients{{{1, 0}, {1, 0}}, {1, 2.5}};
  // Two fresh updates of the first client are followed by one of the second, which started from x = 10 and ends at 9.
  const auto third = [&](const spec::ParameterValues& how) {
    spec::ParameterValues parameters = {{"updates", "3"}, {"alpha", "0.5"}};
    parameters.insert(how.begin(), how.end());
    return clients("fedasync", parameters).qualities.at(3)[1];
  };
  const auto mixed = [&](double fresh, double old) { return (1 - old) * 10 * std::pow(1 - 0.1 * fresh, 2) + old * 9; };
  EXPECT_NEAR(third({{"staleness", "constant"}}), mixed(0.5, 0.5), 1e-5);
  EXPECT_NEAR(third({{"staleness", "polynomial"}}), mixed(0.5 / std::sqrt(2), 0.5 / std::sqrt(4)), 1e-5);
  EXPECT_NEAR(third({{"staleness", "polynomial"}, {"a", "2"}}), mixed(0.5 / 4, 0.5 / 16), 1e-5);
  EXPECT_NEAR(third({{"staleness", "hinge"}, {"b", "1"}}), mixed(0.5, 0.5 / 21), 1e-5);
  EXPECT_NEAR(third({{"staleness", "hinge"}, {"a", "4"}, {"b", "2"}}), mixed(0.5, 0.5 / 5), 1e-5);
  EXPECT_NEAR(third({{"staleness", "hinge"}, {"b", "3"}}), mixed(0.5, 0.5), 1e-5);
}

TEST(FedAsync, ReplacesAClientThatFails) {
  const Clients clients{{{1, 0}, {1, 0}}, {1, 1}};
  const Simulated simulated =
      clients("fedasync", {{"updates", "5"}, {"concurrency", "1"}, {"alpha", "1"}, {"staleness", "constant"}},
              {{0.5, 0, false}, {0.6, 1, false}, {0.7, 0, true}, {0.8, 1, true}});
  EXPECT_EQ(simulated.protocol_log.updates, 5);
  EXPECT_GE(simulated.protocol_log.failed, 1);
  EXPECT_NEAR(simulated.qualities.back()[1], 10 * std::pow(0.9, 5), 1e-5);
}

TEST(FedAsync, AServerThatComesBackGoesOn) {
  const Clients clients{{{1, 0}, {1, 0}}, {1, 1}};
  const Simulated simulated =
      clients("fedbuff", {{"updates", "4"}, {"buffer", "2"}}, {{1.5, 2, false}, {2.5, 2, true}});
  // The first model is made at 1 s; the second starts at 2.5 s.
  EXPECT_NEAR(simulated.log.seconds, 2.5 + 3, 1e-9);
  EXPECT_NEAR(simulated.qualities.back()[1], 10 * std::pow(0.9, 4), 1e-5);
  EXPECT_EQ(simulated.protocol_log.failed, 2);
}

TEST(FedAsync, TenThousandClients) {
  const std::size_t count = 10000;
  const SmallProblem small(count, 10000);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(count, {1, 0}), 10);
  auto world = closed_form(count, [](world::Node node) { return 1 + 1e-4 * static_cast<double>(node); });
  const Simulated simulated = simulate(
      world, small, learning,
      run_of("fedbuff", {{"updates", "100"}, {"local-steps", "1"}, {"buffer", "200"}, {"concurrency", "5000"}}));
  EXPECT_EQ(simulated.protocol_log.updates, 100);
  EXPECT_EQ(simulated.protocol_log.answered, 20000);
}

}  // namespace
}  // namespace dadsim::test
