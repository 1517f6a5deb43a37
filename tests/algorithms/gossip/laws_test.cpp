// Tests laws of every algorithm whose sites have weights of their own. A newly registered algorithm is tested too.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <boost/random/normal_distribution.hpp>

#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/run_of.hpp"
#include "schedule/schedule.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

std::vector<std::string> gossip_algorithms() {
  std::vector<std::string> names;
  for (const SynchronousMethod& info : algorithm_registry().all()) {
    if (info.sharing == Sharing::own_weights) names.push_back(info.name);
  }
  return names;
}

/// Provides samples of random numbers, dealt to sites in shards of few classes, and networks with and without norms.
class GossipLaws : public testing::TestWithParam<std::string> {
 protected:
  GossipLaws() {
    RandomStream random(3, Purpose::test);
    boost::random::normal_distribution<float> normal;
    data_.train.features.resize(320, 20);
    for (float& x : data_.train.features.reshaped()) x = normal(random);
    for (std::int32_t i = 0; i < 320; ++i) data_.train.labels.push_back(i % 10);
    data_.test = data_.train;
    data_.shape = {1, 1, 20};
    data_.classes = 10;
  }

  LearningProblem problem(std::size_t sites, bool norms = false, double rate = 0.1) {
    partition_ = models::split_over_sites({.kind = spec::SplitSpec::Kind::shards, .alpha = 0, .shards = 2, .sizes = {}},
                                          data_.train, 10, sites, 3);
    LearningProblem problem{data_, partition_, {}, {}, 3};
    problem.model.layers = {spec::DenseSpec{12, spec::Activation::tanh, true}};
    if (norms) problem.model.layers.emplace_back(spec::LayerNormSpec{});
    problem.model.layers.emplace_back(spec::DenseSpec{10, spec::Activation::identity, true});
    problem.training.batch = 4;
    problem.training.batches = spec::TrainingSpec::Batches::equal;
    problem.training.epochs = 1000;  // so that no step is the last one
    problem.training.optimizer.kind = spec::OptimizerSpec::Kind::sgd;
    problem.training.optimizer.learning_rate = rate;
    problem.training.optimizer.momentum = 0;
    problem.training.optimizer.weight_decay = 0;
    return problem;
  }

  /// Returns true if messages carry a weight, so that the degrees of sites may differ.
  static bool pushes() { return GetParam() == "sgp" || GetParam() == "sparse-push"; }
  const SynchronousMethod& info() const { return algorithm_registry().at(GetParam()); }

  /// Returns runs of this algorithm with each of its graphs and other choices, without refused combinations.
  std::vector<spec::RunSpec> runs(std::size_t sites) const {
    std::vector<spec::RunSpec> all;
    const auto add = [&](const spec::ParameterValues& chosen) {
      spec::RunSpec run = test::run_of(info().name, spec::ExchangeMode::peer, chosen);
      run.decentralised = true;
      if (faults_of(info(), {run, sites}).empty()) all.push_back(run);
    };
    add({});
    for (const spec::ParameterSpec& parameter : info().parameters) {
      for (const std::string& choice : parameter.choices) add({{parameter.name, choice}});
    }
    for (const spec::ParameterSpec& parameter : info().parameters) {
      if (parameter.name == "form") add({{"form", "shared-mask"}, {"graph", "directed"}});
      if (parameter.name == "form") add({{"form", "shared-mask"}, {"graph", "one-peer-exponential"}});
    }
    return all;
  }

  static std::string words(const spec::RunSpec& run) {
    std::string text = run.algorithm;
    for (const auto& [name, value] : run.parameters) text += " " + name + "=" + value;
    return text;
  }

  static Batch some_batch(const LearningProblem& problem, std::int64_t step) {
    Batch batch(problem.partition.size());
    for (std::size_t s = 0; s < batch.size(); ++s) {
      for (std::int64_t i = 0; i < 3; ++i) {
        const auto& own = problem.partition[s];
        batch[s].push_back(own[static_cast<std::size_t>(3 * step + i) % own.size()]);
      }
    }
    return batch;
  }

