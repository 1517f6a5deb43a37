#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "protocols/simulating.hpp"

namespace dadsim::test {
namespace {

using Line = world::ClosedFormWorld::SiteLine;

double mean_staleness_after(const protocols::ProtocolLog& protocol_log, std::int64_t first) {
  double sum = 0;
  for (const auto& [stale, often] : protocol_log.staleness) sum += static_cast<double>(stale * often);
  // The first n updates have the stalenesses 0, 1, … n − 1, and are left out.
  const auto n = static_cast<double>(first);
  return (sum - n * (n - 1) / 2) / (static_cast<double>(protocol_log.updates) - n);
}

TEST(AsyncSgd, WorkersOfEqualSpeedAreNMinusOneUpdatesBehind) {
  for (const std::size_t n : {2U, 4U, 8U}) {
    const SmallProblem small(n);
    History history(1, nullptr);
    Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(n), 1);
    auto world = closed_form(n, [](world::Node) { return 0.5; }, {.latency = 0.01, .bandwidth = 1e6});
    const Simulated simulated =
        simulate(world, small, learning, run_of("async-sgd", {{"updates", std::to_string(50 * n)}}));
    EXPECT_EQ(simulated.protocol_log.updates, 50 * static_cast<std::int64_t>(n));
    EXPECT_DOUBLE_EQ(mean_staleness_after(simulated.protocol_log, static_cast<std::int64_t>(n)),
                     static_cast<double>(n - 1));
  }
}

TEST(AsyncSgd, UnequalSpeedsChangeWhoIsBehindButNotTheMean) {
  const SmallProblem small(4);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(4), 1);
  auto world = closed_form(4, [](world::Node node) { return 0.3 + 0.37 * static_cast<double>(node); },
                           {.latency = 0.01, .bandwidth = 1e6});
  const Simulated simulated = simulate(world, small, learning, run_of("async-sgd", {{"updates", "4000"}}));
  EXPECT_NEAR(mean_staleness_after(simulated.protocol_log, 4), 3, 0.02);
  EXPECT_GT(simulated.protocol_log.staleness.rbegin()->first, 4) << "the slow one";
  EXPECT_GT(simulated.protocol_log.took_part[0], 2 * simulated.protocol_log.took_part[3]);
}

/// Returns |x| after many updates of ½ x² from x = 1; n = s + 1 equal workers give the constant delay s.
double after_delayed_descent(std::int64_t delay, double learning_rate) {
  const auto n = static_cast<std::size_t>(delay + 1);
  const SmallProblem small(n, 200, learning_rate);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(n), 1);
  auto world = closed_form(n, [](world::Node) { return 1; });
  const std::int64_t updates = 10'000;
  const Simulated simulated =
      simulate(world, small, learning, run_of("async-sgd", {{"updates", std::to_string(updates)}}));
  EXPECT_EQ(simulated.protocol_log.staleness.at(delay), updates - delay) << "all but the first";
  return std::abs(simulated.qualities.back()[1]);
}

// x_{t+1} = x_t − η L x_{t−s} is stable if and only if η L < 2 sin(π / (2 (2s + 1))).
TEST(AsyncSgd, ADelayedQuadraticIsStableUpToTheBound) {
  for (const std::int64_t delay : {0, 1, 2, 4, 8}) {
    const double bound = 2 * std::sin(std::numbers::pi / (2 * (2 * static_cast<double>(delay) + 1)));
    EXPECT_LT(after_delayed_descent(delay, 0.98 * bound), 1e-3) << delay;
    const double above = after_delayed_descent(delay, 1.02 * bound);
    EXPECT_TRUE(!std::isfinite(above) || above > 1e3) << delay << ": " << above;
  }
}

/// Returns the date of each worker's k-th gradient if workers may be `slack` gradients ahead. A worker's next model is
/// sent once all others have delivered k − slack gradients.
std::vector<std::vector<double>> arrivals(const std::vector<double>& seconds, double down, double up, double latency,
                                          std::int64_t slack, std::int64_t rounds) {
  std::vector<std::vector<double>> at(seconds.size());
  std::vector<double> answered(seconds.size(), latency);  // date of the model; at first, a worker has to ask for it
  for (std::int64_t k = 1; k <= rounds; ++k) {
    for (std::size_t w = 0; w < seconds.size(); ++w) at[w].push_back(answered[w] + down + seconds[w] + up);
    for (std::size_t w = 0; w < seconds.size(); ++w) {
      answered[w] = at[w].back();
      for (std::size_t v = 0; v < seconds.size() && k > slack; ++v) {
        answered[w] = std::max(answered[w], at[v][static_cast<std::size_t>(k - slack - 1)]);
      }
    }
  }
  return at;
}

