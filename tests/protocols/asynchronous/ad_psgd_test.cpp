#include "protocols/asynchronous/ad_psgd.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "algorithms/gossip/graph.hpp"
#include "protocols/asynchronous/ad_psgd.hpp"
#include "protocols/simulating.hpp"

namespace dadsim::test {
namespace {

using protocols::ActivePassive;

bool is_one_piece(const ActivePassive& split) {
  std::vector<bool> seen(split.partners.size(), false);
  std::vector<std::size_t> open = {0};
  seen[0] = true;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    for (const std::int32_t next : split.partners[at]) {
      if (seen[static_cast<std::size_t>(next)]) continue;
      seen[static_cast<std::size_t>(next)] = true;
      open.push_back(static_cast<std::size_t>(next));
    }
  }
  return std::ranges::find(seen, false) == seen.end();
}

TEST(ActivePassive, EveryGraphFallsInTwoCampsThatHangTogether) {
  for (const auto& graph : algorithms::graphs().all()) {
    for (std::size_t sites = 2; sites <= 24; ++sites) {
      const ActivePassive split = protocols::split_into_active_and_passive(graph.make(sites, 7));
      EXPECT_TRUE(is_one_piece(split)) << graph.name << " of " << sites;
      for (std::size_t i = 0; i < sites; ++i) {
        for (const std::int32_t j : split.partners[i]) {
          const auto& back = split.partners[static_cast<std::size_t>(j)];
          EXPECT_NE(split.active[i], split.active[static_cast<std::size_t>(j)]);
          EXPECT_NE(std::ranges::find(back, static_cast<std::int32_t>(i)), back.end());
        }
      }
      if (graph.name == "ring" && sites % 2 == 0) {
        EXPECT_EQ(split.left_out, 0U) << sites;
      }
    }
  }
  const auto is_refused = [](const char* graph, std::size_t sites) {
    return !faults_of(protocols::protocol_registry().at("ad-psgd"), {run_of("ad-psgd", {{"graph", graph}}), sites})
                .empty();
  };
  EXPECT_FALSE(is_refused("ring", 6));
  EXPECT_TRUE(is_refused("ring", 5));
  EXPECT_FALSE(is_refused("complete", 5));
}

/// Worker i has the loss c_i x and starts at i. After k_i steps of each worker, the mean of all models is the initial
/// mean − η Σ k_i c_i / n, whichever workers averaged.
class Slopes final : public Learning {
 public:
  Slopes(const algorithms::LearningProblem& problem, History& history, std::vector<double> slopes)
      : Learning(problem, history, 1), slopes_(std::move(slopes)) {}

  Value initial() override { return number(0); }
  Value initial_with_state() override { return number(static_cast<float>(begun_++)); }
  Value without_state(const Value& weights) override { return weights; }
  Value gradient(const Value&, std::size_t site, protocols::SiteBatches::How, std::int64_t) override {
    return number(static_cast<float>(slopes_.at(site)));
  }
  Value apply(const Value& weights, const Value& gradient, double rate_now) override {
    return weighted_sum({weights, gradient}, {1, -rate_now});
  }
  Value evaluate(const Value& weights) override {
    return history().make("evaluate", {weights}, [](History::Inputs in) {
      return world::Datum{{}, {0, static_cast<double>(in[0]->numbers[0]), 0}};
    });
  }
  double slope(std::size_t site) const { return slopes_.at(site); }

