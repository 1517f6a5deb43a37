// Tests laws of local-update methods: partners of an exchange, messages, the outer rule. Sites differ in samples, speed
// and minima.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "compress/registry.hpp"
#include "methods/method.hpp"
#include "protocols/local/outer_rule.hpp"
#include "protocols/local/played.hpp"
#include "support/random.hpp"

namespace dadsim::test {
namespace {

// ---- peers ----

TEST(AmongPeers, RoundsMakeTheModelsOfAnAggregator) {
  for (const char* rule : {"mean", "nesterov", "adam", "delayed-nesterov"}) {
    const spec::ParameterValues parameters{{"period", "3"}, {"outer", rule}};
    spec::ParameterValues among = parameters;
    among["to"] = "peers";
    expect_same_models(played("diloco", among), played("diloco", parameters), 1e-6, rule);
  }
}

TEST(AmongPeers, ARoundTakesTheSlowestAndAnAllReduce) {
  const double bandwidth = 1e5, latency = 0.05, n = 4;
  spec::RunSpec run = run_of("diloco", {{"rounds", "3"}, {"period", "5"}, {"to", "peers"}});
  for (const bool halves : {false, true}) {
    if (halves) run.compress = {.method = "fp16", .parameters = {}, .memory = false};
    const double bytes = (halves ? 2 : 4) * kSentNumbers;
    const Simulated simulated =
        played(run, unequal_problem(kPlayedSamples), {.latency = latency, .bandwidth = bandwidth}).simulated;
    // In this World, an outer step takes as long as a local one. The first worker is the fastest and ends it first.
    const double round = 5 * (0.2 + 0.13 * 3) + 2 * (n - 1) * (latency + bytes / n / bandwidth);
    for (std::size_t i = 1; i <= 3; ++i) {
      const auto rounds = static_cast<double>(i);
      EXPECT_NEAR(simulated.protocol_log.versions.at(i).at, rounds * round + (rounds - 1) * (0.2 + 0.13 * 3) + 0.2,
                  1e-9);
    }
    for (std::size_t node = 0; node < 4; ++node) {
      EXPECT_NEAR(simulated.log.nodes[node].sent, 3 * 2 * (n - 1) / n * bytes, 1e-6);
      EXPECT_NEAR(simulated.log.nodes[node].received, 3 * 2 * (n - 1) / n * bytes, 1e-6);
    }
    EXPECT_EQ(simulated.log.nodes[4].sent, 0) << "there is no server";
  }
}

TEST(AmongPeers, EncodingsThatDoNotAddUpAreGathered) {
  spec::RunSpec run = run_of("diloco", {{"rounds", "3"}, {"period", "2"}, {"to", "peers"}});
  run.compress = {.method = "top-k", .parameters = {{"fraction", "0.1"}}, .memory = true};
  const Simulated simulated = played(run).simulated;
  const double bytes = 8 * std::ceil(0.1 * kSentNumbers);
  for (std::size_t node = 0; node < 4; ++node) EXPECT_DOUBLE_EQ(simulated.log.nodes[node].sent, 3 * 3 * bytes);
}

TEST(AmongPeers, WhoIsDownIsNotWaitedForAndComesBack) {
  for (const char* method : {"diloco", "sparseloco", "sparta", "local-sgd"}) expect_outages_survived(method, "peers");
}

// ---- SparseLoCo ----

TEST(SparseLoCo, OfAllNumbersIsDiLoCoWithPlainSteps) {
  spec::RunSpec run = run_of("sparseloco", {{"period", "3"}, {"encoding", "compress"}, {"outer-rate", "0.8"}});
  run.compress = {.method = "chunk-top-k",
                  .parameters = {{"fraction", "1"}, {"chunk", "4096"}, {"values", "fp32"}},
                  .memory = true};
  expect_same_models(played(run), played("diloco", {{"period", "3"}, {"outer", "sgd"}, {"outer-rate", "0.8"}}), 1e-6,
                     "all");
}

TEST(SparseLoCo, MemoryFadesAndMessagesAreAsLongAsTheFormula) {
  const Played kept = played("sparseloco", {{"period", "2"}, {"memory-decay", "1"}});
  const Played faded = played("sparseloco", {{"period", "2"}, {"memory-decay", "0.5"}});
  EXPECT_EQ(kept.losses[1], faded.losses[1]) << "the first message knows no memory";
  EXPECT_NE(kept.losses[3], faded.losses[3]);
  EXPECT_LT(kept.losses.back(), kept.losses.front());
  const double places = std::ceil(0.03125 * kSentNumbers);
  const double bytes = 20 + std::ceil(places * 2 / 8) + std::ceil(places * 12 / 8);
  EXPECT_DOUBLE_EQ(kept.simulated.log.nodes[0].sent,
                   3 * static_cast<double>(kept.simulated.protocol_log.updates) * bytes);
}

TEST(SparseLoCo, AMeanOverContributorsIsLonger) {
  const Played all = played("sparseloco", {{"period", "2"}, {"rounds", "1"}});
  const Played some = played("sparseloco", {{"period", "2"}, {"rounds", "1"}, {"average", "contributors"}});
  EXPECT_LT(some.losses[1], all.losses[1]);
}

// ---- SPARTA, DES-LOC ----

TEST(Sparta, OfAllNumbersIsTheMeanInEveryStep) {
  SmallProblem small = unequal_problem(kPlayedSamples);
  small.training.evaluate_every = 1;
  spec::RunSpec all = run_of("sparta", {{"share", "1"}});
  const Played sparta = played(all, small);
  const Played mean = played(run_of("local-sgd", {{"period", "1"}}), small);
  expect_same_models(sparta, mean, 1e-6, "share 1");
  const Simulated some = played("sparta", {{"share", "0.1"}}).simulated;
  const double bytes = 4 * std::ceil(0.1 * kSentNumbers) * static_cast<double>(some.protocol_log.updates);
  EXPECT_NEAR(some.log.nodes[2].sent, 2 * 3.0 / 4 * bytes, 1e-6);
}

TEST(DesLoc, MomentsAreAveragedWithPeriodsOfTheirOwn) {
  SmallProblem small = unequal_problem(kPlayedSamples);
  small.training.optimizer = {.kind = spec::OptimizerSpec::Kind::adam, .learning_rate = 0.01};
  const auto sent = [&](const char* first, const char* second) {
    return played(
        run_of("des-loc", {{"period", "1"}, {"rounds", "12"}, {"first-moments", first}, {"second-moments", second}}),
        small);
  };
  const Played none = sent("0", "0"), some = sent("3", "6"), all = sent("1", "1");
  const double of_weights = 12 * 2 * 3.0 / 4 * 4 * kSentNumbers;
  EXPECT_NEAR(none.simulated.log.nodes[1].sent, of_weights, 1e-6);
  EXPECT_NEAR(some.simulated.log.nodes[1].sent, of_weights * (1 + 1.0 / 3 + 1.0 / 6), 1e-6);
  EXPECT_NEAR(all.simulated.log.nodes[1].sent, of_weights * 3, 1e-6);
  const Played local = played(run_of("local-sgd", {{"period", "1"}, {"rounds", "12"}}), small);
  expect_same_models(none, local, 1e-6, "moments that stay");
  EXPECT_NE(all.losses.back(), none.losses.back());
}

// ---- partners ----

/// Returns the factor by which the variance of the sites' models changes per round without gradients.
double rate_of_spread(double momentum, double consensus) {
  // Every worker starts with its own coordinate different from the others.
  constexpr std::size_t kWorkers = 64;
  const spec::ParameterValues values =
      run_of("noloco", {{"outer-momentum", std::to_string(momentum)}, {"consensus", std::to_string(consensus)}})
          .parameters;
  const auto rule = protocols::outer::make(values, 100);
  std::vector<float> theta(kWorkers), state(kWorkers), none(1);
  for (std::size_t i = 0; i < kWorkers; ++i) theta[i] = std::sin(static_cast<float>(7 * i + 1));
  const auto spread = [&] {
    double mean = 0, sum = 0;
    for (const float x : theta) mean += static_cast<double>(x) / kWorkers;
    for (const float x : theta) sum += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
    return sum;
  };
  RandomStream random(3, Purpose::test);
  double before = 0;
  constexpr std::int64_t kSkipped = 5, kRounds = 25;
  for (std::int64_t round = 0; round < kRounds; ++round) {
    if (round == kSkipped) before = spread();
    std::vector<std::size_t> order(kWorkers);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = kWorkers; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    for (std::size_t i = 0; i < kWorkers; i += 2) {
      const std::size_t a = order[i], b = order[i + 1];
      const float mean = 0.5F * (theta[a] + theta[b]);
      for (const std::size_t one : {a, b}) {
        const std::vector<float> apart{mean - theta[one]};
        rule.step(round, {.theta = std::span(theta).subspan(one, 1),
                          .state = std::span(state).subspan(one, 1),
                          .moved = none,
                          .apart = apart});
      }
    }
  }
  return std::pow(spread() / before, 1.0 / static_cast<double>(kRounds - kSkipped));
}

TEST(NoLoCo, SpreadShrinksBelowTheBoundAndGrowsAbove) {
  EXPECT_NEAR(rate_of_spread(0.5, 0.7), 0.700, 0.05);
  EXPECT_NEAR(rate_of_spread(0.0, 0.7), 0.545, 0.05);
  EXPECT_GT(rate_of_spread(0.9, 0.7), 1.05);
}

TEST(NoLoCo, APairIsDiLoCoWithPlainSteps) {
  const SmallProblem small = unequal_problem({30, 30});
  const spec::RunSpec pair =
      run_of("noloco", {{"period", "2"}, {"rounds", "6"}, {"outer-momentum", "0"}, {"outer-rate", "0.9"}});
  const spec::RunSpec all =
      run_of("diloco", {{"period", "2"}, {"rounds", "6"}, {"outer", "sgd"}, {"outer-rate", "0.9"}});
  const Played a = played(pair, small), b = played(all, small);
  EXPECT_NEAR(a.losses.back(), b.losses.back(), 1e-6);
  EXPECT_DOUBLE_EQ(a.simulated.log.nodes[0].sent, 6 * 8 * kSentNumbers) << "weights and what they have moved by";
}

TEST(Gasloc, OnACompleteGraphIsDiLoCoWithThatRule) {
  SmallProblem small = unequal_problem({30, 30, 30});
  small.training.batch = 9;  // equal shares: all partners have the same weight
  for (const char* rule : {"sgd", "nesterov", "nesterov-folded"}) {
    const Played gossip =
        played(run_of("gasloc", {{"period", "2"}, {"rounds", "6"}, {"graph", "complete"}, {"outer", rule}}), small);
    const Played all = played(run_of("diloco", {{"period", "2"}, {"rounds", "6"}, {"outer", rule}}), small);
    EXPECT_NEAR(gossip.losses.back(), all.losses.back(), 1e-5) << rule;
    EXPECT_DOUBLE_EQ(gossip.simulated.log.nodes[1].sent, 6 * 2 * 4 * kSentNumbers) << rule;
  }
}

TEST(Gasloc, WithoutGradientsKeepsTheMean) {
  for (const char* method : {"gasloc", "factored-gossip"}) {
    const SmallProblem small = unequal_problem(kPlayedSamples);
    History history(1, nullptr);
    Quadratics learning(small.problem(), history, {{1, 1}, {2, 3}, {0.5, -2}, {1, 0}}, 5);
    auto world = closed_form(4, [](world::Node node) { return 0.2 + 0.1 * node; });
    const Simulated simulated =
        simulate(world, small, learning,
                 run_of(method, {{"rounds", "5"}, {"period", "2"}, {"outer", "sgd"}, {"outer-rate", "1e-9"}}));
    for (const auto& quality : simulated.qualities) EXPECT_NEAR(quality[1], 5, 1e-5) << method;
  }
}

TEST(FactoredGossip, OnACompleteGraphIsGaslocWithTwiceTheBytes) {
  const spec::ParameterValues values = {{"period", "2"}, {"rounds", "6"}, {"graph", "complete"}};
  const Played once = played("gasloc", values), twice = played("factored-gossip", values);
  expect_same_models(once, twice, 1e-5);
  for (std::size_t node = 0; node < kPlayedSamples.size(); ++node)
    EXPECT_DOUBLE_EQ(twice.simulated.log.nodes[node].sent, 2 * once.simulated.log.nodes[node].sent);
}

// A neighbour's weights that arrive after the local steps are left out; no worker waits for them.
TEST(FactoredGossip, OnSlowLinesIsGasloc) {
  const auto on = [](const char* method, double latency) {
    return played(run_of(method, {{"period", "2"}, {"rounds", "5"}}), unequal_problem(kPlayedSamples),
                  {.latency = latency, .bandwidth = 1e9});
  };
  expect_same_models(on("gasloc", 20), on("factored-gossip", 20));
  const double once = on("gasloc", 20).simulated.log.seconds, twice = on("factored-gossip", 20).simulated.log.seconds;
  EXPECT_LT(twice - once, 20) << "to wait for neighbours would take 20 s in each of five rounds";
  EXPECT_NE(on("gasloc", 1e-3).losses.back(), on("factored-gossip", 1e-3).losses.back());
}

TEST(WithPartners, NobodyWaitsForAllAndOutagesAreSurvived) {
  const SmallProblem small = unequal_problem({40, 50, 60, 30, 20});
  for (const char* method : {"noloco", "gasloc", "factored-gossip"}) {
    History history(1, nullptr);
    Learning learning(small.problem(), history);
    world::ClosedFormWorld world(
        {.nodes = 7,
         .line =
             [](world::Node, world::Node) {
               return world::ClosedFormWorld::SiteLine{0.2, 1e6};
             },
         .seconds = [](world::Node node,
                       const world::Work& work) { return (0.3 + 0.1 * node) * static_cast<double>(work.steps); },
         .link = [](world::Node from, world::Node to) { return "of-" + std::to_string(std::min(from, to)); }});
    const std::vector<Fate> fates = {{1.0, 1, false},           {4.1, 1, true},
                                     {7.3, 0, false},           {9.9, 0, true},
                                     {15.0, -1, false, "of-1"}, {22.0, -1, true, "of-1"}};
    const Simulated simulated =
        simulate(world, small, learning, run_of(method, {{"period", "2"}, {"rounds", "20"}}), {}, fates);
    EXPECT_EQ(simulated.protocol_log.updates, 20) << method;
    EXPECT_LT(simulated.protocol_log.answered, 100) << method;
    EXPECT_EQ(simulated.protocol_log.failed, 2) << method;
    EXPECT_LT(simulated.qualities.back()[0], 0.9 * simulated.qualities.front()[0]) << method;
  }
}

// ---- outer rules, merging ----

TEST(OuterRules, BothFormsOfNesterovAgreeAtAConstantRate) {
  expect_same_models(played("diloco", {{"period", "2"}, {"outer", "nesterov-folded"}}),
                     played("diloco", {{"period", "2"}}), 1e-5, "folded");
  expect_same_models(played("pier", {{"period", "2"}, {"outer-warm-up", "0"}, {"outer-final-momentum", "-1"}}),
                     played("diloco", {{"period", "2"}}), 1e-6, "pier");
  EXPECT_NE(played("pier", {{"period", "2"}}).losses.back(), played("diloco", {{"period", "2"}}).losses.back());
  expect_same_models(played("diloco", {{"period", "2"}, {"outer", "delayed-nesterov"}, {"outer-buffer", "1"}}),
                     played("diloco", {{"period", "2"}}), 1e-5, "a buffer of one");
}

TEST(OuterRules, StepsAreThoseOfTheFormulas) {
  const auto after = [](const char* name, std::int64_t rounds) {
    spec::ParameterValues values =
        run_of("diloco", {{"outer", name}, {"outer-rate", "0.5"}, {"outer-momentum", "0.8"}}).parameters;
    const auto rule = protocols::outer::make(values, rounds);
    std::vector<float> theta{1}, state(rule.states);
    const std::vector<float> moved{0.2F}, apart{-0.1F};
    for (std::int64_t round = 0; round < 2; ++round) rule.step(round, {theta, state, moved, apart});
    return static_cast<double>(theta[0]);
  };
  EXPECT_NEAR(after("sgd", 2), 1 - 2 * 0.5 * 0.2, 1e-6);
  EXPECT_NEAR(after("mean", 2), 1 - 2 * 0.2, 1e-6);
  const double adam =
      0.5 * (0.04 / (std::sqrt(0.01 * 0.04) + 1e-3) + (0.8 * 0.04 + 0.04) / (std::sqrt(0.0199 * 0.04) + 1e-3));
  EXPECT_NEAR(after("adam", 2), 1 - adam, 1e-5);
  // The first step only fills the buffer. In the second, m = (0.2 + 0.2) / 2.
  EXPECT_NEAR(after("delayed-nesterov", 2), 1 - 0.5 * (0.1 + 0.1 + 0.8 * 0.2), 1e-6);
  // The steps are d = -0.5 * 0.2 - 0.7 * 0.1, then 0.8 d + d.
  EXPECT_NEAR(after("consensus", 2), 1 + (1 + 1.8) * (-0.1 - 0.07), 1e-6);
}

TEST(Merging, MixOfNothingOwnIsReplacement) {
  for (const char* to : {"aggregator", "peers"}) {
    const spec::ParameterValues replace{{"period", "2"}, {"to", to}};
    spec::ParameterValues mix = replace, add = replace;
    mix.insert({{"merge", "mix"}, {"alpha", "0"}});
    add.insert({"merge", "add"});
    const Played plain = played("diloco", replace);
    expect_same_models(played("diloco", mix), plain, 1e-6, to);
    mix["alpha"] = "0.6";
    EXPECT_NE(played("diloco", mix).losses.back(), plain.losses.back()) << to;
    EXPECT_NE(played("diloco", add).losses.back(), plain.losses.back()) << to;
  }
}

// ---- refusals ----

TEST(LocalChoices, ThatMeanNothingTogetherAreRefusedWithARemedy) {
  struct Case {
    const char* method;
    spec::ParameterValues given;
    const char* remedy;
  };
  const std::vector<Case> cases = {
      {"diloco", {{"outer", "consensus"}}, "to=\"pair\""},
      {"diloco", {{"sends", "subset"}, {"outer", "mean"}}, "set to=\"peers\""},
      {"diloco", {{"share", "0.1"}}, "set one of the two"},
      {"diloco", {{"memory-decay", "0.5"}}, "encoding=\"chunk-top-k\""},
      {"gasloc", {{"encoding", "chunk-top-k"}}, "encoding=\"compress\""},
      {"diloco", {{"sends", "subset"}, {"to", "peers"}}, "set outer=\"mean\""},
      {"gasloc", {{"merge", "add"}}, "to=\"aggregator\" or \"peers\""},
      {"local-sgd", {{"outer-rate", "0.5"}}, "outer="},
      {"diloco", {{"periods", "9:3 4:2"}}, "periods=\"100:16 400:64\""},
      {"diloco", {{"periods", "16"}}, "periods=\"100:16 400:64\""},
      {"diloco", {{"encoding", "int8-ring"}}, "set to=\"peers\""},
      {"diloco", {{"encoding", "int8-ring"}, {"to", "peers"}, {"average", "direction"}}, "set average=\"all\""},
      {"des-loc", {{"to", "region"}}, "set to=\"peers\""},
      {"sparta", {{"to", "region"}}, "set to=\"peers\""},
      {"diloco", {{"to", "region"}, {"when", "quorum"}}, "when=\"barrier\""},
      {"des-loc", {{"to", "aggregator"}}, "set to=\"peers\""},
      {"streaming-diloco", {{"outer", "consensus"}}, "outer=\"nesterov\""},
  };
  for (const Case& one : cases) {
    const methods::MethodInfo* info = protocols::find_method(one.method);
    const spec::RunSpec run = methods::run_of(*info, one.given);
    methods::RunFacts facts{run};
    facts.sites = 4;
    const methods::RunFaults faults = methods::faults_of(*info, facts);
    ASSERT_FALSE(faults.empty()) << one.method;
    EXPECT_NE(faults.front().remedy.find(one.remedy), std::string::npos) << one.method << ": " << faults.front().remedy;
  }
}

}  // namespace
}  // namespace dadsim::test
