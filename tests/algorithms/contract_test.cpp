// Tests laws of every registered algorithm, with every choice of its parameters. A newly registered algorithm is tested
// too.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <numeric>

#include "algorithms/learn.hpp"
#include "algorithms/one_step.hpp"
#include "held_to_laws.hpp"
#include "models/data/generated.hpp"

namespace dadsim::algorithms {
namespace {

using test::OneStep;

std::vector<std::int32_t> unequal_rows(std::size_t sites) {
  std::vector<std::int32_t> rows;
  for (std::size_t s = 0; s < sites; ++s) rows.push_back(static_cast<std::int32_t>(1 + (5 * s + 3) % 7));
  return rows;
}

/// An algorithm with default parameters, or with one parameter changed.
struct Variant {
  std::string algorithm;
  spec::ParameterValues chosen;
  std::vector<spec::ShareRule> share = {};

  const SynchronousMethod& info() const { return algorithm_registry().at(algorithm); }
  spec::ParameterValues parameters() const { return run_of(info(), chosen).parameters; }
  /// Returns the run that the laws use.
  spec::RunSpec run(spec::ExchangeMode mode) const {
    spec::RunSpec run = test::run_of(algorithm, mode, chosen);
    run.share = share;
    return run;
  }
  /// Returns true if sites own their weights; gossip/laws_test.cpp tests these algorithms.
  bool gossips() const { return info().sharing == Sharing::own_weights; }
  bool shares_a_network() const { return info().sharing == Sharing::one_network; }
  bool exact() const { return info().exact(run(spec::ExchangeMode::peer)); }
  /// Returns true if rounding can change the result.
  bool unstable() const { return info().unstable(parameters()); }
  /// Returns true if the algorithm computes several alternatives and charges one of them.
  bool records_alternatives() const { return info().records_alternatives(parameters()); }
};

std::string to_string(const Variant& variant) {
  std::string name = variant.algorithm;
  for (const auto& [parameter, value] : variant.chosen) name += "_" + parameter + "_" + value;
  for (const spec::ShareRule& rule : variant.share) name += "_" + rule.layers + "_" + rule.statistic;
  for (char& c : name) c = c == '-' || c == '*' ? '_' : c;
  return name;
}

void PrintTo(const Variant& variant, std::ostream* out) { *out << to_string(variant); }

class Contract : public testing::TestWithParam<Variant> {
 protected:
  const std::string& name() const { return GetParam().algorithm; }
  const SynchronousMethod& info() const { return GetParam().info(); }
  bool exact() const { return GetParam().exact(); }
  /// Returns the exchange modes that the algorithm accepts.
  std::vector<spec::ExchangeMode> modes() const {
    std::vector<spec::ExchangeMode> modes;
    for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
      if (faults_of(info(), {GetParam().run(mode)}).empty()) modes.push_back(mode);
    }
    return modes;
  }
  /// Returns parameters without added noise, for laws about the data alone.
  spec::ParameterValues without_noise() const { return info().perturbs ? info().lossless : spec::ParameterValues(); }
  OneStep one_step(OneStep::Setup setup) const {
    setup.parameters.insert(GetParam().chosen.begin(), GetParam().chosen.end());
    setup.share = GetParam().share;
    return {name(), setup};
  }
};

/// Returns the variants of all algorithms to which a law applies.
std::vector<Variant> variants(bool (*applies)(const Variant&)) {
  std::vector<Variant> all;
  for (const SynchronousMethod& info : algorithm_registry().all()) {
    if (!test::is_held_to_laws(info.name)) continue;
    all.push_back({info.name, {}});
    // gossip/laws_test.cpp tests these algorithms on every graph.
    if (info.sharing == Sharing::own_weights) continue;
    for (const spec::ParameterSpec& parameter : info.parameters) {
      for (const std::string& value : parameter.choices) {
        if (value != parameter.default_value) all.push_back({info.name, {{parameter.name, value}}});
      }
    }
  }
  if (test::is_held_to_laws("flexible")) {
    // Plans in which layers share different statistics; layers of the networks below are called fc1, fc2 ….
    all.push_back({"flexible", {}, {{"fc1", "dad"}}});
    all.push_back({"flexible", {{"default", "dad"}}, {{"fc1", "edad"}}});
    all.push_back({"flexible", {{"default", "dad"}}, {{"fc1", "gradient"}}});
    all.push_back({"flexible", {}, {{"fc1", "rank-dad"}}});
  }
  std::erase_if(all, [applies](const Variant& variant) { return !applies(variant); });
  return all;
}

/// Defines the test suite of a law, with one test per variant.
#define LAW(Name, applies)                                                                           \
  class Name : public Contract {};                                                                   \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Name); /* a plug-in alone may have nothing for it */ \
  INSTANTIATE_TEST_SUITE_P(Contract, Name, testing::ValuesIn(variants(applies)),                     \
                           [](const auto& param) { return to_string(param.param); });                \
  TEST_P(Name, Holds)

