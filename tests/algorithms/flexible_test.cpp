#include <gtest/gtest.h>

#include "algorithms/flexible/plan.hpp"
#include "algorithms/learn.hpp"
#include "algorithms/one_step.hpp"
#include "models/data/generated.hpp"
#include "schedule/assignment.hpp"

namespace dadsim::algorithms {
namespace {

using test::OneStep;

spec::RunSpec flexible_run(std::vector<spec::ShareRule> share, const spec::ParameterValues& chosen = {}) {
  spec::RunSpec run = test::run_of("flexible", spec::ExchangeMode::aggregator, chosen);
  run.share = std::move(share);
  return run;
}

spec::ModelSpec three_layers() {
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{16, spec::Activation::relu, true}, spec::DenseSpec{8, spec::Activation::tanh, true},
                  spec::DenseSpec{3, spec::Activation::identity, true}};
  return model;
}

RunFaults faults(const spec::RunSpec& run, const spec::ModelSpec& model, const spec::SampleShape& sample = {1, 1, 6}) {
  return faults_of_share(run, models::Network(sample, model, 1));
}

TEST(FlexibleRules, TheFirstThatFitsDecides) {
  const models::Network network(6, three_layers(), 1);
  const std::vector<LayerPlan> plan =
      plan_of(flexible_run({{"fc2", "dad", 3}, {"fc*", "rank-dad"}}, {{"default", "dad"}}), network);
  ASSERT_EQ(plan.size(), 3U);
  EXPECT_EQ(plan[0].statistic, Statistic::rank_dad);
  EXPECT_EQ(plan[1].statistic, Statistic::dad);
  EXPECT_EQ(plan[1].every, 3);
  EXPECT_EQ(plan[1].rule, 0);
  EXPECT_EQ(plan[2].rule, 1);
  EXPECT_EQ(plan_of(flexible_run({{"fc2", "edad"}}), network)[0].statistic, Statistic::gradient);
}

TEST(FlexibleRules, WhatDecidesNothingIsRefused) {
  const RunFaults found = faults(flexible_run({{"conv*", "dad"}, {"*", "dad"}, {"fc1", "dad"}}), three_layers());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].rule, 0);
  EXPECT_NE(found[0].what.find("'conv*'"), std::string::npos);
  EXPECT_NE(found[0].remedy.find("fc1, fc2, fc3"), std::string::npos);
  EXPECT_EQ(found[1].rule, 2);
  EXPECT_NE(found[1].what.find("has no effect: earlier rules"), std::string::npos);
}

TEST(FlexibleRules, RowsThatCannotBeRecomputedAreRefused) {
  // The layer above shares its gradient at first, then its rows at another interval.
  RunFaults found = faults(flexible_run({{"fc1", "edad"}}), three_layers());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].what.find("'fc2', which are not shared"), std::string::npos);
  found = faults(flexible_run({{"fc1", "edad"}, {"fc2", "dad", 2}}), three_layers());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].remedy, "every=\"2\" for both");
  EXPECT_TRUE(faults(flexible_run({{"*", "edad", 2}}), three_layers()).empty());
  EXPECT_TRUE(faults(flexible_run({{"fc1", "edad"}, {"fc2", "dad"}}), three_layers()).empty());

  spec::ModelSpec normed = three_layers();
  normed.layers.insert(normed.layers.begin() + 1, spec::LayerNormSpec{});
  found = faults(flexible_run({}, {{"default", "edad"}}), normed);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, -1);
  EXPECT_NE(found[0].what.find("Δ of 'fc1' cannot be recomputed"), std::string::npos);
}

TEST(FlexibleRules, MeanNothingWhereLayersChoose) {
  const RunFaults found = faults(flexible_run({{"fc1", "dad"}}, {{"policy", "bytes"}}), three_layers());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, 0);
}

OneStep::Setup five_layers(spec::Activation activation) {
  OneStep::Setup setup;
  setup.widths = {12, 20, 9, 7, 6, 5};
  setup.rows = {4, 1, 6};
  setup.activation = activation;
  return setup;
}

TEST(Flexible, AnyMixtureOfExactStatisticsIsExact) {
  for (const spec::Activation activation : {spec::Activation::relu, spec::Activation::gelu}) {
    OneStep::Setup setup = five_layers(activation);
    const OneStep pooled("pooled", setup);
    setup.share = {{"fc5", "edad"}, {"fc4", "edad"}, {"fc3", "gradient"}, {"fc2", "dad"}, {"fc1", "edad"}};
    for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
      setup.exchange = mode;
      const OneStep step("flexible", setup);
      EXPECT_LT(step.relative_difference(pooled), 1e-5) << to_string(activation);
      EXPECT_EQ(step.recorded().over, step.uplink_bytes);
    }
  }
}

