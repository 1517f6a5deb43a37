#include <gtest/gtest.h>

#include <cmath>

#include "protocols/simulating.hpp"

namespace dadsim::test {
namespace {

constexpr double kParameters = 784 * 10 + 10;  // one layer on digits of 28 × 28 pixels

std::vector<double> first_coordinates(const Simulated& simulated) {
  std::vector<double> x;
  for (const auto& quality : simulated.qualities) x.push_back(quality[1]);
  return x;
}

/// Returns the losses of synchronous SGD before the first step and after every step.
std::vector<double> synchronous_losses(const SmallProblem& small, std::int64_t steps) {
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  const std::size_t sites = small.partition.size();
  const auto loss = [&](const Value& model) { return history.get(learning.evaluate(model))->scalars[0]; };
  Value model = learning.initial_with_state();
  std::vector<double> losses = {loss(model)};
  for (std::int64_t step = 0; step < steps; ++step) {
    std::vector<Value> gradients;
    for (std::size_t site = 0; site < sites; ++site) {
      gradients.push_back(learning.gradient(model, site, protocols::SiteBatches::How::steps, step));
    }
    const Value mean = learning.weighted_sum(gradients, std::vector<double>(sites, 1.0 / static_cast<double>(sites)));
    model = learning.apply(model, mean, learning.rate(step));
    losses.push_back(loss(model));
  }
  return losses;
}

TEST(DiLoCo, WithOneStepAndAPlainOuterStepIsSynchronousSgd) {
  const SmallProblem small(4);
  const std::vector<double> losses = synchronous_losses(small, 10);
  for (const char* protocol : {"diloco", "local-sgd"}) {
    History history(1, nullptr);
    Learning learning(small.problem(), history);
    auto world = closed_form(4, [](world::Node) { return 1; });
    spec::ParameterValues parameters = {{"period", "1"}};
    if (std::string(protocol) == "diloco") {
      parameters["outer-rate"] = "1";
      parameters["outer-momentum"] = "0";
    }
    const Simulated simulated = simulate(world, small, learning, run_of(protocol, parameters));
    ASSERT_EQ(simulated.qualities.size(), losses.size());
    EXPECT_LT(losses.back(), 0.95 * losses.front());
    for (std::size_t i = 0; i < losses.size(); ++i) {
      EXPECT_NEAR(simulated.qualities[i][0], losses[i], 1e-6 * losses[i]) << protocol << " " << i;
    }
  }
}

TEST(DiLoCo, TheOuterStepIsNesterovOnWhatWorkersHaveMoved) {
  const SmallProblem small(2);
  History history(1, nullptr);
  const std::vector<Quadratics::Site> sites = {{1, 1}, {2, 3}};
  Quadratics learning(small.problem(), history, sites, 10);
  auto world = closed_form(2, [](world::Node) { return 1; });
  const Simulated simulated = simulate(world, small, learning, run_of("diloco", {{"rounds", "30"}, {"period", "3"}}));
  const std::vector<double> found = first_coordinates(simulated);
  ASSERT_EQ(found.size(), 31U);
  double theta = 10;
  double v = 0;
  for (std::size_t round = 0; round < 31; ++round) {
    EXPECT_NEAR(found[round], theta, 2e-5 * std::max(1.0, std::abs(theta))) << round;
    double mean = 0;
    for (const Quadratics::Site& site : sites) {
      mean += 0.5 * (site.minimum + (theta - site.minimum) * std::pow(1 - 0.1 * site.curvature, 3));
    }
    const double delta = theta - mean;
    v = 0.9 * v + delta;
    theta -= 0.7 * (delta + 0.9 * v);
  }
}

TEST(DiLoCo, ARoundTakesWhatTheFormulasSay) {
  const SmallProblem small(3);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(3), 1);
  auto world =
      closed_form(3, [](world::Node node) { return node == 1 ? 0.9 : 0.2; }, {.latency = 0.05, .bandwidth = 1e5});
  spec::RunSpec run = run_of("diloco", {{"rounds", "4"}, {"period", "7"}});
  run.compress = {.method = "fp16", .parameters = {}, .memory = false};
  const Simulated simulated = simulate(world, small, learning, run);
  const double up = 0.05 + 2 * kParameters / 1e5;
  const double down = 0.05 + 4 * kParameters / 1e5;
  // The barrier waits for the slow worker. All workers have the initial weights, so the first round sends no model
  // down.
  for (std::size_t round = 1; round <= 4; ++round) {
    const double turns = static_cast<double>(round);
    const double said = turns * (7 * 0.9 + up) + (turns - 1) * down;
    EXPECT_NEAR(simulated.protocol_log.versions.at(round).at, said, 1e-3 * said);
    EXPECT_NEAR(simulated.protocol_log.versions.at(round).at, said, 1e-9);
  }
  EXPECT_DOUBLE_EQ(simulated.log.nodes[0].sent, 4 * 2 * kParameters);
  EXPECT_DOUBLE_EQ(simulated.log.nodes[0].received, 3 * 4 * kParameters);
}

TEST(LocalSgd, TheMeanOfWhatWorkersMake) {
  const SmallProblem small(2);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, {{1, 1}, {2, 3}}, 10);
  auto world = closed_form(2, [](world::Node) { return 1; });
  const Simulated simulated =
      simulate(world, small, learning, run_of("local-sgd", {{"rounds", "20"}, {"period", "4"}}));
  double x = 10;
  for (const double found : first_coordinates(simulated)) {
    EXPECT_NEAR(found, x, 1e-5);
    x = 0.5 * (1 + (x - 1) * std::pow(0.9, 4)) + 0.5 * (3 + (x - 3) * std::pow(0.8, 4));
  }
}

