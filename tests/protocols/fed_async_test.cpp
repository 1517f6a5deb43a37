#include <gtest/gtest.h>

#include <cmath>

#include "protocols/playing.hpp"

namespace dadsim::test {
namespace {

struct Clients {
  std::vector<Quadratics::Site> sites;
  std::vector<double> seconds;  ///< of a step
  double start = 10;

  Played operator()(const std::string& protocol, spec::ParameterValues parameters,
                    const std::vector<Fate>& fates = {}) const {
    SmallProblem small(sites.size());
    small.training.evaluate_every = 1;
    History history(1, nullptr);
    Quadratics learning(small.problem(), history, sites, start);
    auto world =
        closed_form(sites.size(), [this](world::Node node) { return seconds[static_cast<std::size_t>(node)]; });
    parameters.emplace("local-steps", "1");
    spec::RunSpec run = run_of(protocol, parameters);
    return play(world, small, learning, run, {}, fates);
  }
};

TEST(FedBuff, OfAsManyUpdatesAsClientsOfEqualSpeedIsFedAvg) {
  const Clients clients{{{1, 0}, {2, 3}, {0.5, 7}, {1, 1}}, {1, 1, 1, 1}};
  const Played buffered = clients("fedbuff", {{"updates", "8"}, {"buffer", "4"}});
  const Played rounds = clients("fedavg", {{"rounds", "8"}});
  ASSERT_EQ(buffered.qualities.size(), rounds.qualities.size());
  for (std::size_t i = 0; i < rounds.qualities.size(); ++i) {
    EXPECT_NEAR(buffered.qualities[i][1], rounds.qualities[i][1], 1e-5);
  }
  EXPECT_NEAR(buffered.log.seconds, rounds.log.seconds, 1e-9);
  EXPECT_EQ(buffered.tally.staleness, (std::map<std::int64_t, std::int64_t>{{0, 32}}));
}

TEST(FedBuff, CountsOldUpdatesLess) {
  // Answers: the first client's at 1, 2, 3, the second's at 2.5 with two models made since it was asked.
  const Clients clients{{{1, 0}, {1, 0}}, {1, 2.5}};
  const Played played = clients("fedbuff", {{"updates", "3"}, {"buffer", "1"}});
  EXPECT_NEAR(played.log.seconds, 2.5, 1e-9);
  EXPECT_EQ(played.tally.staleness, (std::map<std::int64_t, std::int64_t>{{0, 2}, {2, 1}}));
  EXPECT_NEAR(played.qualities[2][1], 8.1, 1e-5);
  EXPECT_NEAR(played.qualities[3][1], 8.1 - 0.1 * 10 / std::sqrt(3), 1e-5);
}

TEST(FedBuff, KeepsAsManyAtWorkAsAreAsked) {
  const Clients clients{std::vector<Quadratics::Site>(8, {1, 0}), std::vector<double>(8, 1)};
  const Played played = clients("fedbuff", {{"updates", "6"}, {"buffer", "2"}, {"concurrency", "2"}});
  EXPECT_NEAR(played.log.seconds, 6, 1e-9);
  EXPECT_EQ(played.tally.asked, 12);
}

TEST(FedAsync, OfOneClientWithAlphaOneIsThatClient) {
  const Clients clients{{{1, 2}}, {1}};
  const Played played = clients("fedasync", {{"updates", "10"}, {"alpha", "1"}});
  double x = 10;
  for (std::size_t i = 0; i <= 10; ++i) {
    EXPECT_NEAR(played.qualities.at(i)[1], x, 1e-5);
    x -= 0.1 * (x - 2);
  }
}

TEST(FedAsync, MixesByStaleness) {
  const Clients clients{{{1, 0}, {1, 0}}, {1, 2.5}};
  // Two updates of the first client, then that of the second, which began with x = 10 and ends with 9.
  const auto third = [&](const spec::ParameterValues& how) {
    spec::ParameterValues parameters = {{"updates", "3"}, {"alpha", "0.5"}};
    parameters.insert(how.begin(), how.end());
    return clients("fedasync", parameters).qualities.at(3)[1];
  };
  const double x = 10 * 0.95 * 0.95;
  const auto mixed = [&](double alpha) { return (1 - alpha) * x + alpha * 9; };
  EXPECT_NEAR(third({{"staleness", "constant"}}), mixed(0.5), 1e-5);
  EXPECT_NEAR(third({{"staleness", "polynomial"}, {"a", "0.5"}}), mixed(0.5 / std::sqrt(3)), 1e-5);
  EXPECT_NEAR(third({{"staleness", "hinge"}, {"a", "10"}, {"b", "1"}}), mixed(0.5 / 11), 1e-5);
  EXPECT_NEAR(third({{"staleness", "hinge"}, {"a", "10"}, {"b", "2"}}), mixed(0.5), 1e-5);
}

TEST(FedAsync, ReplacesAClientThatFails) {
  const Clients clients{{{1, 0}, {1, 0}}, {1, 1}};
  const Played played = clients("fedasync", {{"updates", "5"}, {"concurrency", "1"}, {"alpha", "1"}},
                                {{0.5, 0, false}, {0.6, 1, false}, {0.7, 0, true}, {0.8, 1, true}});
  EXPECT_EQ(played.tally.updates, 5);
  EXPECT_GE(played.tally.failed, 1);
  EXPECT_NEAR(played.qualities.back()[1], 10 * std::pow(0.9, 5), 1e-5);
}

TEST(FedAsync, AServerThatComesBackGoesOn) {
  const Clients clients{{{1, 0}, {1, 0}}, {1, 1}};
  const Played played = clients("fedbuff", {{"updates", "4"}, {"buffer", "2"}}, {{1.5, 2, false}, {2.5, 2, true}});
  // One model at 1; the next begins at 2.5.
  EXPECT_NEAR(played.log.seconds, 2.5 + 3, 1e-9);
  EXPECT_NEAR(played.qualities.back()[1], 10 * std::pow(0.9, 4), 1e-5);
  EXPECT_EQ(played.tally.failed, 2);
}

TEST(FedAsync, TenThousandClients) {
  const std::size_t count = 10000;
  const SmallProblem small(count, 10000);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(count, {1, 0}), 10);
  auto world = closed_form(count, [](world::Node node) { return 1 + 1e-4 * static_cast<double>(node); });
  const Played played =
      play(world, small, learning,
           run_of("fedbuff", {{"updates", "100"}, {"local-steps", "1"}, {"buffer", "200"}, {"concurrency", "5000"}}));
  EXPECT_EQ(played.tally.updates, 100);
  EXPECT_EQ(played.tally.answered, 20000);
}

}  // namespace
}  // namespace dadsim::test
