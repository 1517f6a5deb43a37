#include <gtest/gtest.h>

#include "algorithms/flexible/plan.hpp"
#include "algorithms/learn.hpp"
#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/run_of.hpp"
#include "models/data/generated.hpp"
#include "schedule/schedule.hpp"

namespace dadsim::algorithms {
namespace {

spec::RunSpec own_run(std::vector<spec::ShareRule> share, const std::string& above = "") {
  spec::RunSpec run = test::run_of("flexible", spec::ExchangeMode::aggregator);
  run.share = std::move(share);
  run.average_deltas_above = above;
  return run;
}

struct OwnProblem {
  models::Dataset data;
  models::Partition partition;
  LearningProblem problem{data, partition, {}, {}, 3};
  explicit OwnProblem(std::size_t sites = 3) {
    data.train = models::draw_digits(0, 240, 3);
    data.test = models::draw_digits(300, 100, 3);
    data.shape = {28, 28, 1};
    data.classes = 10;
    partition = split_over_sites(spec::SplitSpec{}, data.train, 10, sites, 3);
    problem.model.layers = {spec::DenseSpec{20, spec::Activation::tanh, true},
                            spec::DenseSpec{16, spec::Activation::relu, true},
                            spec::DenseSpec{10, spec::Activation::identity, true}};
    problem.training.batch = 8;
    problem.training.batches = spec::TrainingSpec::Batches::equal;
    problem.training.epochs = 1;
    problem.training.optimizer.kind = spec::OptimizerSpec::Kind::sgd;
    problem.training.optimizer.learning_rate = 0.2;
  }
  Batch batch(std::int32_t first, std::int32_t rows) const {
    Batch batch(partition.size());
    for (std::size_t site = 0; site < partition.size(); ++site) {
      for (std::int32_t i = 0; i < rows; ++i) {
        batch[site].push_back(partition[site][static_cast<std::size_t>(first + i)]);
      }
    }
    return batch;
  }
};

TEST(OwnLayers, SharedLayersAreTheSameToTheBitAndOthersAreNot) {
  const OwnProblem given;
  for (const char* statistic : {"gradient", "dad", "edad", "rank-dad"}) {
    const auto learners = make_learners(own_run({{"fc1", "none"}, {"*", statistic}}), given.problem);
    for (std::int32_t step = 0; step < 4; ++step) learners->train(step, 0.2, given.batch(8 * step, 8));
    const std::vector<const models::Network*> networks = learners->networks();
    ASSERT_EQ(networks.size(), 3U);
    for (std::size_t site = 1; site < 3; ++site) {
      for (const std::size_t shared : {1, 2}) {
        EXPECT_EQ(networks[site]->layer(shared).weight, networks[0]->layer(shared).weight) << statistic;
        EXPECT_EQ(networks[site]->layer(shared).bias, networks[0]->layer(shared).bias) << statistic;
      }
      EXPECT_NE(networks[site]->layer(0).weight, networks[0]->layer(0).weight) << statistic;
    }
  }
}

TEST(OwnLayers, WithNothingSharedSitesLearnAlone) {
  const OwnProblem given;
  const step::Trajectory own = learn(own_run({{"*", "none"}}), given.problem);
  const step::Trajectory alone = learn({"no-sharing", "n", spec::ExchangeMode::aggregator, {}}, given.problem);
  ASSERT_EQ(own.curve.size(), alone.curve.size());
  for (std::size_t i = 0; i < own.curve.size(); ++i) {
    EXPECT_NEAR(own.curve[i].loss, alone.curve[i].loss, 1e-5 * alone.curve[i].loss);
  }
  EXPECT_LT(own.curve.back().loss, 0.95 * own.curve.front().loss);
}

TEST(OwnLayers, ExactStatisticsAboveThemAreTheSameGradient) {
  const OwnProblem given;
  const step::Trajectory expected = learn(own_run({{"fc1", "none"}}), given.problem);
  for (const char* statistic : {"dad", "edad"}) {
    const step::Trajectory got = learn(own_run({{"fc1", "none"}, {"*", statistic}}), given.problem);
    for (std::size_t i = 0; i < got.curve.size(); ++i) {
      EXPECT_NEAR(got.curve[i].loss, expected.curve[i].loss, 1e-4 * expected.curve[i].loss) << statistic;
    }
  }
}

/// One step of sites that have different networks.
class OneOwnStep {
 public:
  OneOwnStep(const OwnProblem& given, const spec::RunSpec& run, const Batch& batch) {
    for (std::size_t site = 0; site < given.partition.size(); ++site) {
      networks_.emplace_back(given.data.shape, given.problem.model, 3);
      networks_.back().layer(0).weight *= 1.0F + 0.1F * static_cast<float>(site);
    }
    std::vector<const models::Network*> all;
    for (const models::Network& network : networks_) all.push_back(&network);
    step_ = std::make_unique<TrainingStep>(networks_.front(), run.exchange, 3);
    step_->set_networks(all);
    step_->begin(0, given.data.train, batch);
    const SynchronousMethod& info = algorithm_registry().at("flexible");
    const auto algorithm = make_algorithm(info, run);
    run_step(info, *algorithm, *step_);
  }
  TrainingStep& operator*() { return *step_; }
  TrainingStep* operator->() { return step_.get(); }

