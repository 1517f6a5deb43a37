// Tests laws of round ends (barrier, quorum, asynchronous, window, overlap), of an object store, and of messages and
// rules used with them. Sites differ in samples, speed and minima.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "methods/method.hpp"
#include "protocols/local/local_rounds.hpp"
#include "protocols/local/outer_rule.hpp"
#include "protocols/local/played.hpp"

namespace dadsim::test {
namespace {

// ---- when ----

TEST(RoundEnds, AQuorumOfAllIsABarrier) {
  const spec::ParameterValues barrier{{"period", "3"}, {"rounds", "5"}};
  spec::ParameterValues quorum = barrier;
  quorum.insert({{"when", "quorum"}, {"quorum", "4"}, {"staleness", "2"}});
  const Played a = played("diloco", barrier), b = played("diloco", quorum);
  expect_same_models(b, a);
  EXPECT_EQ(b.simulated.log.seconds, a.simulated.log.seconds);
  EXPECT_EQ(b.simulated.protocol_log.staleness, (std::map<std::int64_t, std::int64_t>{{0, 20}}));
}

TEST(RoundEnds, AGraceThatIsLongEnoughIsABarrier) {
  const spec::ParameterValues barrier{{"period", "3"}, {"rounds", "5"}};
  spec::ParameterValues quorum = barrier;
  quorum.insert({{"when", "quorum"}, {"quorum", "1"}, {"grace", "60"}});
  expect_same_models(played("diloco", quorum), played("diloco", barrier));
  quorum["grace"] = "0.1";  // the slowest site needs longer
  const Played some = played("diloco", quorum);
  EXPECT_GT(some.simulated.protocol_log.updates, 5);
  EXPECT_GT(some.simulated.protocol_log.mean_staleness(), 0);
}

TEST(RoundEnds, AWindowThatIsLongEnoughIsABarrierAndLastsItsTime) {
  const spec::ParameterValues barrier{{"period", "3"}, {"rounds", "5"}};
  spec::ParameterValues window = barrier;
  window.insert({{"when", "window"}, {"window", "10"}});
  const Played a = played("diloco", barrier), b = played("diloco", window);
  expect_same_models(b, a);
  for (std::size_t i = 1; i < b.simulated.protocol_log.versions.size(); ++i)
    EXPECT_NEAR(b.simulated.protocol_log.versions[i].at, 10 * static_cast<double>(i), 1e-9);
}

TEST(RoundEnds, WhatComesAfterTheWindowDoesNotCount) {
  // Three steps take site i 3 (0.2 + 0.13 i) seconds, and both directions 2 (0.01 + 31400 / 1e6). The server takes no
  // time. Messages of sites 0 and 1 arrive within 1.2 s. Those of sites 2 and 3 arrive within 2.4 s and are dropped.
  const Played some = played("diloco", {{"period", "3"}, {"rounds", "6"}, {"when", "window"}, {"window", "1.2"}});
  const protocols::ProtocolLog& log = some.simulated.protocol_log;
  EXPECT_EQ(log.took_part, (std::vector<std::int64_t>{6, 6, 0, 0}));
  EXPECT_EQ(log.late, 2 * 3) << "2 and 3 begin in rounds 1, 3 and 5";
  EXPECT_LT(some.losses.back(), some.losses.front());
}

TEST(RoundEnds, AWindowThatIsTooShortTrainsNothing) {
  const Played none = played("diloco", {{"period", "3"}, {"rounds", "4"}, {"when", "window"}, {"window", "0.05"}});
  EXPECT_EQ(none.simulated.protocol_log.updates, 0);
  EXPECT_EQ(none.losses.back(), none.losses.front());
  EXPECT_NEAR(none.simulated.log.seconds, 4 * 0.05, 1e-9);
}

TEST(RoundEnds, AsynchronousWithOneWorkerIsABarrier) {
  const spec::RunSpec barrier = run_of("diloco", {{"period", "3"}});
  const spec::RunSpec alone = run_of("diloco", {{"period", "3"}, {"when", "asynchronous"}, {"staleness", "1"}});
  const Played a = played(barrier, unequal_problem({100})), b = played(alone, unequal_problem({100}));
  expect_same_models(b, a);
  EXPECT_EQ(b.simulated.log.seconds, a.simulated.log.seconds);
}

TEST(RoundEnds, AsynchronousTakesAllStepsAndNobodyWaits) {
  const Played played_all =
      played("diloco", {{"period", "2"}, {"rounds", "6"}, {"when", "asynchronous"}, {"outer", "mean"}});
  const protocols::ProtocolLog& log = played_all.simulated.protocol_log;
  EXPECT_EQ(log.answered, log.asked);
  EXPECT_EQ(log.updates, log.answered) << "no two arrive at the same time";
  EXPECT_GT(log.took_part[0], log.took_part[3]) << "the fastest counts most often";
  EXPECT_LT(played_all.simulated.log.seconds,
            6 * (2 * (0.2 + 3 * 0.13) + 2 * (kLatency + 4 * kSentNumbers / kBandwidth)));
}

TEST(RoundEnds, AStaleChangeCountsByItsAge) {
  // The model has one coordinate. Only the slow site has curvature, so only its changes move the model.
  const SmallProblem small = unequal_problem({40, 40});
  const auto model = [&](const char* exponent) {
    History history(1, nullptr);
    Quadratics learning(small.problem(), history, {{0, 0}, {1, 0}}, 1);
    auto world =
        closed_form(2, [](world::Node node) { return node == 0 ? 0.1 : 0.35; }, {.latency = 0, .bandwidth = 1e9});
    return simulate(
        world, small, learning,
        run_of("local-sgd", {{"period", "1"}, {"rounds", "2"}, {"when", "asynchronous"}, {"staleness", exponent}}));
  };
  const Simulated plain = model("0"), damped = model("1");
  // Site 1 answers once, with a staleness of 3. It moves θ by the rate of 0.1, or by a quarter of it with damping.
  EXPECT_EQ(plain.protocol_log.took_part[1], 1);
  EXPECT_NEAR(plain.qualities.back()[1], 1 - 0.1, 1e-6);
  EXPECT_NEAR(damped.qualities.back()[1], 1 - 0.1 / 4, 1e-6);
}

TEST(RoundEnds, OverlapHidesTheExchangeAndIsOneRoundLate) {
  const spec::ParameterValues barrier{{"period", "3"}, {"rounds", "5"}};
  spec::ParameterValues overlap = barrier;
  overlap.insert({"when", "overlap"});
  const Played a = played("diloco", barrier), b = played("diloco", overlap);
  const double steps = 3 * (0.2 + 3 * 0.13), way = kLatency + 4 * kSentNumbers / kBandwidth;
  EXPECT_NEAR(a.simulated.log.seconds, 5 * steps + 9 * way, 1e-9) << "all have the first weights";
  EXPECT_NEAR(b.simulated.log.seconds, 5 * steps + way, 1e-9);
  EXPECT_EQ(b.losses[1], a.losses[1]) << "the first change is from the same weights";
  EXPECT_NE(b.losses[2], a.losses[2]);
  EXPECT_LT(b.losses.back(), b.losses.front());
}

TEST(RoundEnds, OverlapIsDelayedDescent) {
  // θ_t+1 = θ_t − Δ_t−1 with Δ_t = rate · θ_t. The first two rounds start from the initial weights.
  const SmallProblem small = unequal_problem({40, 40});
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, {{1, 0}, {1, 0}}, 1);
  auto world = closed_form(2, [](world::Node) { return 0.1; }, {.latency = 0.01, .bandwidth = 1e9});
  const Simulated simulated =
      simulate(world, small, learning, run_of("local-sgd", {{"period", "1"}, {"rounds", "6"}, {"when", "overlap"}}));
  double before = 1, theta = 1;
  for (std::size_t round = 0; round <= 6; ++round) {
    EXPECT_NEAR(simulated.qualities.at(round)[1], theta, 1e-6) << round;
    const double next = theta - 0.1 * before;
    before = theta;
    theta = next;
  }
}

TEST(RoundEnds, OutagesAreSurvived) {
  const SmallProblem small = unequal_problem({40, 50, 60, 30});
  const std::vector<Fate> fates = {{1.0, 1, false},           {4.1, 1, true},          {7.3, 0, false},
                                   {7.9, 3, false},           {9.9, 0, true},          {12.5, 3, true},
                                   {15.0, -1, false, "of-1"}, {22.0, -1, true, "of-1"}};
  for (const char* to : {"aggregator", "store"}) {
    for (const char* when : {"barrier", "quorum", "asynchronous", "window", "overlap"}) {
      History history(1, nullptr);
      Learning learning(small.problem(), history);
      world::ClosedFormWorld world(
          {.nodes = 6,
           .line =
               [](world::Node, world::Node) {
                 return world::ClosedFormWorld::SiteLine{0.2, 1e6};
               },
           .seconds =
               [](world::Node node, const world::Work& work) {
                 return node < 4 ? (0.3 + 0.1 * node) * static_cast<double>(work.steps) : 0;
               },
           .link = [](world::Node from, world::Node to) { return "of-" + std::to_string(std::min(from, to)); }});
      spec::ParameterValues values{{"period", "2"}, {"rounds", "20"}, {"to", to}, {"when", when}, {"outer", "mean"}};
      if (when == std::string("quorum")) values["quorum"] = "3";
      if (when == std::string("window")) values["window"] = "2";
      const Simulated simulated = simulate(world, small, learning, run_of("diloco", values), {}, fates);
      EXPECT_GE(simulated.protocol_log.updates, 15) << to << " " << when;
      EXPECT_GT(simulated.protocol_log.failed, 0) << to << " " << when;
      EXPECT_LT(simulated.qualities.back()[0], 0.9 * simulated.qualities.front()[0]) << to << " " << when;
    }
  }
}

// ---- an object store ----

TEST(ObjectStore, MakesTheModelsOfAnAggregatorAndCarriesTheFormulasBytes) {
  const spec::ParameterValues aggregator{{"period", "3"}, {"rounds", "5"}};
  spec::ParameterValues store = aggregator;
  store.insert({"to", "store"});
  const Played a = played("sparseloco", {{"period", "3"}, {"rounds", "5"}, {"to", "aggregator"}});
  const Played b = played("sparseloco", {{"period", "3"}, {"rounds", "5"}, {"to", "store"}});
  expect_same_models(b, a);
  expect_same_models(played("diloco", store), played("diloco", aggregator));
  const double places = std::ceil(0.03125 * kSentNumbers);
  const double object = 20 + std::ceil(places * 2 / 8) + std::ceil(places * 12 / 8);
  for (std::size_t node = 0; node < 4; ++node) {
    EXPECT_DOUBLE_EQ(b.simulated.log.nodes[node].sent, 5 * object) << "each puts one object a round";
    EXPECT_DOUBLE_EQ(b.simulated.log.nodes[node].received, 4 * 3 * object) << "and reads those of the others";
  }
}

TEST(ObjectStore, AWorkerThatMissesWindowsReadsTheirObjectsLater) {
  // Sites 2 and 3 miss every other window (see above). In two rounds, they read the objects of sites 0 and 1.
  const Played some =
      played("diloco", {{"period", "3"}, {"rounds", "6"}, {"when", "window"}, {"window", "1.2"}, {"to", "store"}});
  const auto& nodes = some.simulated.log.nodes;
  EXPECT_EQ(some.simulated.protocol_log.took_part, (std::vector<std::int64_t>{6, 6, 0, 0}));
  EXPECT_DOUBLE_EQ(nodes[0].received, 5 * 4 * kSentNumbers);
  EXPECT_DOUBLE_EQ(nodes[2].received, 2 * 2 * 2 * 4 * kSentNumbers);
}

// ---- RDA, HeLoCo ----

std::vector<float> mean_direction(const std::vector<std::vector<float>>& rows) {
  const SmallProblem small = unequal_problem({40, 40});
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, {{1, 0}, {1, 0}}, 1, rows.front().size());
  std::vector<Value> values;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    values.push_back(history.make("row " + std::to_string(i), {}, [row = rows[i]](History::Inputs) {
      return world::Datum{row, {}};
    }));
  }
  const Value mean =
      protocols::averaged(protocols::Average::direction, learning, values, std::vector<double>(rows.size(), 1));
  return history.get(mean)->numbers;
}

