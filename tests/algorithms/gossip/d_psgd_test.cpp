#include <gtest/gtest.h>

#include "algorithms/gossip/graph.hpp"
#include "algorithms/learn.hpp"
#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "models/data/generated.hpp"
#include "schedule/schedule.hpp"

namespace dadsim::algorithms {
namespace {

/// Provides digits at some sites, and a small network.
class DPsgdTest : public testing::Test {
 protected:
  DPsgdTest() {
    data_.train = models::draw_digits(0, 480, 3);
    data_.test = models::draw_digits(480, 100, 3);
    data_.shape = {28, 28, 1};
    data_.classes = 10;
  }

  LearningProblem problem(std::size_t sites) {
    partition_ = models::split_over_sites({.kind = spec::SplitSpec::Kind::iid, .alpha = 0, .shards = 2, .sizes = {}},
                                          data_.train, 10, sites, 3);
    LearningProblem problem{data_, partition_, {}, {}, 3};
    problem.model.layers = {spec::DenseSpec{16, spec::Activation::tanh, true},
                            spec::DenseSpec{10, spec::Activation::identity, true}};
    problem.training.batch = 4;
    problem.training.batches = spec::TrainingSpec::Batches::equal;
    problem.training.epochs = 1;
    problem.training.optimizer.kind = spec::OptimizerSpec::Kind::sgd;
    problem.training.optimizer.learning_rate = 0.1;
    return problem;
  }

  static spec::RunSpec run(const std::string& graph, const std::string& order) {
    spec::RunSpec run{"d-psgd", "d-psgd", spec::ExchangeMode::peer, {{"graph", graph}, {"order", order}}};
    run.decentralised = true;
    return run;
  }

  /// Returns the batches of a step: the next four samples of each site, the same in every call.
  static Batch batch(const LearningProblem& problem, std::int64_t step) {
    Batch batch(problem.partition.size());
    for (std::size_t s = 0; s < batch.size(); ++s) {
      for (std::int64_t i = 0; i < 4; ++i) {
        const auto& own = problem.partition[s];
        batch[s].push_back(own[static_cast<std::size_t>(4 * step + i) % own.size()]);
      }
    }
    return batch;
  }

  static models::Matrix mean_of(const std::vector<const models::Network*>& networks, std::size_t layer) {
    models::Matrix sum = networks.front()->layer(layer).weight;
    for (std::size_t i = 1; i < networks.size(); ++i) sum += networks[i]->layer(layer).weight;
    return sum / static_cast<float>(networks.size());
  }