LAW(ExactAlgorithmsEqualThePooledGradient, [](const Variant& one) { return !one.gossips() && one.exact(); }) {
  for (const std::size_t sites : {1, 2, 5, 16}) {
    for (const bool equal : {true, false}) {
      for (const spec::ExchangeMode mode : modes()) {
        for (const spec::Activation activation :
             {spec::Activation::relu, spec::Activation::tanh, spec::Activation::sigmoid, spec::Activation::gelu,
              spec::Activation::identity}) {
          for (const bool bias : {true, false}) {
            OneStep::Setup setup;
            setup.rows = equal ? std::vector<std::int32_t>(sites, 4) : unequal_rows(sites);
            setup.exchange = mode;
            setup.activation = activation;
            setup.bias = bias;
            const OneStep pooled("pooled", setup);
            const OneStep step = one_step(setup);
            EXPECT_LT(step.relative_difference(pooled), 1e-5)
                << sites << " sites, " << to_string(activation) << ", " << to_string(mode) << ", bias " << bias;
          }
        }
      }
    }
  }
}

LAW(CompressingNothingIsExact, [](const Variant& one) {
  return one.shares_a_network() && !one.exact() && !one.unstable() && !one.info().estimates &&
         !one.info().applies_signs && one.info().optimizer != Needs::muon;
}) {
  for (const std::size_t sites : {1, 2, 5, 16}) {
    for (const spec::ExchangeMode mode : modes()) {
      for (const bool bias : {true, false}) {
        OneStep::Setup setup;
        setup.rows = unequal_rows(sites);
        setup.exchange = mode;
        setup.bias = bias;
        const OneStep pooled("pooled", setup);
        setup.parameters = info().lossless;
        EXPECT_LT(one_step(setup).relative_difference(pooled), 1e-4)
            << sites << " sites, " << to_string(mode) << ", bias " << bias;
      }
    }
  }
}

LAW(WhereNothingIsLostNothingBites,
    [](const Variant& one) { return one.shares_a_network() && !one.exact() && !one.info().lossless.empty(); }) {
  spec::RunSpec run;
  run.algorithm = info().name;
  for (const spec::ParameterSpec& parameter : info().parameters)
    run.parameters[parameter.name] = parameter.default_value;
  for (const auto& [name, value] : info().lossless) run.parameters[name] = value;
  const spec::ModelShape network{"", {spec::dense_shape("", 50, 40, true), spec::dense_shape("", 40, 10, true)}};
  const LossyLayers bitten = lossy_layers(info(), run, network, 16, 4);
  EXPECT_EQ(bitten.layers, 0U);
  EXPECT_EQ(bitten.of, 2U);
}

LAW(ASiteWithoutRowsChangesNothing,
    [](const Variant& one) { return one.shares_a_network() && !one.unstable() && !one.info().estimates; }) {
  for (const spec::ExchangeMode mode : modes()) {
    OneStep::Setup with;
    with.rows = {5, 0, 7};
    with.exchange = mode;
    with.parameters = without_noise();
    OneStep::Setup without = with;
    without.rows = {5, 7};
    EXPECT_LT(one_step(with).relative_difference(one_step(without)), 1e-5);
  }
}