TEST(LocalSgd, TakesAsManyStepsAsSynchronousTraining) {
  const SmallProblem small(4);  // 5 steps to an epoch, 2 epochs
  const auto updates = [&](const spec::ParameterValues& parameters) {
    History history(1, nullptr);
    Learning learning(small.problem(), history);
    auto world = closed_form(4, [](world::Node) { return 1; });
    const Simulated simulated = simulate(world, small, learning, run_of("local-sgd", parameters));
    EXPECT_EQ(simulated.protocol_log.samples, 400);
    EXPECT_EQ(simulated.log.seconds, 10);
    return simulated.protocol_log.updates;
  };
  EXPECT_EQ(updates({{"period", "4"}}), 3) << "4 + 4 + 2";
  EXPECT_EQ(updates({{"period", "4"}, {"post-local", "1"}}), 7) << "5 × 1 + 4 + 1";
}

TEST(LocalSgd, MomentumStaysWithTheWorker) {
  SmallProblem small(1);
  small.training.optimizer.momentum = 0.9;
  const std::vector<double> losses = synchronous_losses(small, 40);
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto world = closed_form(1, [](world::Node) { return 1; });
  const Simulated simulated = simulate(world, small, learning, run_of("local-sgd", {{"period", "5"}}));
  ASSERT_EQ(simulated.qualities.size(), 9U);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(simulated.qualities[i][0], losses[5 * i], 1e-5 * losses[5 * i]);
}

// ---- Streaming DiLoCo ----

SmallProblem two_layers(std::size_t sites) {
  SmallProblem small(sites);
  small.model.layers = {spec::DenseSpec{.units = 20}, spec::DenseSpec{.units = 10}};
  return small;
}
constexpr double kFirstLayer = 785 * 20, kSecondLayer = 21 * 10;

