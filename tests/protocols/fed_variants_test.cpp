#include <gtest/gtest.h>

#include <cmath>

#include "protocols/federated/federated_rounds.hpp"
#include "protocols/simulating.hpp"

// Tests methods of which federated averaging is a special case.

namespace dadsim::test {
namespace {

struct Variant {
  std::string protocol;
  spec::ParameterValues parameters;
  std::size_t sites = 4;

  Simulated simulated(Learning& learning, const SmallProblem& small,
                      world::ClosedFormWorld::SiteLine line = {.latency = 0.01, .bandwidth = 1e6}) const {
    auto world = closed_form(
        sites, [](world::Node) { return 0.5; }, line);
    return simulate(world, small, learning, run_of(protocol, parameters));
  }
  /// Returns the loss of every model.
  std::vector<double> losses() const {
    const SmallProblem small(sites);
    History history(1, nullptr);
    Learning learning(small.problem(), history);
    std::vector<double> all;
    for (const auto& quality : simulated(learning, small).qualities) all.push_back(quality[0]);
    return all;
  }
};

void expect_same(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_GT(a.size(), 2U);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance * a[i]) << i;
  EXPECT_LT(a.back(), a.front());
}

TEST(FedProx, WithoutItsTermAndStragglersIsFedAvg) {
  expect_same(Variant{"fedavg", {{"rounds", "4"}, {"fraction", "0.5"}}}.losses(),
              Variant{"fedprox", {{"rounds", "4"}, {"fraction", "0.5"}, {"mu", "0"}}}.losses(), 0);
}

TEST(FedProx, HoldsClientsToTheModelTheyWereSent) {
  // On ½ a (x − b)² with the proximal term ½ μ (x − x₀)², a step is x ← x − η (a (x − b) + μ (x − x₀)). Its limit is (a
  // b + μ x₀) ÷ (a + μ).
  const SmallProblem small(1);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, {{1, 0}}, 10);
  const Variant variant{"fedprox", {{"rounds", "2"}, {"local-steps", "400"}, {"mu", "3"}}, 1};
  const Simulated simulated = variant.simulated(learning, small);
  EXPECT_NEAR(simulated.qualities[1][1], 3.0 * 10 / 4, 1e-4);
  EXPECT_NEAR(simulated.qualities[2][1], 3.0 * 7.5 / 4, 1e-4);
}

TEST(FedOpt, WithoutMomentumAndWithTheRateOneIsFedAvg) {
  expect_same(
      Variant{"fedavg", {{"rounds", "4"}}}.losses(),
      Variant{"fedopt", {{"rounds", "4"}, {"server", "momentum"}, {"beta1", "0"}, {"server-rate", "1"}}}.losses(),
      1e-6);
}

TEST(FedOpt, FollowsItsFormulas) {
  for (const std::string kind : {"momentum", "adam", "yogi", "adagrad"}) {
    const SmallProblem small(2);
    History history(1, nullptr);
    Quadratics learning(small.problem(), history, {{1, 1}, {1, 3}}, 10);
    const Variant variant{
        "fedopt",
        {{"rounds", "12"}, {"local-steps", "1"}, {"server", kind}, {"server-rate", "0.5"}, {"tau", "0.01"}},
        2};
    const Simulated simulated = variant.simulated(learning, small);
    double x = 10;
    double m = 0;
    double v = 1e-4;
    for (std::size_t round = 1; round <= 12; ++round) {
      const double d = -0.1 * (x - 2);
      // FedAdagrad has no momentum (arXiv 2003.00295, §5).
      m = kind == "adagrad" ? d : 0.9 * m + (kind == "momentum" ? 1.0 : 0.1) * d;
      if (kind == "adam") v = 0.99 * v + 0.01 * d * d;
      if (kind == "yogi") v = v - 0.01 * d * d * (v > d * d ? 1 : -1);
      if (kind == "adagrad") v = v + d * d;
      x += 0.5 * m / (kind == "momentum" ? 1 : std::sqrt(v) + 0.01);
      EXPECT_NEAR(simulated.qualities.at(round)[1], x, 2e-5 * std::max(1.0, std::abs(x))) << kind << " " << round;
    }
  }
}

TEST(FedOpt, HasTheDefaultsOfItsPaper) {
  const spec::ParameterValues values = run_of("fedopt").parameters;
  EXPECT_EQ(values.at("beta2"), "0.99");
  EXPECT_EQ(values.at("tau"), "0.001");
  const auto faults = [&](const char* beta1) {
    return faults_of(protocols::protocol_registry().at("fedopt"), {run_of("fedopt", {{"beta1", beta1}}), 2});
  };
  EXPECT_TRUE(faults("-1").empty()) << "0.9, of adagrad 0: FollowsItsFormulas";
  EXPECT_EQ(faults("-0.9").at(0), (Fault{"beta1 = -0.9 is negative", "use 0 or more, or -1 for the paper's value"}));
}

TEST(HierFedAvg, WithOneRoundInEveryGroupIsFedAvg) {
  const auto flat = Variant{"fedavg", {{"rounds", "4"}}}.losses();
  for (const char* groups : {"1", "2", "4"}) {
    expect_same(flat, Variant{"hierfavg", {{"rounds", "4"}, {"groups", groups}, {"edge-rounds", "1"}}}.losses(), 1e-5);
  }
}