  models::Dataset data_;
  models::Partition partition_;
};

double difference(const models::Matrix& a, const models::Matrix& b) {
  return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

TEST_F(DPsgdTest, OnTheCompleteGraphItIsGradientSharing) {
  for (const std::size_t sites : {2, 8}) {
    const LearningProblem all = problem(sites);
    const auto gossip = make_learners(run("complete", "adapt-then-combine"), all);
    const auto sharing = make_learners({"gradient-sharing", "", spec::ExchangeMode::peer, {}}, all);
    for (std::int64_t step = 0; step < 10; ++step) {
      gossip->train(step, 0.1, batch(all, step));
      sharing->train(step, 0.1, batch(all, step));
    }
    for (std::size_t l = 0; l < 2; ++l) {
      for (const models::Network* network : gossip->networks()) {
        EXPECT_LT(difference(network->layer(l).weight, sharing->networks().front()->layer(l).weight), 2e-5);
      }
    }
  }
}

// With a rate of 0 only mixing remains: the mean of the sites stays constant, and the sites converge.
TEST_F(DPsgdTest, TheMeanIsPreserved) {
  for (const char* graph : {"ring", "torus", "exponential", "complete", "random"}) {
    const LearningProblem all = problem(8);
    for (const char* order : {"overlapped", "adapt-then-combine"}) {
      const auto gossip = make_learners(run(graph, order), all);
      for (std::int64_t step = 0; step < 3; ++step) gossip->train(step, 0.1, batch(all, step));
      const models::Matrix before = mean_of(gossip->networks(), 0);
      const double apart = difference(gossip->networks()[0]->layer(0).weight, before);
      for (std::int64_t step = 3; step < 23; ++step) gossip->train(step, 0, batch(all, step));
      EXPECT_LT(difference(mean_of(gossip->networks(), 0), before), 1e-6) << graph << ' ' << order;
      EXPECT_LT(difference(gossip->networks()[0]->layer(0).weight, before), 0.3 * apart + 1e-6) << graph;
    }
  }
}

TEST_F(DPsgdTest, OneStepIsThePapersFormula) {
  const LearningProblem all = problem(4);
  const auto gossip = make_learners(run("ring", "overlapped"), all);
  for (std::int64_t step = 0; step < 2; ++step) gossip->train(step, 0.1, batch(all, step));
  std::vector<models::Network> before;
  for (const models::Network* network : gossip->networks()) before.push_back(*network);
  gossip->train(2, 0.1, batch(all, 2));
  for (std::size_t i = 0; i < 4; ++i) {
    TrainingStep alone(before[i], spec::ExchangeMode::peer, all.seed);
    alone.begin(2, data_.train, {batch(all, 2)[i]});
    const auto local = make_algorithm(algorithm_registry().at("no-sharing"));
    local->run(alone);
    const models::Matrix expected =
        (before[i].layer(1).weight + before[(i + 1) % 4].layer(1).weight + before[(i + 3) % 4].layer(1).weight) / 3.0F -
        0.1F * alone.gradient(1).weight;
    EXPECT_LT(difference(gossip->networks()[i]->layer(1).weight, expected), 1e-5);
  }
}

// Without compression and with a rate of 0, neighbours know a site's weights after one step. The next step is then x_i
// ← x_i + γ Σ_j W_ij (x_j − x_i).
TEST_F(DPsgdTest, ChocoMovesByGammaTowardsItsNeighbours) {
  const LearningProblem all = problem(4);
  spec::RunSpec choco{"choco-sgd", "choco-sgd", spec::ExchangeMode::peer, {{"graph", "ring"}, {"gamma", "0.4"}}};
  choco.decentralised = true;
  const auto gossip = make_learners(choco, all);
  gossip->train(0, 0.1, batch(all, 0));
  gossip->train(1, 0, batch(all, 1));
  std::vector<models::Matrix> x;
  for (const models::Network* network : gossip->networks()) x.push_back(network->layer(1).weight);
  EXPECT_GT(difference(x[0], x[1]), 1e-3) << "sites differ";
  gossip->train(2, 0, batch(all, 2));
  for (std::size_t i = 0; i < 4; ++i) {
    const models::Matrix expected = x[i] + 0.4F * ((x[(i + 1) % 4] - x[i]) + (x[(i + 3) % 4] - x[i])) / 3.0F;
    EXPECT_LT(difference(gossip->networks()[i]->layer(1).weight, expected), 1e-6);
  }
}

TEST_F(DPsgdTest, TheRecordedStepSendsItsWeightsToNeighbours) {
  const LearningProblem all = problem(8);
  const step::Trajectory trajectory = learn(run("torus", "overlapped"), all);
  const models::Network network(data_.shape, all.model, all.seed);
  ASSERT_FALSE(trajectory.distinct_steps.empty());
  const step::Step& first = trajectory.distinct_steps.front();
  const schedule::Schedule schedule = schedule::instantiate(
      trajectory.structures[static_cast<std::size_t>(first.structure)], first.sizes, network.shape(), network.shape());
  EXPECT_EQ(schedule.workers, 8U);
  double bytes = 0;
  for (const schedule::Task& task : schedule.tasks) {
    const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
    if (collective == nullptr) continue;
    EXPECT_EQ(collective->kind, step::CollectiveKind::neighbour_exchange);
    ASSERT_NE(collective->neighbours, nullptr);
    EXPECT_EQ(*collective->neighbours, graphs().at("torus").make(8, all.seed));
    bytes += collective->bytes[0];
  }
  EXPECT_EQ(bytes, 4.0 * (784 * 16 + 16 + 16 * 10 + 10)) << "every number once to each neighbour";
  EXPECT_GT(trajectory.curve.back().accuracy, trajectory.curve.front().accuracy);
}

}  // namespace
}  // namespace dadsim::algorithms