LAW(BytesRecordedAreBytesHandedOver, [](const Variant& one) { return !one.gossips(); }) {
  for (const spec::ExchangeMode mode : modes()) {
    for (const bool bias : {true, false}) {
      OneStep::Setup setup;
      setup.rows = unequal_rows(5);
      setup.exchange = mode;
      setup.bias = bias;
      const OneStep step = one_step(setup);
      const OneStep::Recorded recorded = step.recorded();
      EXPECT_EQ(recorded.over, step.uplink_bytes);
      EXPECT_EQ(recorded.down, step.downlink_bytes);
      const double sum = std::accumulate(step.uplink_bytes.begin(), step.uplink_bytes.end(), 0.0);
      if (info().sharing == Sharing::one_network) {
        EXPECT_GT(sum, 0) << "an algorithm that shares a network hands something over";
      } else {
        EXPECT_EQ(sum, 0);
      }
    }
  }
}

/// Returns the flops that the recorded step charges; of several alternatives, only those of the chosen one.
double flops_charged(const OneStep& step) {
  const schedule::Schedule schedule = schedule::instantiate(step.structure, step.sizes, step.shape, step.shape);
  double flops = 0;
  for (const schedule::Task& task : schedule.tasks) {
    const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
    const std::size_t count = compute == nullptr ? 0 : compute->who == step::Role::workers ? schedule.workers : 1;
    for (std::size_t i = 0; i < count; ++i) flops += compute->flops[i];
  }
  return flops;
}

// A single site repeats no other site's computation, so all work is charged once. At most half of the charged flops are
// passes over entries rather than products.
LAW(WhatIsComputedIsCharged, [](const Variant& one) { return !one.gossips() && !one.records_alternatives(); }) {
  for (const spec::ExchangeMode mode : modes()) {
    OneStep::Setup setup;
    setup.widths = {40, 60, 50, 30};
    setup.rows = {24};
    setup.exchange = mode;
    const OneStep step = one_step(setup);
    const double charged = flops_charged(step);
    EXPECT_LE(2.0 * step.multiply_adds, 1.001 * charged) << to_string(mode);
    EXPECT_GE(2.0 * step.multiply_adds, 0.5 * charged) << to_string(mode);
  }
}

LAW(PermutingSitesChangesNothing, [](const Variant& one) {
  return !one.gossips() && one.info().sharing != Sharing::no_sharing && !one.unstable() && !one.info().estimates;
}) {
  for (const spec::ExchangeMode mode : modes()) {
    OneStep::Setup setup;
    setup.rows = unequal_rows(5);
    setup.exchange = mode;
    // Approximations keep all components here, since rounding may decide which ones are cut off.
    if (!exact()) setup.parameters = info().lossless;
    const OneStep step = one_step(setup);
    setup.site_order = {3, 0, 4, 2, 1};
    EXPECT_LT(one_step(setup).relative_difference(step), 2e-5);
  }
}

LAW(OneSiteIsPlainTraining, [](const Variant& one) { return !one.gossips() && one.exact(); }) {
  OneStep::Setup setup;
  setup.rows = {11};
  EXPECT_LT(one_step(setup).relative_difference(OneStep("pooled", setup)), 1e-6);
}

LAW(SurvivesAGradientThatIsZero, [](const Variant& one) { return !one.gossips() && !one.info().applies_signs; }) {
  for (const spec::ExchangeMode mode : modes()) {
    OneStep::Setup setup;
    setup.zero_inputs = true;
    setup.bias = false;  // without inputs and biases, every weight gradient is exactly zero
    setup.exchange = mode;
    setup.parameters = without_noise();
    const OneStep step = one_step(setup);
    for (const models::LayerGradient& gradient : step.gradient.matrices)
      EXPECT_EQ(gradient.weight.cwiseAbs().maxCoeff(), 0.0F);
  }
}