TEST(StreamingDiLoCo, OfOnePieceWithoutDelayIsDiLoCo) {
  const SmallProblem small = two_layers(3);
  const auto simulated = [&](const char* protocol, spec::ParameterValues parameters) {
    History history(1, nullptr);
    Learning learning(small.problem(), history);
    auto world = closed_form(3, [](world::Node node) { return 1 + node; }, {.latency = 0.1, .bandwidth = 1e5});
    parameters.insert({{"period", "3"}, {"outer-rate", "0.7"}});
    return simulate(world, small, learning, run_of(protocol, parameters));
  };
  const Simulated plain = simulated("diloco", {});
  const spec::ParameterValues whole = {
      {"fragments", "1"}, {"delay", "0"}, {"alpha", "0"}, {"outer-gradients", "compress"}};
  const Simulated streaming = simulated("streaming-diloco", whole);
  EXPECT_EQ(streaming.qualities, plain.qualities) << "to the bit";
  ASSERT_EQ(streaming.protocol_log.versions.size(), plain.protocol_log.versions.size());
  for (std::size_t i = 0; i < plain.protocol_log.versions.size(); ++i) {
    EXPECT_NEAR(streaming.protocol_log.versions[i].at, plain.protocol_log.versions[i].at, 1e-9);
  }
  EXPECT_DOUBLE_EQ(streaming.log.nodes[0].sent, plain.log.nodes[0].sent);
  spec::ParameterValues mixing = whole;
  mixing["alpha"] = "0.5";
  EXPECT_NE(simulated("streaming-diloco", mixing).qualities, plain.qualities);
  spec::ParameterValues bits = whole;
  bits["outer-gradients"] = "e3m0";
  EXPECT_NE(simulated("streaming-diloco", bits).qualities, plain.qualities);
}

TEST(StreamingDiLoCo, SendsFourBitsANumberWhileTrainingGoesOn) {
  const SmallProblem small = two_layers(2);
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  // A fragment takes 2 × 0.1 s plus its bytes in each direction. The delay is two steps of half a second.
  auto world = closed_form(2, [](world::Node) { return 0.5; }, {.latency = 0.1, .bandwidth = 2e5});
  const Simulated simulated =
      simulate(world, small, learning,
               run_of("streaming-diloco", {{"period", "10"}, {"rounds", "6"}, {"fragments", "2"}, {"delay", "2"}}));
  const double first_up = kFirstLayer / 2 + 4;
  const double second_up = kSecondLayer / 2 + 4;
  // The first layer is sent after steps 5, 15, …, the second after steps 10, 20, …, and both after the last step.
  const double last = 0.1 + (first_up + second_up) / 2e5;
  EXPECT_DOUBLE_EQ(simulated.log.nodes[0].sent, 7 * first_up + 6 * second_up);
  EXPECT_DOUBLE_EQ(simulated.log.nodes[0].received, 6 * 4 * kFirstLayer + 5 * 4 * kSecondLayer);
  EXPECT_NEAR(simulated.log.seconds, 60 * 0.5 + last, 1e-9) << "nobody waits";
  EXPECT_EQ(simulated.protocol_log.updates, 13);
  // Per second, uploads are an eighth of DiLoCo's bytes, and a scale per layer.
  const double per_second = (simulated.log.nodes[0].sent - first_up) / (60 * 0.5);
  EXPECT_NEAR(per_second, ((kFirstLayer + kSecondLayer) * 4 / 8 + 8) / (10 * 0.5), 1e-9);
}

TEST(StreamingDiLoCo, WaitsForAFragmentThatTakesLongerThanItsDelay) {
  const SmallProblem small(2);
  for (const std::int64_t delay : {0, 1, 2, 4}) {
    History history(1, nullptr);
    Learning learning(small.problem(), history);
    auto world = closed_form(2, [](world::Node) { return 0.5; }, {.latency = 0.4, .bandwidth = 1e5});
    const Simulated simulated =
        simulate(world, small, learning,
                 run_of("streaming-diloco",
                        {{"period", "10"}, {"rounds", "5"}, {"fragments", "1"}, {"delay", std::to_string(delay)}}));
    const double up = 0.4 + (kParameters / 2 + 4) / 1e5;
    const double down = 0.4 + 4 * kParameters / 1e5;
    const double waits = std::max(0.0, up + down - static_cast<double>(delay) * 0.5);
    EXPECT_NEAR(simulated.log.seconds, 50 * 0.5 + 4 * waits + up, 1e-9) << delay;
    EXPECT_EQ(waits > 0, delay < 3);
  }
}