double norm(const std::vector<float>& row) {
  return std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
}

TEST(MeanOfDirections, KeepsTheLengthOfOrthogonalRowsAndTheMeanOfEqualOnes) {
  std::vector<std::vector<float>> orthogonal(16, std::vector<float>(16));
  for (std::size_t i = 0; i < 16; ++i) orthogonal[i][i] = 2;
  EXPECT_NEAR(norm(mean_direction(orthogonal)), 2, 1e-6) << "a plain mean has a quarter of that";
  const std::vector<float> one{0.5F, -1, 2};
  for (const std::size_t count : {1U, 3U}) {
    const std::vector<float> mean = mean_direction(std::vector<std::vector<float>>(count, one));
    for (std::size_t k = 0; k < one.size(); ++k) EXPECT_NEAR(mean[k], one[k], 1e-6);
  }
  EXPECT_EQ(mean_direction({{1, 2}, {-1, -2}}), (std::vector<float>{0, 0})) << "rows that cancel keep their mean";
  const std::vector<float> unequal = mean_direction({{3, 0}, {0, 1}});
  EXPECT_NEAR(unequal[0], unequal[1], 1e-6) << "directions count alike";
  EXPECT_NEAR(norm(unequal), 2, 1e-6) << "the mean of both lengths";
}