TEST(Flexible, BytesAreThoseOfEachStatistic) {
  OneStep::Setup setup = five_layers(spec::Activation::relu);
  setup.share = {{"fc4", "edad"}, {"fc5", "dad"}, {"fc2", "dad"}};
  const OneStep step("flexible", setup);
  // Floats per site: weights and biases of fc1 and fc3, A and Δ of fc2 and fc5, and A of fc4.
  for (std::size_t site = 0; site < 3; ++site) {
    const double floats = (12 * 20 + 20) + (9 * 7 + 7) + setup.rows[site] * ((20 + 9) + (6 + 5) + 7);
    EXPECT_EQ(step.uplink_bytes[site], 4 * floats);
  }
  const double rows = 4 + 1 + 6;
  EXPECT_EQ(step.downlink_bytes, 4 * ((12 * 20 + 20) + (9 * 7 + 7) + rows * ((20 + 9) + (6 + 5) + 7)));
}

struct FlexibleProblem {
  models::Dataset data;
  models::Partition partition;
  LearningProblem problem{data, partition, {}, {}, 3};
  explicit FlexibleProblem(std::int64_t batch, double rate) {
    data.train = models::draw_digits(0, 240, 3);
    data.test = models::draw_digits(300, 100, 3);
    data.shape = {28, 28, 1};
    data.classes = 10;
    spec::SplitSpec split;
    partition = split_over_sites(split, data.train, 10, 2, 3);
    problem.model.layers = {spec::DenseSpec{24, spec::Activation::tanh, true},
                            spec::DenseSpec{10, spec::Activation::identity, true}};
    problem.training.batch = batch;
    problem.training.batches = spec::TrainingSpec::Batches::equal;
    problem.training.epochs = 2;
    problem.training.optimizer.kind = spec::OptimizerSpec::Kind::sgd;
    problem.training.optimizer.learning_rate = rate;
  }
};

// The sum of k gradients is k times the mean gradient of the k batches, so this equals plain SGD with larger steps.
TEST(Flexible, EveryKStepsIsABatchKTimesAsLarge) {
  const FlexibleProblem small(10, 0.1);
  const FlexibleProblem large(30, 0.3);
  const step::Trajectory expected = learn({"gradient-sharing", "g", spec::ExchangeMode::aggregator, {}}, large.problem);
  for (const char* statistic : {"gradient", "dad", "edad", "rank-dad"}) {
    spec::RunSpec run =
        flexible_run({{"*", statistic, 3}}, {{"cap", "65536"}, {"tolerance", "0"}, {"iterations", "10"}});
    const step::Trajectory got = learn(run, small.problem);
    ASSERT_EQ(got.curve.size(), expected.curve.size()) << statistic;
    for (std::size_t i = 0; i < got.curve.size(); ++i) {
      EXPECT_NEAR(got.curve[i].loss, expected.curve[i].loss, 1e-4 * expected.curve[i].loss) << statistic << " " << i;
    }
    EXPECT_LT(got.curve.back().loss, 0.9 * got.curve.front().loss);
    // Two of three steps send nothing. The third sends the messages of one batch that is three times as large.
    const models::Network network(small.data.shape, small.problem.model, 3);
    const auto bytes = [&](const step::Trajectory& trajectory, std::size_t step, const spec::ModelShape& shape) {
      const step::Step& one = trajectory.distinct_steps[static_cast<std::size_t>(trajectory.steps.at(step))];
      double sum = 0;
      for (const schedule::Task& task :
           schedule::instantiate(trajectory.structures[static_cast<std::size_t>(one.structure)], one.sizes, shape,
                                 shape)
               .tasks) {
        sum += bytes_sent(task, 2);
      }
      return sum;
    };
    EXPECT_EQ(bytes(got, 0, network.shape()), 0);
    EXPECT_EQ(bytes(got, 1, network.shape()), 0);
    const step::Trajectory fixed = learn(
        flexible_run({{"*", statistic}}, {{"cap", "65536"}, {"tolerance", "0"}, {"iterations", "10"}}), large.problem);
    EXPECT_EQ(bytes(got, 2, network.shape()), bytes(fixed, 0, network.shape())) << statistic;
  }
}