  static std::vector<models::Matrix> mean_of(const std::vector<const models::Network*>& networks) {
    std::vector<models::Matrix> mean;
    for (std::size_t l = 0; l < networks[0]->layers(); ++l) {
      models::Matrix sum = networks[0]->layer(l).weight;
      for (std::size_t i = 1; i < networks.size(); ++i) sum += networks[i]->layer(l).weight;
      mean.emplace_back(sum / static_cast<float>(networks.size()));
    }
    return mean;
  }

  static double apart(const std::vector<const models::Network*>& networks, const std::vector<models::Matrix>& from) {
    double worst = 0;
    for (const models::Network* network : networks) worst = std::max(worst, difference(mean_of({network}), from));
    return worst;
  }

  static double difference(const std::vector<models::Matrix>& a, const std::vector<models::Matrix>& b) {
    double worst = 0;
    for (std::size_t l = 0; l < b.size(); ++l) {
      worst = std::max<double>(worst, (a[l] - b[l]).cwiseAbs().maxCoeff() / b[l].cwiseAbs().maxCoeff());
    }
    return worst;
  }

  models::Dataset data_;
  models::Partition partition_;
};

TEST_P(GossipLaws, BytesRecordedAreBytesHandedOver) {
  for (const bool norms : {false, true}) {
    for (const char* compressor : {"none", "int8"}) {
      for (spec::RunSpec run : runs(6)) {
        run.compress.method = compressor;
        if (run.compress.method == "int8") run.compress.parameters = {{"rounding", "nearest"}};
        const LearningProblem all = problem(6, norms);
        OwnWeightsStep step(all, run);
        const std::unique_ptr<GossipAlgorithm> algorithm = make_gossip(info(), run);
        for (std::int64_t number = 0; number < 3; ++number) {
          step.begin(number, 0.1, some_batch(all, number));
          algorithm->run(step);
          const std::vector<double> uplink_bytes = step.exchange().uplink_bytes();
          const auto [structure, sizes] = step.recorder().take();
          const spec::ModelShape& shape = step.network(0).shape();
          const schedule::Schedule schedule = schedule::instantiate(structure, sizes, shape, shape);
          std::vector<double> recorded(6, 0.0);
          for (const schedule::Task& task : schedule.tasks) {
            const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
            if (collective == nullptr) continue;
            ASSERT_NE(collective->neighbours, nullptr);
            for (std::size_t i = 0; i < 6; ++i) {
              recorded[i] += collective->bytes[i] * static_cast<double>(collective->neighbours->to[i].size());
            }
          }
          EXPECT_EQ(recorded, uplink_bytes) << words(run) << ", step " << number;
        }
      }
    }
  }
}

TEST_P(GossipLaws, SitesWithEqualDataStayEqual) {
  for (const spec::RunSpec& run : runs(6)) {
    const LearningProblem all = problem(6);
    const auto learners = make_learners(run, all);
    for (std::int64_t number = 0; number < 5; ++number) {
      learners->train(number, 0.1, Batch(6, some_batch(all, number)[0]));
    }
    const Topology topology(run.parameters, 6, all.seed);
    const auto networks = learners->networks();
    // A gradient moves z_i = x_i ÷ w_i by η ÷ w_i, and w_i differs if degrees do.
    if (pushes() && !topology.regular()) continue;
    EXPECT_EQ(apart(networks, mean_of({networks[0]})), 0) << words(run);
  }
}

