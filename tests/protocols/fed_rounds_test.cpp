#include <gtest/gtest.h>

#include "algorithms/learn.hpp"
#include "protocols/simulating.hpp"

// Compares rounds with results computed by hand. Sites have the loss ½ (x − b)², so a step of rate r takes x to x − r
// (x − b).

namespace dadsim::test {
namespace {

using Parameters = spec::ParameterValues;

constexpr double kRate = 0.1;

std::vector<Quadratics::Site> minima(const std::vector<double>& at) {
  std::vector<Quadratics::Site> sites;
  for (const double b : at) sites.push_back({1, b});
  return sites;
}

/// Returns x after a round in which each client takes one step; clients have equal weight.
double after_round(double x, const std::vector<double>& minima_of_round) {
  double slope = 0;
  for (const double b : minima_of_round) slope += (x - b) / static_cast<double>(minima_of_round.size());
  return x - kRate * slope;
}

struct Rounds {
  std::vector<double> minimum;  ///< per client
  std::vector<double> seconds;  ///< seconds per step, per client
  world::ClosedFormWorld::SiteLine line = {};

  Simulated operator()(Parameters parameters, const std::vector<Fate>& fates = {}) const {
    const SmallProblem small(minimum.size());
    History history(1, nullptr);
    Quadratics learning(small.problem(), history, minima(minimum), 10);
    const auto server = static_cast<world::Node>(minimum.size());
    world::ClosedFormWorld world(
        {.nodes = minimum.size() + 1,
         .line = [this](world::Node, world::Node) { return line; },
         .seconds =
             [&](world::Node node, const world::Work& work) {
               return node == server ? 0 : seconds[static_cast<std::size_t>(node)] * static_cast<double>(work.steps);
             },
         .link = [&](world::Node from,
                     world::Node to) { return "line-" + std::to_string(from == server ? to : from); }});
    parameters.emplace("local-steps", "1");
    return simulate(world, small, learning, run_of("fedavg", parameters), {}, fates);
  }
};

TEST(FederatedRounds, ADeadlineLeavesOutWhoIsLate) {
  const Rounds rounds{{0, 1, 2, 3}, {1, 2, 3, 9.5}};
  const Simulated simulated = rounds({{"rounds", "3"}, {"deadline", "4"}});
  // The first round ends at the deadline, 4 s. Later rounds ask only the first three clients, and last 3 s each.
  EXPECT_NEAR(simulated.log.seconds, 4 + 3 + 3, 1e-9);
  EXPECT_EQ(simulated.protocol_log.asked, 4 + 3 + 3);
  EXPECT_EQ(simulated.protocol_log.answered, 9);
  EXPECT_EQ(simulated.protocol_log.late, 1);
  EXPECT_EQ(simulated.protocol_log.failed, 0);
  EXPECT_NEAR(simulated.protocol_log.wasted_seconds, 9.5, 1e-9);
  EXPECT_GT(simulated.protocol_log.wasted_bytes, 0);
  double x = 10;
  for (std::size_t round = 1; round <= 3; ++round) {
    x = after_round(x, {0, 1, 2});
    EXPECT_NEAR(simulated.qualities.at(round)[1], x, 1e-5);
  }
}

TEST(FederatedRounds, OverSelectionTakesTheFirst) {
  const Rounds rounds{{0, 1, 2, 3}, {1, 2, 3.5, 7}};
  const Simulated simulated = rounds({{"rounds", "3"}, {"fraction", "0.5"}, {"over-selection", "2"}});
  // Rounds ask four clients at 0 s, the two free clients at 2 s, and the three free clients at 4 s.
  EXPECT_NEAR(simulated.log.seconds, 2 + 2 + 2, 1e-9);
  EXPECT_EQ(simulated.protocol_log.asked, 4 + 2 + 3);
  EXPECT_EQ(simulated.protocol_log.answered, 6);
  EXPECT_EQ(simulated.protocol_log.late, 1);
  EXPECT_EQ(simulated.protocol_log.took_part, (std::vector<std::int64_t>{3, 3, 0, 0}));
}

TEST(FederatedRounds, RoundsThatNobodyFinishesInTimeEnd) {
  const Rounds rounds{{0, 1}, {1, 1}};
  const Simulated simulated = rounds({{"rounds", "3"}, {"deadline", "0.5"}});
  // Both clients are asked at once; the first is free at 1, the other at 1.5.
  EXPECT_NEAR(simulated.log.seconds, 2, 1e-9);
  EXPECT_EQ(simulated.protocol_log.updates, 0);
  EXPECT_EQ(simulated.protocol_log.facts.at("rounds without an update"), 3);
  EXPECT_EQ(simulated.protocol_log.late, 2);
  ASSERT_EQ(simulated.qualities.size(), 2U);
  EXPECT_EQ(simulated.qualities[0], simulated.qualities[1]);
}

TEST(FederatedRounds, AClientThatGoesDownIsLeftOutUntilItIsBack) {
  const Rounds rounds{{0, 4}, {1, 1}};
  const Simulated simulated = rounds({{"rounds", "6"}}, {{0.5, 1, false}, {4.5, 1, true}});
  EXPECT_NEAR(simulated.log.seconds, 6, 1e-9);
  EXPECT_EQ(simulated.protocol_log.took_part, (std::vector<std::int64_t>{6, 1}));
  EXPECT_EQ(simulated.protocol_log.failed, 1);
  double x = 10;
  for (int round = 1; round <= 5; ++round) x = after_round(x, {0});
  EXPECT_NEAR(simulated.qualities.at(5)[1], x, 1e-5);
  EXPECT_NEAR(simulated.qualities.at(6)[1], after_round(x, {0, 4}), 1e-5);
}

TEST(FederatedRounds, TheServerWaitsForEnoughClients) {
  const Rounds rounds{{0, 4}, {1, 1}};
  const Simulated simulated = rounds({{"rounds", "2"}, {"minimum", "1"}}, {{0.5, 1, false}, {4.5, 1, true}});
  EXPECT_NEAR(simulated.log.seconds, 5.5, 1e-9);  // the second round begins when client 1 is back
  EXPECT_EQ(simulated.protocol_log.took_part, (std::vector<std::int64_t>{2, 1}));
}

TEST(FederatedRounds, AServerThatComesBackGoesOnFromItsLastModel) {
  const Rounds rounds{{0, 4}, {1, 1}};
  // The first round ends at 1 s. The second is lost when the server fails, and the third lasts from 1.7 to 2.7 s.
  const Simulated simulated = rounds({{"rounds", "3"}}, {{1.5, 2, false}, {1.7, 2, true}});
  EXPECT_NEAR(simulated.log.seconds, 2.7, 1e-9);
  EXPECT_EQ(simulated.protocol_log.updates, 2);
  EXPECT_EQ(simulated.protocol_log.failed, 2);
  ASSERT_EQ(simulated.qualities.size(), 3U);
  EXPECT_NEAR(simulated.qualities[2][1], after_round(after_round(10, {0, 4}), {0, 4}), 1e-5);
}

TEST(FederatedRounds, AnswersToAServerThatIsDownDoNotKeepItWaiting) {
  const Rounds rounds{{0, 4}, {1, 1}};
  const Simulated simulated = rounds({{"rounds", "3"}}, {{0.5, 2, false}, {2.5, 2, true}});
  EXPECT_NEAR(simulated.log.seconds, 4.5, 1e-9);
  EXPECT_EQ(simulated.protocol_log.updates, 2);
  EXPECT_EQ(simulated.protocol_log.failed, 2);
  EXPECT_EQ(simulated.protocol_log.answered, 4);
}

TEST(FederatedRounds, NewsOfAnEarlierRequestMeansNothing) {
  const Rounds rounds{{0, 4}, {1, 1}, {.latency = 1}};
  // The client goes down while the model is in transit. The server is notified twice: of the client and of the message.
  const Simulated simulated = rounds({{"rounds", "2"}}, {{0.5, 1, false}, {0.6, 1, true}});
  EXPECT_EQ(simulated.protocol_log.failed, 1);
  EXPECT_EQ(simulated.protocol_log.took_part, (std::vector<std::int64_t>{2, 1}));
  EXPECT_NEAR(simulated.log.seconds, 3 + 3, 1e-9);
}

TEST(FederatedRounds, LostModelsAreSentAgainIfThatIsAsked) {
  const Rounds rounds{{0, 4}, {1, 1}, {.latency = 1}};
  const std::vector<Fate> cut = {{0.5, -1, false, "line-1"}, {0.6, -1, true, "line-1"}};
  const Simulated without = rounds({{"rounds", "1"}}, cut);
  EXPECT_EQ(without.protocol_log.failed, 1);
  EXPECT_NEAR(without.log.seconds, 3, 1e-9);
  const Simulated with = rounds({{"rounds", "1"}, {"retries", "1"}}, cut);
  // The message is lost at 0.5 s and sent again at 1.5 s.
  EXPECT_EQ(with.protocol_log.failed, 0);
  EXPECT_EQ(with.protocol_log.retried, 1);
  EXPECT_NEAR(with.log.seconds, 1.5 + 3, 1e-9);
}

TEST(FederatedRounds, LostAnswersAreSentAgainIfThatIsAsked) {
  const Rounds rounds{{0, 4}, {1, 1}, {.latency = 1}};
  const std::vector<Fate> cut = {{2.5, -1, false, "line-1"}, {2.6, -1, true, "line-1"}};
  const Simulated without = rounds({{"rounds", "3"}}, cut);
  EXPECT_EQ(without.protocol_log.failed, 1);
  // The client was unreachable at 2.5 s and is not asked at 3 s.
  EXPECT_EQ(without.protocol_log.took_part, (std::vector<std::int64_t>{3, 1}));
  EXPECT_NEAR(without.log.seconds, 3 + 3 + 3, 1e-9);
  const Simulated with = rounds({{"rounds", "1"}, {"retries", "2"}}, cut);
  EXPECT_EQ(with.protocol_log.failed, 0);
  EXPECT_EQ(with.protocol_log.retried, 1);
  EXPECT_NEAR(with.log.seconds, 3.5 + 1, 1e-9);
  // If the line stays down, both ends give up after retries of 1 and 2 s.
  const Simulated cut_off = rounds({{"rounds", "1"}, {"retries", "2"}}, {{2.5, -1, false, "line-1"}});
  EXPECT_EQ(cut_off.protocol_log.failed, 1);
  EXPECT_EQ(cut_off.protocol_log.retried, 2);
  EXPECT_NEAR(cut_off.log.seconds, 2.5 + 1 + 2, 1e-9);
}

TEST(FederatedRounds, NobodyIsAskedAllTheTimeWhileTheLinesAreDown) {
  const Rounds rounds{{0, 4}, {1, 1}, {.latency = 1}};
  const Simulated simulated = rounds(
      {{"rounds", "5"}},
      {{0.5, -1, false, "line-0"}, {0.5, -1, false, "line-1"}, {3, -1, true, "line-0"}, {3, -1, true, "line-1"}});
  // The server asks the client in vain at 0, 1.5 and 2.5 s, and successfully at 3.5 and 6.5 s.
  EXPECT_EQ(simulated.protocol_log.updates, 2);
  EXPECT_EQ(simulated.protocol_log.failed, 6);
  EXPECT_NEAR(simulated.log.seconds, 3.5 + 3 + 3, 1e-9);
}

TEST(FederatedRounds, WhoIsAskedDependsOnSeedAndRoundAlone) {
  const auto chosen = [](const std::vector<double>& seconds) {
    const Rounds rounds{std::vector<double>(10, 0), seconds};
    const Simulated simulated = rounds({{"rounds", "5"}, {"fraction", "0.3"}});
    std::set<std::pair<std::int64_t, world::Node>> who;
    for (const auto& part : simulated.protocol_log.parts) who.emplace(part.round, part.client);
    return who;
  };
  const auto fast = chosen(std::vector<double>(10, 1));
  EXPECT_EQ(fast.size(), 15U);
  EXPECT_EQ(fast, chosen({9, 8, 7, 6, 5, 4, 3, 2, 1, 0.5}));
}

TEST(FederatedRounds, StragglersAreKeptOrDropped) {
  const Rounds rounds{std::vector<double>(10, 0), std::vector<double>(10, 1)};
  const auto parameters = [](const char* partial) {
    return Parameters{
        {"rounds", "20"}, {"stragglers", "0.9"}, {"partial", partial}, {"local-epochs", "4"}, {"local-steps", "0"}};
  };
  const Simulated drop = rounds(parameters("drop"));
  EXPECT_EQ(drop.protocol_log.answered, 20);  // one client of ten answers in each round
  EXPECT_EQ(drop.protocol_log.failed, 180);
  // A pass is two batches of ten samples. In each round, nine clients waste 1 … 4 passes: on average, 9 · 2.5 · 2 s.
  EXPECT_NEAR(drop.protocol_log.wasted_seconds / 20, 9 * 2.5 * 2, 4);
  const Simulated keep = rounds(parameters("keep"));
  EXPECT_EQ(keep.protocol_log.answered, 200);
  EXPECT_EQ(keep.protocol_log.failed, 0);
  EXPECT_EQ(keep.protocol_log.samples, drop.protocol_log.samples);  // the stragglers and their partial work are the
                                                                    // same in both runs
}

TEST(FederatedRounds, TenThousandClients) {
  const std::size_t clients = 10000;
  const SmallProblem small(clients, 10000);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(clients, {1, 0}), 10);
  auto world = closed_form(clients, [](world::Node node) { return 1 + 1e-4 * static_cast<double>(node); });
  const Simulated simulated =
      simulate(world, small, learning, run_of("fedavg", {{"rounds", "3"}, {"local-steps", "1"}, {"deadline", "1.5"}}));
  EXPECT_EQ(simulated.protocol_log.updates, 3);
  EXPECT_GT(simulated.protocol_log.late, 0);
  EXPECT_NEAR(simulated.qualities.back()[1], 10 * 0.9 * 0.9 * 0.9, 1e-3);
}

TEST(FedAvg, OneStepOnTheFullBatchIsGradientSharing) {
  SmallProblem small(3, 210);
  // With unequal sites, gradients are weighted by samples.
  small.partition[0].insert(small.partition[0].end(), small.partition[2].begin() + 20, small.partition[2].end());
  small.partition[2].resize(20);
  small.training.batch = 1000;
  small.training.batches = spec::TrainingSpec::Batches::proportional;
  small.training.epochs = 20;
  small.training.evaluate_every = 1;
  spec::RunSpec synchronous;
  synchronous.algorithm = synchronous.label = "gradient-sharing";
  const step::Trajectory expected = algorithms::learn(synchronous, small.problem());
  ASSERT_EQ(expected.curve.size(), 21U);
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto world = closed_form(3, [](world::Node) { return 1; });
  const Simulated simulated =
      simulate(world, small, learning, run_of("fedavg", {{"rounds", "20"}, {"local-steps", "1"}}));
  ASSERT_EQ(simulated.qualities.size(), 21U);
  for (std::size_t round = 0; round <= 20; ++round) {
    EXPECT_NEAR(simulated.qualities[round][0] / expected.curve[round].loss, 1, 1e-6) << round;
  }
  EXPECT_LT(expected.curve.back().loss, 0.95 * expected.curve.front().loss);
}

}  // namespace
}  // namespace dadsim::test