 private:
  std::vector<models::Network> networks_;
  std::unique_ptr<TrainingStep> step_;
};

TEST(OwnLayers, AveragedDeltasAreTheMeanRowByRow) {
  const OwnProblem given;
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    spec::RunSpec run = own_run({{"fc1", "none"}, {"fc2", "none"}});
    run.exchange = mode;
    OneOwnStep plain(given, run, given.batch(0, 5));
    models::Matrix mean = models::Matrix::Zero(5, 16);
    for (std::size_t site = 0; site < 3; ++site) mean += plain->delta(site, 1) / 3.0F;
    run.average_deltas_above = "fc2";
    OneOwnStep averaged(given, run, given.batch(0, 5));
    const float kAlone = 3;  // Δ have the weight of the site's samples among all samples; the site's own gradient does
                             // not
    for (std::size_t site = 0; site < 3; ++site) {
      const models::Matrix expected = kAlone * mean.transpose() * averaged->input(site, 1);
      EXPECT_LT((averaged->own_gradients(1)[site].weight - expected).cwiseAbs().maxCoeff(),
                1e-5 * expected.cwiseAbs().maxCoeff());
      // The layer below continues from this mean Δ.
      const models::Matrix inputs = averaged->input(site, 1);
      const models::Matrix below =
          (mean * averaged->weights(1).weight).array() * (1.0F - inputs.array().square());  // derivative of tanh
      EXPECT_LT((averaged->delta(site, 0) - below).cwiseAbs().maxCoeff(), 1e-5 * below.cwiseAbs().maxCoeff());
      // A site sends the gradient of fc3 and the Δ of fc2 in addition.
      EXPECT_EQ(averaged->exchange().uplink_bytes()[site] - plain->exchange().uplink_bytes()[site], 4 * 5 * 16);
      EXPECT_EQ(plain->exchange().uplink_bytes()[site], 4 * (16 * 10 + 10));
    }
    EXPECT_LT((averaged->gradient(2).weight - plain->gradient(2).weight).cwiseAbs().maxCoeff(), 1e-6);
    if (mode == spec::ExchangeMode::aggregator) {
      EXPECT_EQ(averaged->exchange().downlink_bytes(), 4 * (16 * 10 + 10 + 5 * 16));
    }
  }
}

TEST(OwnLayers, RecordsWhatItSends) {
  const OwnProblem given;
  OneOwnStep step(given, own_run({{"fc1", "none"}, {"fc2", "dad"}}, "fc1"), given.batch(0, 5));
  const std::vector<double> over = step->exchange().uplink_bytes();
  const spec::ModelShape shape = step->network().shape();
  const auto [structure, sizes] = step->recorder().take();
  std::vector<double> recorded(3, 0.0);
  for (const schedule::Task& task : schedule::instantiate(structure, sizes, shape, shape).tasks) {
    const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
    if (collective == nullptr || collective->kind == step::CollectiveKind::broadcast) continue;
    for (std::size_t site = 0; site < 3; ++site) recorded[site] += collective->bytes[site];
  }
  EXPECT_EQ(recorded, over);
}

TEST(OwnLayers, SameBitsForAnyOrderOfWork) {
  const OwnProblem given;
  const spec::RunSpec run = own_run({{"fc1", "none"}, {"*", "dad"}}, "fc1");
  const step::Trajectory one = learn(run, given.problem);
  const step::Trajectory two = learn(run, given.problem);
  EXPECT_EQ(one.curve.back().loss, two.curve.back().loss);
  EXPECT_EQ(one.distinct_steps, two.distinct_steps);
}

TEST(OwnLayers, MistakesAreRefused) {
  const OwnProblem given;
  const models::Network network(given.data.shape, given.problem.model, 3);
  const auto first = [&](const spec::RunSpec& run) {
    const RunFaults faults = faults_of_share(run, network);
    return faults.empty() ? std::string() : faults.front().what;
  };
  EXPECT_EQ(first(own_run({{"fc1", "none"}}, "fc1")), "");
  EXPECT_EQ(first(own_run({{"*", "none"}})), "no layer is shared");
  EXPECT_EQ(first(own_run({{"fc1", "none", 2}})), "'every' needs a shared statistic");
  EXPECT_NE(first(own_run({{"fc1", "none"}}, "fc9")).find("'fc9'"), std::string::npos);
  EXPECT_NE(first(own_run({{"fc1", "none"}}, "fc2")).find("'fc2' is shared"), std::string::npos);
}

}  // namespace
}  // namespace dadsim::algorithms