// With a rate of 0 only mixing remains: the mean of the sites stays constant, and the sites converge. Otherwise the
// mean follows the gradients at each site's weights: x̄ = x(0) − (η/n) Σ g_i.
TEST_P(GossipLaws, WhatSitesHaveTogetherMovesByGradientsAlone) {
  constexpr double kRate = 0.05;
  for (const spec::RunSpec& run : runs(8)) {
    const LearningProblem all = problem(8, false, kRate);
    const auto learners = make_learners(run, all);
    std::vector<models::Matrix> expected = mean_of(learners->networks());
    for (std::int64_t number = 0; number < 4; ++number) {
      const Batch batch = some_batch(all, number);
      if (GetParam() == "choco-sgd" && number > 0) break;  // CHOCO takes gradients in the middle of a step
      for (std::size_t i = 0; i < 8; ++i) {
        const models::Network before = *learners->networks()[i];
        TrainingStep alone(before, spec::ExchangeMode::peer, all.seed);
        alone.begin(number, data_.train, {batch[i]});
        make_algorithm(algorithm_registry().at("no-sharing"))->run(alone);
        for (std::size_t l = 0; l < expected.size(); ++l) {
          expected[l] -= static_cast<float>(kRate / 8) * alone.gradient(l).weight;
        }
      }
      learners->train(number, kRate, batch);
    }
    const double before = apart(learners->networks(), expected);
    const std::int64_t first = GetParam() == "choco-sgd" ? 1 : 4;
    for (std::int64_t number = first; number < first + 120; ++number) {
      learners->train(number, 0, some_batch(all, number));
    }
    // D² keeps the velocity of the mean, and with it the fp32 rounding errors.
    const double rounding = GetParam() == "d2" ? 1e-4 : 2e-5;
    const Topology topology(run.parameters, 8, all.seed);
    if (!pushes() || topology.regular()) {
      EXPECT_LT(difference(mean_of(learners->networks()), expected), rounding) << words(run);
    }
    // Sites converge more slowly if a step sends only some of the numbers, or subtracts the previous step (D²).
    const bool slow = GetParam() == "sparse-push" || GetParam() == "power-gossip" || GetParam() == "d2";
    EXPECT_LT(apart(learners->networks(), expected), slow ? std::max(before, rounding) : rounding) << words(run);
  }
}

TEST_P(GossipLaws, SameSeedSameBitsForAnyNumberOfThreads) {
  for (const spec::RunSpec& run : runs(5)) {
    const LearningProblem all = problem(5);
    std::vector<models::Matrix> first;
    for (const std::size_t threads : {1, 4}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      const auto learners = make_learners(run, all);
      for (std::int64_t number = 0; number < 4; ++number) learners->train(number, 0.1, some_batch(all, number));
      std::vector<models::Matrix> weights;
      for (const models::Network* network : learners->networks()) weights.push_back(network->layer(0).weight);
      if (first.empty()) first = weights;
      EXPECT_EQ(first, weights) << words(run);
    }
  }
}

TEST_P(GossipLaws, OneSiteIsPlainTraining) {
  for (const spec::RunSpec& run : runs(1)) {
    const LearningProblem all = problem(1);
    const auto gossip = make_learners(run, all);
    const auto alone = make_learners({"no-sharing", "", spec::ExchangeMode::peer, {}}, all);
    for (std::int64_t number = 0; number < 4; ++number) {
      gossip->train(number, 0.1, some_batch(all, number));
      alone->train(number, 0.1, some_batch(all, number));
    }
    const auto* network = alone->networks()[0];
    EXPECT_LT(apart(gossip->networks(), mean_of({network})), 1e-6) << words(run);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, GossipLaws, testing::ValuesIn(gossip_algorithms()), [](const auto& param) {
  std::string name = param.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

/// If all sites average exactly, the algorithm equals gradient sharing.
class ExactMixing : public GossipLaws {};

TEST_P(ExactMixing, OnTheCompleteGraphIsGradientSharing) {
  for (const std::size_t sites : {2, 8}) {
    const LearningProblem all = problem(sites);
    spec::RunSpec run = test::run_of(info().name, spec::ExchangeMode::peer, info().lossless);
    run.parameters["graph"] = "complete";
    if (GetParam() == "d-psgd") run.parameters["order"] = "adapt-then-combine";
    const auto gossip = make_learners(run, all);
    const auto sharing = make_learners({"gradient-sharing", "", spec::ExchangeMode::peer, {}}, all);
    for (std::int64_t step = 0; step < 8; ++step) {
      gossip->train(step, 0.1, some_batch(all, step));
      sharing->train(step, 0.1, some_batch(all, step));
    }
    const models::Network* one = sharing->networks()[0];
    EXPECT_LT(apart(gossip->networks(), mean_of({one})), 3e-5) << words(run);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, ExactMixing,
                         testing::Values("d-psgd", "d2", "gradient-tracking", "sgp", "sparse-push"),
                         [](const auto& param) {
                           std::string name = param.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace dadsim::algorithms
