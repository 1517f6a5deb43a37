#include "algorithms/learn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/run_of.hpp"
#include "compress/registry.hpp"
#include "models/data/generated.hpp"
#include "models/flat.hpp"

namespace dadsim::algorithms {
namespace {

class Learn : public testing::Test {
 protected:
  Learn() {
    data_.train = models::draw_digits(0, 400, 3);
    data_.test = models::draw_digits(400, 200, 3);
    data_.shape = {28, 28, 1};
    data_.classes = 10;
    partition_ = split_over_sites({.kind = spec::SplitSpec::Kind::iid, .alpha = 0.5, .shards = 2, .sizes = {}},
                                  data_.train, 10, 4, 3);
    model_.layers = {spec::DenseSpec{32, spec::Activation::relu, true},
                     spec::DenseSpec{10, spec::Activation::identity, true}};
    training_.batch = 10;
    training_.epochs = 4;
  }

  step::Trajectory run(const std::string& algorithm, spec::ExchangeMode mode = spec::ExchangeMode::aggregator) const {
    return learn(test::run_of(algorithm, mode), {data_, partition_, model_, training_, 3});
  }

  models::Dataset data_;
  models::Partition partition_;
  spec::ModelSpec model_;
  spec::TrainingSpec training_;
};

TEST_F(Learn, StepsAndEvaluationsAreCounted) {
  training_.evaluate_every = 7;
  const step::Trajectory trajectory = run("gradient-sharing");
  EXPECT_EQ(trajectory.steps_per_epoch, 10);
  EXPECT_EQ(trajectory.steps.size(), 40U);
  std::vector<std::int64_t> at;
  for (const step::Evaluation& evaluation : trajectory.curve) at.push_back(evaluation.step);
  EXPECT_EQ(at, (std::vector<std::int64_t>{0, 7, 14, 21, 28, 35, 40})) << "and once more at the end";
  EXPECT_EQ(trajectory.structures.size(), 1U);
  EXPECT_EQ(trajectory.distinct_steps.size(), 1U) << "equal steps are stored once";
}

TEST_F(Learn, ExactAlgorithmsLearnAlike) {
  const step::Trajectory pooled = run("pooled");
  EXPECT_GT(pooled.curve.back().accuracy, pooled.curve.front().accuracy + 0.2);
  for (const char* algorithm : {"gradient-sharing", "dad", "edad"}) {
    for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
      const step::Trajectory other = run(algorithm, mode);
      ASSERT_EQ(other.curve.size(), pooled.curve.size());
      for (std::size_t i = 0; i < pooled.curve.size(); ++i) {
        EXPECT_NEAR(other.curve[i].loss, pooled.curve[i].loss, 2e-3) << algorithm << " evaluation " << i;
      }
    }
  }
}

// Label smoothing applies to the training loss, not to held-back samples. Tests sites that share a network, that have
// one network each, and that exchange weights.
TEST_F(Learn, LabelSmoothingIsOfTheTrainingLossAlone) {
  for (const char* algorithm : {"gradient-sharing", "no-sharing", "d-psgd"}) {
    training_.label_smoothing = 0;
    const step::Trajectory plain = run(algorithm, spec::ExchangeMode::peer);
    training_.label_smoothing = 0.4;
    const step::Trajectory smoothed = run(algorithm, spec::ExchangeMode::peer);
    EXPECT_EQ(smoothed.curve.front().loss, plain.curve.front().loss) << algorithm;
    EXPECT_NE(smoothed.curve.back().loss, plain.curve.back().loss) << algorithm;
    EXPECT_EQ(smoothed.structures, plain.structures) << algorithm;
  }
  const step::Trajectory pooled = run("pooled");
  const step::Trajectory edad = run("edad");
  for (std::size_t i = 0; i < pooled.curve.size(); ++i) EXPECT_NEAR(edad.curve[i].loss, pooled.curve[i].loss, 2e-3);
}

// A compressor's memory must change what every accepting algorithm learns.
TEST_F(Learn, AMemoryOfACompressorMeansSomethingWhereItIsLetIn) {
  for (const SynchronousMethod& method : algorithm_registry().all()) {
    const spec::ParameterValues parameters = default_parameters(method.parameters);
    if (!method.communicates() || !method.remembers() || !method.compresses(parameters)) continue;
    if (method.sharing != Sharing::one_network || method.optimizer != Needs::any_optimizer) continue;
    spec::RunSpec run{method.name, method.name, spec::ExchangeMode::aggregator, parameters};
    run.compress = {.method = "top-k",
                    .parameters = default_parameters(compress::compressors().at("top-k").parameters),
                    .memory = false};
    const step::Trajectory without = learn(run, {data_, partition_, model_, training_, 3});
    run.compress.memory = true;
    const step::Trajectory with = learn(run, {data_, partition_, model_, training_, 3});
    EXPECT_NE(with.curve.back().loss, without.curve.back().loss) << method.name;
  }
}

TEST_F(Learn, StopsAtTheTarget) {
  training_.stop = spec::TrainingSpec::Stop::target;
  training_.evaluate_every = 5;
  training_.target_accuracy = 0.3;
  const step::Trajectory trajectory = run("dad");
  EXPECT_GE(trajectory.curve.back().accuracy, 0.3);
  EXPECT_LT(trajectory.curve[trajectory.curve.size() - 2].accuracy, 0.3);
  EXPECT_LT(trajectory.steps.size(), 40U);
  EXPECT_EQ(trajectory.steps.size(), static_cast<std::size_t>(trajectory.curve.back().step));
}

TEST_F(Learn, ATargetIsLookedForWithinItsEpoch) {
  training_.epochs = 8;
  training_.target_accuracy = 0.4;
  training_.further_targets = {0.3};
  for (const char* algorithm : {"dad", "no-sharing", "d-psgd"}) {
    training_.evaluate_every = 1;
    const step::Trajectory every = run(algorithm, spec::ExchangeMode::peer);
    training_.evaluate_every = 0;
    const step::Trajectory usual = run(algorithm, spec::ExchangeMode::peer);
    ASSERT_EQ(every.steps, usual.steps) << algorithm;
    std::size_t within = 0;
    for (const step::Evaluation& at : usual.curve) {
      within += at.step % 10 != 0 ? 1 : 0;
      EXPECT_EQ(at.accuracy, every.curve[static_cast<std::size_t>(at.step)].accuracy) << algorithm;
      EXPECT_EQ(at.loss, every.curve[static_cast<std::size_t>(at.step)].loss) << algorithm;
      EXPECT_EQ(at.sites, every.curve[static_cast<std::size_t>(at.step)].sites) << algorithm;
    }
    EXPECT_GT(within, 0U) << algorithm;
    EXPECT_LE(within, 8U) << algorithm << ": at most four for each target";
    for (const double target : training_.targets()) {
      const auto met = std::ranges::find_if(usual.curve, [&](const auto& at) { return at.accuracy >= target; });
      ASSERT_NE(met, usual.curve.end()) << algorithm;
      EXPECT_EQ(met->step, std::prev(met)->step + 1) << algorithm << ": ten steps an epoch, so to the step";
    }
  }
}

TEST_F(Learn, RanksAreReportedPerEpochAndLayer) {
  const step::Trajectory trajectory = run("rank-dad");
  ASSERT_EQ(trajectory.ranks.size(), 4U);
  for (std::size_t epoch = 0; epoch < 4; ++epoch) {
    EXPECT_EQ(trajectory.ranks[epoch].epoch, static_cast<std::int32_t>(epoch) + 1);
    ASSERT_EQ(trajectory.ranks[epoch].site.size(), 2U);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      EXPECT_GE(trajectory.ranks[epoch].site[layer], 1);
      EXPECT_LE(trajectory.ranks[epoch].site[layer], 8);
      EXPECT_GE(trajectory.ranks[epoch].merged[layer], 1);
      EXPECT_LE(trajectory.ranks[epoch].merged[layer], 8);
    }
  }
}