 private:
  Value number(float x) {
    return history().make("number " + std::to_string(x), {}, [x](History::Inputs) { return world::Datum{{x}, {}}; });
  }
  std::vector<double> slopes_;
  int begun_ = 0;
};

struct Gossip {
  protocols::ProtocolLog protocol_log;
  std::vector<double> mean, distance;  ///< at the observed dates: mean of all models, and Σ (x_i − mean)²
};

world::Task<> looks(world::EventLoop& stage, protocols::AdPsgd& protocol, History& history, Gossip& seen) {
  for (;;) {
    double mean = 0;
    double squares = 0;
    const std::vector<Value> models = protocol.models();
    for (const Value& model : models) mean += history.get(model)->numbers[0] / static_cast<double>(models.size());
    for (const Value& model : models) squares += std::pow(history.get(model)->numbers[0] - mean, 2);
    seen.mean.push_back(mean);
    seen.distance.push_back(squares);
    co_await stage.sleep(static_cast<world::Node>(models.size()), 0.37);
  }
}

Gossip gossip(const std::string& graph, const std::vector<double>& slopes, const std::string& updates) {
  const std::size_t sites = slopes.size();
  const SmallProblem small(sites);
  History history(1, nullptr);
  Slopes learning(small.problem(), history, slopes);
  auto world = closed_form(sites, [](world::Node node) { return 1 + 0.1 * node; }, {.latency = 0.3, .bandwidth = 1e5});
  const algorithms::LearningProblem problem = small.problem();
  const models::Network network(problem.data.shape, problem.model, problem.seed);
  const spec::RunSpec run = run_of("ad-psgd", {{"updates", updates}, {"graph", graph}});
  const protocols::Sizing sizing(problem, run.compress, {.shape = network.shape()});
  world::EventLoop stage(world, std::vector<std::string>(sites + 1, "node"));
  Gossip seen;
  seen.protocol_log = protocols::ProtocolLog(sites);
  const protocols::Setting setting{.loop = stage,
                                   .learning = learning,
                                   .sizing = sizing,
                                   .run = run,
                                   .sites = sites,
                                   .server = -1,
                                   .log = seen.protocol_log};
  protocols::AdPsgd protocol(setting);
  protocol.begin();
  const auto look = [&] { return looks(stage, protocol, history, seen); };
  stage.join(static_cast<world::Node>(sites), "looks", look);
  stage.run();
  for (const auto& version : seen.protocol_log.versions) history.get(version.quality);
  return seen;
}

TEST(AdPsgd, AveragingKeepsTheMeanAndBringsWorkersTogether) {
  for (const char* graph : {"ring", "torus", "exponential", "complete", "random"}) {
    const Gossip seen = gossip(graph, std::vector<double>(8, 0), "600");
    ASSERT_GT(seen.mean.size(), 100U);
    for (std::size_t i = 0; i < seen.mean.size(); ++i) {
      EXPECT_NEAR(seen.mean[i], 3.5, 1e-5) << graph;
      const double before = seen.distance[i > 0 ? i - 1 : 0];
      EXPECT_LE(seen.distance[i], before + 1e-9) << "no averaging sets them apart";
    }
    EXPECT_EQ(seen.distance.front(), 42);
    EXPECT_LT(seen.distance.back(), 1e-4) << graph;
  }
}

TEST(AdPsgd, TheMeanMovesByGradientsAlone) {
  const std::vector<double> slopes = {1, -2, 0.5, 3, -1, 0.25};
  const Gossip seen = gossip("ring", slopes, "500");
  double said = 2.5;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    said -= 0.1 * slopes[i] * static_cast<double>(seen.protocol_log.took_part[i]) / static_cast<double>(slopes.size());
  }
  const double found = History::datum_of(seen.protocol_log.versions.back().quality)->scalars[1];
  EXPECT_NEAR(found, said, 1e-4 * std::abs(said));
}

TEST(AdPsgd, ASlowWorkerDoesNotHoldTheOthersUp) {
  const SmallProblem small(6);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(6), 1);
  for (const world::Node slow : {2, 3}) {  // a worker that starts exchanges, then one that only answers
    auto world = closed_form(6, [slow](world::Node node) { return node == slow ? 5.0 : 1.0; },
                             {.latency = 0.01, .bandwidth = 1e6});
    const Simulated simulated = simulate(world, small, learning, run_of("ad-psgd", {{"updates", "1000"}}));
    // A turn is a gradient and an update, which take equally long.
    for (std::size_t i = 0; i < 6; ++i) {
      const double speed = static_cast<world::Node>(i) == slow ? 0.1 : 0.5;
      EXPECT_NEAR(static_cast<double>(simulated.protocol_log.took_part[i]), speed * simulated.log.seconds, 1.01) << i;
    }
  }
}

TEST(AdPsgd, TrainsANetworkWithinItsBudget) {
  SmallProblem small(4);
  small.training.epochs = 10;
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto world =
      closed_form(4, [](world::Node node) { return node == 3 ? 2 : 0.5; }, {.latency = 0.01, .bandwidth = 1e6});
  const Simulated simulated = simulate(world, small, learning, run_of("ad-psgd"));
  EXPECT_NEAR(simulated.protocol_log.samples, 10 * 200, 10.5);
  EXPECT_EQ(simulated.protocol_log.asked, simulated.protocol_log.answered);
  EXPECT_GT(simulated.qualities.back()[1], simulated.qualities.front()[1] + 0.2);
}

TEST(AdPsgd, GoesOnWhileWorkersAndLinksAreDown) {
  const SmallProblem small(4);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, std::vector<Quadratics::Site>(4), 1);
  world::ClosedFormWorld world({.nodes = 5,
                                .line = [](world::Node, world::Node) { return world::ClosedFormWorld::SiteLine{0.1}; },
                                .seconds = [](world::Node, const world::Work&) { return 0.5; },
                                .link =
                                    [](world::Node from, world::Node to) {
                                      return std::to_string(std::min(from, to)) + "-" +
                                             std::to_string(std::max(from, to));
                                    }});
  struct Fate {
    static world::Task<> happens(world::EventLoop& stage, world::World& world) {
      for (int i = 0; i < 8; ++i) {
        co_await stage.sleep(4, 5.03 + 0.11 * i);
        world.set_host(i % 4, false);
        world.set_link("0-1", i % 2 == 0);
        co_await stage.sleep(4, 7.02);
        world.set_host(i % 4, true);
      }
      world.set_link("0-1", true);
    }
  };
  const auto join = [&](world::EventLoop& stage) {
    stage.join(4, "fate", [&] { return Fate::happens(stage, world); });
  };
  const Simulated simulated = simulate(world, small, learning, run_of("ad-psgd", {{"updates", "500"}}), {}, join);
  EXPECT_EQ(simulated.protocol_log.updates, 500);
  for (const std::int64_t count : simulated.protocol_log.took_part) EXPECT_GT(count, 80);
}

}  // namespace
}  // namespace dadsim::test