TEST(HierFedAvg, OfOneGroupIsFedAvg) {
  const auto flat = Variant{"fedavg", {{"rounds", "6"}}}.losses();
  const auto grouped = Variant{"hierfavg", {{"rounds", "3"}, {"groups", "1"}, {"edge-rounds", "2"}}}.losses();
  expect_same({flat[0], flat[2], flat[4], flat[6]}, grouped, 1e-5);
}

TEST(HierFedAvg, TakesWhatTheFormulasSay) {
  const SmallProblem small(4);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(4, {1, 0}), 10);
  const auto server = world::Node{4};
  // The groups are {0, 1} and {2, 3}; lines to the server have a high latency.
  world::ClosedFormWorld world({.nodes = 5,
                                .line =
                                    [server](world::Node from, world::Node to) {
                                      return world::ClosedFormWorld::SiteLine{
                                          .latency = from == server || to == server ? 1.0 : 0.01};
                                    },
                                .seconds =
                                    [server](world::Node node, const world::Work& work) {
                                      return node == server || work.step < 0 ? 0.0 : static_cast<double>(work.steps);
                                    },
                                .link = nullptr});
  const Simulated simulated =
      simulate(world, small, learning,
               run_of("hierfavg", {{"rounds", "2"}, {"groups", "2"}, {"edge-rounds", "3"}, {"local-steps", "2"}}));
  EXPECT_NEAR(simulated.log.seconds, 2 * (2 * 1.0 + 3 * (2 * 0.01 + 2)), 1e-9);
  EXPECT_EQ(simulated.protocol_log.took_part, (std::vector<std::int64_t>(4, 6)));
  EXPECT_NEAR(simulated.qualities.back()[1], 10 * std::pow(0.9, 12), 1e-5);
}

TEST(HierFedAvg, GoesOnWithoutAGroupWhoseLeaderIsDown) {
  const SmallProblem small(4);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, {{1, 0}, {1, 0}, {1, 8}, {1, 8}}, 10);
  world::ClosedFormWorld world({.nodes = 5,
                                .line = nullptr,
                                .seconds = [](world::Node, const world::Work& work) { return work.step < 0 ? 0 : 1; },
                                .link = nullptr});
  // Node 2, which leads {2, 3}, goes down in the first round and is back in the third.
  const Simulated simulated =
      simulate(world, small, learning, run_of("hierfavg", {{"rounds", "4"}, {"local-steps", "1"}}), {},
               {{0.5, 2, false}, {2.5, 2, true}});
  const std::vector<double> expected = {9, 8.1, 7.29, 7.29 - 0.1 * (7.29 - 4)};
  ASSERT_EQ(simulated.qualities.size(), 5U);
  for (std::size_t round = 0; round < 4; ++round) {
    EXPECT_NEAR(simulated.qualities[round + 1][1], expected[round], 1e-5);
  }
}

TEST(SecureAggregation, ExpandsMessagesByWhatThePaperSays) {
  // Expected expansions are from Bonawitz et al., CCS 2017, abstract, for 16-bit numbers: 1.73 for 2^10 users and 2^20
  // numbers, 1.98 for 2^14 users and 2^24 numbers.
  const auto expansion = [](std::size_t users, double numbers) {
    protocols::SecureAggregation secure(16);
    secure.set_clients(users);
    const double bytes = secure.keys_up() + secure.keys_down() + secure.shares_up() + secure.shares_down() +
                         secure.masked(numbers) + secure.unmask_up();
    return bytes / (2 * numbers);
  };
  EXPECT_NEAR(expansion(1U << 10U, 1 << 20), 1.73, 0.005);
  EXPECT_NEAR(expansion(1U << 14U, 1 << 24), 1.98, 0.005);
}

TEST(SecureAggregation, CostsMessagesAndChangesNothingElse) {
  const SmallProblem small(4);
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  const Variant plain{"fedavg", {{"rounds", "2"}, {"local-steps", "1"}}};
  Variant secure = plain;
  secure.parameters["secure"] = "yes";
  const Simulated without = plain.simulated(learning, small);
  const Simulated with = secure.simulated(learning, small);
  EXPECT_EQ(without.qualities, with.qualities);
  // A client sends two keys, two shares for each of three other clients, numbers of 32 + 2 bits, and four shares at the
  // end.
  const double masked = std::ceil(static_cast<double>(learning.parameters()) * 34.0 / 8);
  EXPECT_NEAR(with.log.nodes[0].sent, 2 * (64 + 64 * 3 + masked + 32 * 4), 1e-6);
  // In addition to the model, the server sends two keys and two shares of each of three others, and a bit for each
  // remaining client.
  EXPECT_NEAR(with.log.nodes[0].received, without.log.nodes[0].received + 2 * (64 * 3 + 64 * 3 + 1), 1e-6);
  const double bytes =
      with.log.nodes[0].sent + with.log.nodes[0].received - without.log.nodes[0].sent - without.log.nodes[0].received;
  EXPECT_NEAR(with.log.seconds, without.log.seconds + 2 * 6 * 0.01 + bytes / 1e6, 1e-9);
}

}  // namespace
}  // namespace dadsim::test