TEST(Flexible, ALayerStaysBetweenItsUpdates) {
  // Between its updates a layer must not move, although Adam would move weights without a gradient, and weight decay
  // too.
  FlexibleProblem given(10, 0.1);
  given.problem.training.optimizer.kind = spec::OptimizerSpec::Kind::adamw;
  given.problem.training.optimizer.learning_rate = 0.01;
  given.problem.training.optimizer.weight_decay = 0.1;
  given.problem.training.evaluate_every = 1;
  // Two of three steps change nothing, so the loss stays equal to the last bit.
  const step::Trajectory got = learn(flexible_run({{"*", "dad", 3}}), given.problem);
  for (std::size_t i = 1; i < got.curve.size(); ++i) {
    if (i % 3 == 0) {
      EXPECT_NE(got.curve[i].loss, got.curve[i - 1].loss) << i;
    } else {
      EXPECT_EQ(got.curve[i].loss, got.curve[i - 1].loss) << i;
    }
  }
}

/// Returns the bytes that all nodes send in a step that is timed as another network.
double bytes_of(const OneStep& step, const spec::ModelShape& timed, double scale,
                const step::Assignment* taken = nullptr) {
  double sum = 0;
  for (const schedule::Task& task :
       schedule::instantiate(step.structure, step.sizes, step.shape, timed, scale, spec::Precision::fp32, taken)
           .tasks) {
    sum += bytes_sent(task, step.sizes.samples.size());
  }
  return sum;
}

TEST(FlexibleChoice, NoFixedChoiceSendsFewerBytes) {
  OneStep::Setup setup = five_layers(spec::Activation::relu);
  setup.rows = {4, 1, 6, 3};
  spec::ModelShape other{"other", {}};
  const std::vector<std::int64_t> widths = {200, 16, 16, 300, 300, 16, 400, 10};
  for (std::size_t l = 1; l < widths.size(); ++l) {
    other.layers.push_back(spec::dense_shape("l" + std::to_string(l), widths[l - 1], widths[l], true));
  }
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    setup.exchange = mode;
    for (const bool lossy : {false, true}) {
      setup.parameters = {{"policy", "bytes"}, {"lossy", lossy ? "true" : "false"}};
      const OneStep chosen("flexible", setup);
      setup.parameters = {};
      for (const spec::ModelShape& timed : {chosen.shape, other}) {
        for (const double scale : {1.0, 8.0}) {
          const double least = bytes_of(chosen, timed, scale);
          for (const char* fixed : {"gradient-sharing", "dad", "edad", "rank-dad"}) {
            if (!lossy && std::string_view(fixed) == "rank-dad") continue;
            const double bytes = bytes_of(OneStep(fixed, setup), timed, scale);
            EXPECT_LE(least, bytes) << fixed << " " << timed.name << " × " << scale << ", " << to_string(mode);
          }
        }
      }
    }
  }
}

TEST(FlexibleChoice, IsTheBestOfAllMixtures) {
  // Tries all assignments for three layers that the chain allows.
  OneStep::Setup setup;
  setup.rows = {3, 5};
  setup.parameters = {{"policy", "bytes"}};
  const OneStep step("flexible", setup);
  const step::Alternatives& alternatives = step.structure.alternatives;
  double least = std::numeric_limits<double>::infinity();
  int possible = 0;
  const auto count = static_cast<std::int32_t>(alternatives.all.size());
  for (std::int32_t code = 0; code < count * count * count; ++code) {
    const step::Assignment plan = {code % count, code / count % count, code / count / count};
    bool fits = !alternatives.all[static_cast<std::size_t>(plan[0])].passes_down;
    for (std::size_t l = 0; l < 3; ++l) {
      fits = fits && ((alternatives.offered[l] >> plan[l]) & 1) != 0;
      const bool needs = alternatives.all[static_cast<std::size_t>(plan[l])].from_above;
      const bool given = l + 1 < 3 && alternatives.all[static_cast<std::size_t>(plan[l + 1])].passes_down;
      fits = fits && needs == given;
    }
    if (!fits) continue;
    ++possible;
    least = std::min(least, bytes_of(step, step.shape, 1, &plan));
  }
  EXPECT_GE(possible, 8);
  EXPECT_EQ(bytes_of(step, step.shape, 1), least);
}

}  // namespace
}  // namespace dadsim::algorithms