TEST(Decoupled, OfAllWithPlainMeansIsDiLoCo) {
  expect_same_models(
      played("decoupled-diloco", {{"period", "3"}, {"rounds", "5"}, {"quorum", "4"}, {"average", "all"}}),
      played("diloco", {{"period", "3"}, {"rounds", "5"}}));
  const Played rda = played("decoupled-diloco", {{"period", "3"}, {"rounds", "5"}, {"quorum", "4"}});
  EXPECT_NE(rda.losses.back(), played("diloco", {{"period", "3"}, {"rounds", "5"}}).losses.back());
}

TEST(AmongPeers, MeansOfDirectionsAreGatheredAndAgreeWithAnAggregator) {
  const spec::ParameterValues server{{"period", "2"}, {"rounds", "4"}, {"average", "direction"}};
  spec::ParameterValues among = server;
  among["to"] = "peers";
  const Played a = played("diloco", server), b = played("diloco", among);
  expect_same_models(b, a, 1e-6);
  EXPECT_DOUBLE_EQ(b.simulated.log.nodes[1].sent, 4 * 3 * 4 * kSentNumbers);
}

TEST(Heloco, WithoutAThresholdIsAsynchronousDiLoCo) {
  const spec::ParameterValues plain{{"period", "2"}, {"rounds", "6"}, {"staleness", "0.5"}};
  spec::ParameterValues asynchronous = plain, aligned = plain;
  asynchronous.insert({"when", "asynchronous"});
  aligned.insert({"outer-align", "-1"});
  const Played a = played("diloco", asynchronous), b = played("heloco", aligned);
  expect_same_models(b, a, 1e-5);
  EXPECT_NE(played("heloco", plain).losses.back(), a.losses.back());
  EXPECT_EQ(a.simulated.log.nodes[0].sent, b.simulated.log.nodes[0].sent) << "no bytes are added";
}