TEST_F(Learn, WithoutSharingEverySiteLearnsAlone) {
  // A single site learns what the pooled data would teach.
  partition_ = {partition_[0]};
  const step::Trajectory alone = run("no-sharing");
  const step::Trajectory pooled = run("pooled");
  ASSERT_EQ(alone.curve.size(), pooled.curve.size());
  for (std::size_t i = 0; i < alone.curve.size(); ++i) EXPECT_EQ(alone.curve[i].loss, pooled.curve[i].loss);
}

// Sites train one after the other in the same buffers, but each has its own optimizer state.
TEST_F(Learn, WithoutSharingNoSiteSeesAnothers) {
  training_.optimizer.kind = spec::OptimizerSpec::Kind::adam;
  const LearningProblem all{data_, partition_, model_, training_, 3};
  const spec::RunSpec run = test::run_of("no-sharing", spec::ExchangeMode::peer);
  const auto together = make_learners(run, all, 0);
  std::vector<std::unique_ptr<Learners>> apart;
  for (const auto& site : partition_) {
    const models::Partition own{site};
    apart.push_back(make_learners(run, {data_, own, model_, training_, 3}, 0));
  }
  for (std::int64_t number = 0; number < 4; ++number) {
    Batch batch;
    for (std::size_t site = 0; site < partition_.size(); ++site) {
      const auto rows = number == 2 && site == 1 ? 0 : static_cast<std::ptrdiff_t>(3 + 2 * site);
      batch.emplace_back(partition_[site].begin(), partition_[site].begin() + rows);
      apart[site]->train(number, 0.01, {batch[site]}, nullptr);
    }
    together->train(number, 0.01, batch, nullptr);
  }
  for (std::size_t site = 0; site < partition_.size(); ++site) {
    EXPECT_EQ(models::flat_state(*together->networks()[site]), models::flat_state(*apart[site]->networks()[0])) << site;
  }
}

TEST_F(Learn, ADivergedRunEndsAndSaysSo) {
  training_.optimizer.kind = spec::OptimizerSpec::Kind::sgd;
  training_.optimizer.learning_rate = 1e8;
  const step::Trajectory trajectory = run("gradient-sharing");
  EXPECT_GT(trajectory.diverged_at, 0);
  EXPECT_EQ(trajectory.steps.size(), static_cast<std::size_t>(trajectory.diverged_at));
  EXPECT_EQ(trajectory.curve.back().step, trajectory.diverged_at);
}

TEST_F(Learn, CanBeCancelled) {
  const std::atomic<bool> cancelled{true};
  LearningObserver observer;
  observer.cancelled = &cancelled;
  EXPECT_THROW(
      learn(test::run_of("dad", spec::ExchangeMode::peer), {data_, partition_, model_, training_, 3}, observer),
      Cancelled);
}

TEST_F(Learn, FractionalEpochsRoundUp) {
  training_.epochs = 0.25;
  EXPECT_EQ(run("pooled").steps.size(), 3U);
  EXPECT_EQ(budget_in_steps(training_, 10), 3);
  training_.epochs = 2;
  EXPECT_EQ(budget_in_steps(training_, 10), 20);
}

}  // namespace
}  // namespace dadsim::algorithms