TEST(AsyncSgd, BoundedStalenessTakesWhatTheFormulasSay) {
  const std::vector<double> seconds = {1, 1.3, 4};
  for (const std::int64_t slack : {0, 1, 3}) {
    SmallProblem small(3);
    small.training.evaluate_every = 1;
    History history(1, nullptr);
    Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(3), 1);
    auto world = closed_form(3, [&](world::Node node) { return seconds.at(static_cast<std::size_t>(node)); },
                             {.latency = 0.05, .bandwidth = 1e5});
    spec::RunSpec run =
        run_of("async-sgd", {{"updates", "40"}, {"staleness", "bounded"}, {"slack", std::to_string(slack)}});
    const Simulated simulated = simulate(world, small, learning, run);
    const double size = 4.0 * 7850;  // digits of 28 × 28 pixels: 784 × 10 weights and 10 biases
    EXPECT_NEAR(simulated.log.nodes[0].received / size, std::round(simulated.log.nodes[0].received / size), 1e-9);
    const double transfer = 0.05 + size / 1e5;
    std::vector<double> dates;
    for (const auto& of_worker : arrivals(seconds, transfer, transfer, 0.05, slack, 40)) {
      dates.insert(dates.end(), of_worker.begin(), of_worker.end());
    }
    std::ranges::sort(dates);
    for (std::size_t update = 1; update <= 40; ++update) {
      EXPECT_NEAR(simulated.protocol_log.versions.at(update).at, dates[update - 1], 1e-3 * dates[update - 1]) << update;
    }
    std::int64_t most = 0;
    for (const std::int64_t count : simulated.protocol_log.took_part) most = std::max(most, count);
    EXPECT_LE(most, simulated.protocol_log.took_part[2] + slack + 1);
    const auto& facts = simulated.protocol_log.facts;
    EXPECT_GT(facts.at("seconds that fast workers were held back"), 0);
  }
}

/// Returns the first coordinate of every model, by the recurrence of two equal workers, whose delay is one.
template <class Step>
std::vector<double> two_workers(std::size_t updates, const Step& step) {
  std::vector<double> x = {10};
  for (std::size_t t = 0; t < updates; ++t) x.push_back(step(x, t, t == 0 ? 0 : 1));
  return x;
}

std::vector<double> played_models(const spec::ParameterValues& parameters, std::size_t updates) {
  SmallProblem small(2);
  small.training.evaluate_every = 1;
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, {{1, 1}, {2, 3}}, 10);
  auto world = closed_form(2, [](world::Node) { return 1; });
  spec::ParameterValues all = parameters;
  all["updates"] = std::to_string(updates);
  const Simulated simulated = simulate(world, small, learning, run_of("async-sgd", all));
  std::vector<double> x;
  for (const auto& quality : simulated.qualities) x.push_back(quality[1]);
  return x;
}

TEST(AsyncSgd, EveryTreatmentOfStalenessIsItsFormula) {
  constexpr std::size_t kUpdates = 30;
  const auto slope = [](std::size_t t, double x) { return t % 2 == 0 ? x - 1 : 2 * (x - 3); };
  const auto compare = [&](const spec::ParameterValues& parameters, const auto& step) {
    const std::vector<double> said = two_workers(kUpdates, step);
    const std::vector<double> found = played_models(parameters, kUpdates);
    ASSERT_EQ(found.size(), said.size());
    for (std::size_t t = 0; t < said.size(); ++t) EXPECT_NEAR(found[t], said[t], 1e-4) << t;
  };
  compare({}, [&](const auto& x, std::size_t t, std::size_t s) { return x[t] - 0.1 * slope(t, x[t - s]); });
  compare({{"rate-factor", "0.5"}},
          [&](const auto& x, std::size_t t, std::size_t s) { return x[t] - 0.05 * slope(t, x[t - s]); });
  compare({{"staleness", "damped"}}, [&](const auto& x, std::size_t t, std::size_t s) {
    return x[t] - 0.1 / static_cast<double>(s + 1) * slope(t, x[t - s]);
  });
  compare({{"staleness", "compensated"}, {"lambda", "0.01"}}, [&](const auto& x, std::size_t t, std::size_t s) {
    const double g = slope(t, x[t - s]);
    return x[t] - 0.1 * (g + 0.01 * g * g * (x[t] - x[t - s]));
  });
}

TEST(AsyncSgd, CompensationByNothingIsNone) {
  const std::vector<double> none = played_models({}, 50);
  EXPECT_EQ(played_models({{"staleness", "compensated"}, {"lambda", "0"}}, 50), none);
  EXPECT_NE(played_models({{"staleness", "compensated"}, {"lambda", "0.1"}}, 50), none);
}