TEST(Heloco, CorrectsAgainstAndAcrossTheMomentum) {
  const auto first_step = [](const std::vector<float>& momentum, const std::vector<float>& change) {
    const auto rule =
        protocols::outer::make(run_of("heloco", {{"outer-rate", "1"}, {"outer-momentum", "0"}}).parameters, 9);
    std::vector<float> theta(2), state = momentum;
    const std::vector<std::size_t> matrices{2};
    rule.step(0, {.theta = theta, .state = state, .moved = change, .apart = {}, .matrices = matrices});
    return std::vector<double>{-theta[0], -theta[1]};
  };
  const auto expect = [](const std::vector<double>& got, double x, double y) {
    EXPECT_NEAR(got[0], x, 1e-6);
    EXPECT_NEAR(got[1], y, 1e-6);
  };
  expect(first_step({3, 0}, {1, 0}), 1, 0);  // the step is along the momentum
  // The step is against the momentum: its confidence is 3 / 4, and half of this share of −1 is removed.
  expect(first_step({3, 0}, {-1, 0}), -1 + 0.75 * 0.5, 0);
  // The step is perpendicular to the momentum: λ = 3 / 4 · 0.25.
  expect(first_step({3, 0}, {0, 1}), 0.1875, 1 - 0.1875);
  expect(first_step({0, 0}, {0, 1}), 0, 1);  // there is no momentum yet
}