constexpr std::size_t kSites = 3;  // number of sites in the next law

LAW(SameSeedSameBitsForAnyNumberOfThreads, [](const Variant& one) {
  return faults_of(one.info(), {one.run(spec::ExchangeMode::aggregator), kSites}).empty();
}) {
  models::Dataset data;
  data.train = models::draw_digits(0, 300, 3);
  data.test = models::draw_digits(300, 100, 3);
  data.shape = {28, 28, 1};
  data.classes = 10;
  const models::Partition partition = split_over_sites(
      {.kind = spec::SplitSpec::Kind::dirichlet, .alpha = 0.5, .shards = 2, .sizes = {}}, data.train, 10, kSites, 3);
  LearningProblem problem{data, partition, {}, {}, 3};
  problem.model.layers = {spec::DenseSpec{64, spec::Activation::relu, true},
                          spec::DenseSpec{10, spec::Activation::identity, true}};
  problem.training.batch = 10;
  problem.training.epochs = 1;
  if (info().optimizer == Needs::plain_sgd) {
    problem.training.optimizer = {.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = 1e-3};
  }
  if (info().optimizer == Needs::muon) {
    problem.training.optimizer = {.kind = spec::OptimizerSpec::Kind::muon, .momentum = 0.9};
  }
  for (const spec::ExchangeMode mode : modes()) {
    const spec::RunSpec asked = GetParam().run(mode);
    std::vector<step::Trajectory> results;
    for (const std::size_t threads : {1, 2, 4, 1}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      results.push_back(learn(asked, problem));
    }
    for (const step::Trajectory& result : results) {
      ASSERT_EQ(result.curve.size(), results[0].curve.size());
      for (std::size_t i = 0; i < result.curve.size(); ++i) {
        EXPECT_EQ(result.curve[i].loss, results[0].curve[i].loss);
        EXPECT_EQ(result.curve[i].accuracy, results[0].curve[i].accuracy);
      }
      EXPECT_EQ(result.distinct_steps, results[0].distinct_steps);
      EXPECT_EQ(result.steps, results[0].steps);
    }
  }
}

LAW(CanBeTimedAsAnyShape, [](const Variant& one) { return !one.gossips(); }) {
  // Networks to time with one layer, with fewer or more layers than the learned network, and with layers in between
  // that have no outer product.
  spec::ModelShape mixed{"mixed",
                         {spec::dense_shape("a", 30, 40, true),
                          {},
                          spec::dense_shape("b", 40, 50, false),
                          spec::dense_shape("c", 50, 7, true)}};
  mixed.layers[1].name = "norm";
  mixed.layers[1].kind = spec::LayerKind::normalisation;
  mixed.layers[1].parameters = 80;
  mixed.layers[1].outputs_per_sample = 40;
  const spec::ModelShape single{"single", {spec::dense_shape("only", 30, 10, true)}};
  spec::ModelShape deep{"deep", {}};
  for (int i = 0; i < 50; ++i) deep.layers.push_back(spec::dense_shape("l" + std::to_string(i), 64, 64, i % 2 == 0));
  for (const spec::ExchangeMode mode : modes()) {
    for (const std::vector<std::int64_t>& widths :
         {std::vector<std::int64_t>{12, 5}, std::vector<std::int64_t>{12, 9, 5},
          std::vector<std::int64_t>{12, 20, 9, 5}}) {
      OneStep::Setup setup;
      setup.exchange = mode;
      setup.widths = widths;
      const OneStep step = one_step(setup);
      for (const spec::ModelShape& shape : {mixed, single, deep, step.shape}) {
        const OneStep::Recorded bytes = step.recorded(shape, 2.0);
        EXPECT_EQ(bytes.over[0] > 0, info().sharing == Sharing::one_network) << shape.name;
      }
    }
  }
}

}  // namespace
}  // namespace dadsim::algorithms