TEST(AsyncSgd, TrainsANetworkWithinItsBudget) {
  for (const char* staleness : {"none", "bounded", "damped", "compensated"}) {
    SmallProblem small(4);
    small.training.epochs = 10;
    History history(1, nullptr);
    Learning learning(small.problem(), history);
    auto world =
        closed_form(4, [](world::Node node) { return node == 3 ? 2 : 0.5; }, {.latency = 0.01, .bandwidth = 1e6});
    spec::RunSpec run = run_of("async-sgd", {{"staleness", staleness}});
    run.compress = {.method = "int8", .parameters = {{"rounding", "stochastic"}}, .memory = true};
    const Simulated simulated = simulate(world, small, learning, run);
    EXPECT_NEAR(simulated.protocol_log.samples, 10 * 200, 10.5);
    EXPECT_EQ(simulated.protocol_log.asked, simulated.protocol_log.answered);
    EXPECT_EQ(simulated.protocol_log.updates, simulated.protocol_log.answered);
    EXPECT_GT(simulated.qualities.back()[1], simulated.qualities.front()[1] + 0.2) << staleness;
  }
}

world::Task<> worker_goes_down(world::EventLoop& stage, world::World& world, world::Node worker, double at,
                               double until) {
  const auto me = static_cast<world::Node>(stage.nodes() - 1);
  co_await stage.sleep(me, at);
  world.set_host(worker, false);
  co_await stage.sleep(me, until - at);
  world.set_host(worker, true);
}

TEST(AsyncSgd, NobodyWaitsForAWorkerThatIsDown) {
  const SmallProblem small(3);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(3), 1);
  auto world = closed_form(3, [](world::Node) { return 1; });
  const spec::RunSpec run = run_of("async-sgd", {{"updates", "200"}, {"staleness", "bounded"}, {"slack", "2"}});
  const Simulated simulated = simulate(world, small, learning, run, {}, [&](world::EventLoop& stage) {
    stage.join(3, "fate", [&] { return worker_goes_down(stage, world, 1, 10.5, 40.5); });
  });
  // Per second, three gradients arrive before 10.5 s and after 40.5 s, and two in between.
  EXPECT_NEAR(simulated.log.seconds, 10 + 30 + (200 - 30 - 60) / 3.0, 1.1);
  EXPECT_EQ(simulated.protocol_log.failed, 1);
  EXPECT_NEAR(static_cast<double>(simulated.protocol_log.took_part[1]), 10 + (200 - 30 - 60) / 3.0, 1.1);
  // The returning worker continues at the others' clock, so its change is no staler than theirs.
  EXPECT_LE(simulated.protocol_log.staleness.rbegin()->first, 2 * 3);
}

TEST(AsyncSgd, GoesOnAfterTheServerWasDown) {
  const SmallProblem small(3);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(3), 1);
  auto world = closed_form(3, [](world::Node) { return 1; }, {.latency = 0.1});
  struct Fate {
    static world::Task<> happens(world::EventLoop& stage, world::World& world) {
      co_await stage.sleep(0, 10.55);
      world.set_host(3, false);
      co_await stage.sleep(0, 20);
      world.set_host(3, true);
    }
  };
  const Simulated simulated =
      simulate(world, small, learning, run_of("async-sgd", {{"updates", "60"}}), {},
               [&](world::EventLoop& stage) { stage.join(0, "fate", [&] { return Fate::happens(stage, world); }); });
  EXPECT_EQ(simulated.protocol_log.updates, 60);
  EXPECT_LT(simulated.log.seconds, 20 + 60 / 3 * 1.2 + 8);
}

TEST(AsyncSgd, SurvivesALinkThatIsDown) {
  const SmallProblem small(2);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(2), 1);
  world::ClosedFormWorld world(
      {.nodes = 3,
       .line = [](world::Node, world::Node) { return Line{.latency = 0.1}; },
       .seconds = [](world::Node node, const world::Work&) { return node == 2 ? 0 : 1; },
       .link = [](world::Node from, world::Node to) { return "of-" + std::to_string(std::min(from, to)); }});
  struct Fate {
    static world::Task<> happens(world::EventLoop& stage, world::World& world) {
      for (int i = 0; i < 6; ++i) {  // the link fails in every phase of a worker's turn
        co_await stage.sleep(2, 7.05 + 0.31 * i);
        world.set_link("of-0", false);
        co_await stage.sleep(2, 12);
        world.set_link("of-0", true);
      }
    }
  };
  const Simulated simulated =
      simulate(world, small, learning, run_of("async-sgd", {{"updates", "200"}}), {},
               [&](world::EventLoop& stage) { stage.join(2, "fate", [&] { return Fate::happens(stage, world); }); });
  EXPECT_EQ(simulated.protocol_log.updates, 200);
  EXPECT_GT(simulated.protocol_log.retried, 6);
  EXPECT_GT(simulated.protocol_log.took_part[0], 40);
}

}  // namespace
}  // namespace dadsim::test