TEST(DiLoCoX, SendsTwoFactorsInFourBitsANumber) {
  const Played x = played("dilocox", {{"period", "2"}, {"rounds", "4"}, {"rank", "3"}});
  // P, Q and the bias have one scale each.
  EXPECT_DOUBLE_EQ(x.simulated.log.nodes[0].sent, 4 * (3 * 4 + (3 * (784 + 10) + 10) / 2.0));
  EXPECT_LT(x.losses.back(), x.losses.front());
  const Played plain = played("dilocox", {{"period", "2"}, {"rounds", "4"}, {"rank", "3"}, {"encoding", "low-rank"}});
  EXPECT_DOUBLE_EQ(plain.simulated.log.nodes[0].sent, 4 * 4 * (3 * (784 + 10) + 10));
  EXPECT_LT(plain.losses.back(), plain.losses.front());
}

TEST(DiLoCoX, OfFullRankIsDiLoCoWithOverlap) {
  const spec::ParameterValues overlap{{"period", "2"}, {"rounds", "4"}, {"when", "overlap"}};
  const Played a = played("diloco", overlap);
  const auto of_rank = [&](const char* rank) {
    spec::ParameterValues values = overlap;
    values.insert({{"encoding", "low-rank"}, {"rank", rank}});
    return played("diloco", values);
  };
  expect_same_models(of_rank("10"), a, 1e-5);
  const Played nine = of_rank("9");
  expect_same_models(nine, a, 5e-3);
  EXPECT_GT(std::abs(of_rank("1").losses.back() - a.losses.back()), std::abs(nine.losses.back() - a.losses.back()));
}

// ---- refusals ----

TEST(RoundEnds, ChoicesThatMeanNothingTogetherAreRefusedWithARemedy) {
  const std::vector<std::tuple<const char*, spec::ParameterValues, const char*>> cases = {
      {"muloco", {{"when", "window"}}, "to=\"store\""},
      {"heloco", {{"to", "peers"}}, "when=\"barrier\""},
      {"diloco", {{"grace", "3"}}, "when=\"quorum\""},
      {"diloco", {{"window", "3"}}, "when=\"window\""},
      {"diloco", {{"staleness", "3"}}, "when=\"quorum\" or \"asynchronous\""},
      {"diloco", {{"when", "quorum"}, {"quorum", "5"}}, "quorum=\"4\""},
      {"gasloc", {{"to", "store"}, {"outer", "consensus"}}, "to=\"pair\""},
      {"diloco", {{"outer-align", "0.2"}}, "outer=\"nesterov-aligned\""},
  };
  for (const auto& [method, given, remedy] : cases) {
    const methods::MethodInfo* info = protocols::find_method(method);
    const spec::RunSpec run = methods::run_of(*info, given);
    methods::RunFacts facts{run};
    facts.sites = 4;
    const methods::RunFaults faults = methods::faults_of(*info, facts);
    ASSERT_FALSE(faults.empty()) << method;
    EXPECT_NE(faults.front().remedy.find(remedy), std::string::npos) << method << ": " << faults.front().remedy;
  }
}

}  // namespace
}  // namespace dadsim::test