TEST(RunningStatistics, GoWithTheWeightsThroughCompressorsToo) {
  SmallProblem small(3);
  small.training.epochs = 6;
  small.training.optimizer.momentum = 0.9;
  small.model.layers = {spec::DenseSpec{.units = 20}, spec::BatchNormSpec{}, spec::DenseSpec{.units = 10}};
  for (const char* protocol : {"async-sgd", "ad-psgd", "local-sgd", "diloco", "streaming-diloco"}) {
    History history(1, nullptr);
    Learning learning(small.problem(), history);
    EXPECT_GT(learning.state(), learning.parameters());
    auto world = closed_form(3, [](world::Node node) { return 1 + 0.1 * node; });
    spec::ParameterValues parameters;
    const auto& info = protocols::protocol_registry().at(protocol);
    for (const spec::ParameterSpec& parameter : info.parameters) {
      if (parameter.name == "period") parameters["period"] = "4";
      if (parameter.name == "graph") parameters["graph"] = "complete";
      if (parameter.name == "rate-factor") parameters["rate-factor"] = "0.3";
      if (parameter.name == "outer-gradients") parameters["outer-gradients"] = "compress";
    }
    spec::RunSpec run = run_of(protocol, parameters);
    run.compress = {.method = "int8", .parameters = {{"rounding", "stochastic"}}, .memory = true};
    const Simulated simulated = simulate(world, small, learning, run);
    EXPECT_GT(simulated.qualities.back()[1], simulated.qualities.front()[1] + 0.3) << protocol;
  }
}

world::Task<> ups_and_downs(world::EventLoop& stage, world::World& world, std::size_t nodes) {
  const auto me = static_cast<world::Node>(nodes);  // a node that is never down
  for (std::size_t i = 0; i < 3 * nodes; ++i) {
    const auto one = static_cast<world::Node>(i % nodes);
    co_await stage.sleep(me, 3.03 + 0.37 * static_cast<double>(i));
    world.set_host(one, false);
    co_await stage.sleep(me, 2.2);
    world.set_host(one, true);
    world.set_link("of-0", i % 3 != 0);
  }
  world.set_link("of-0", true);
}

TEST(LocalStepsOnFailures, TheRoundsGoOn) {
  for (const char* protocol : {"local-sgd", "diloco", "streaming-diloco"}) {
    for (const std::string period : {"4", "7"}) {
      const SmallProblem small = two_layers(3);
      History history(1, nullptr);
      Learning learning(small.problem(), history);
      world::ClosedFormWorld world(
          {.nodes = 5,  // three sites, the server, and a node that takes no part
           .line = [](world::Node, world::Node) { return world::ClosedFormWorld::SiteLine{0.2}; },
           .seconds = [](world::Node node,
                         const world::Work& work) { return node == 3 ? 0.01 : 0.5 * static_cast<double>(work.steps); },
           .link = [](world::Node from, world::Node to) { return "of-" + std::to_string(std::min(from, to)); }});
      const auto join = [&](world::EventLoop& stage) {
        stage.join(4, "fate", [&] { return ups_and_downs(stage, world, 4); });
      };
      const spec::RunSpec run = run_of(protocol, {{"period", period}, {"rounds", "40"}});
      const Simulated simulated = simulate(world, small, learning, run, {}, join, {"bystander"});
      EXPECT_GE(simulated.protocol_log.updates, 40) << protocol;
      EXPECT_GT(simulated.protocol_log.failed, 0);
      EXPECT_GT(simulated.protocol_log.retried, 0);
      EXPECT_GT(simulated.qualities.back()[1], simulated.qualities.front()[1] + 0.3) << protocol;
    }
  }
}

}  // namespace
}  // namespace dadsim::test
