// Tests how networks are cut into blocks, which are refused, and that all variants learn.
#include "algorithms/forward/blocks.hpp"

#include <gtest/gtest.h>

#include <string>

#include "algorithms/learn.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/run_of.hpp"
#include "models/data/generated.hpp"

namespace dadsim::algorithms {
namespace {

TEST(ForwardGradientLearning, LearnsDigits) {
  models::Dataset data;
  data.train = models::draw_digits(0, 1000, 3);
  data.test = models::draw_digits(1000, 500, 3);
  data.shape = {28, 28, 1};
  data.classes = 10;
  const models::Partition partition = split_over_sites(
      {.kind = spec::SplitSpec::Kind::iid, .alpha = 1, .shards = 2, .sizes = {}}, data.train, 10, 2, 3);
  LearningProblem problem{data, partition, {}, {}, 3};
  problem.model.layers = {spec::DenseSpec{32}, spec::DenseSpec{32}, spec::DenseSpec{10, spec::Activation::identity}};
  problem.training.batch = 10;
  problem.training.epochs = 10;
  problem.training.optimizer = {.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = 0.005, .momentum = 0.9};
  for (const spec::ParameterValues& chosen :
       {spec::ParameterValues{}, spec::ParameterValues{{"loss", "local"}},
        spec::ParameterValues{{"loss", "local"}, {"blocks", "1"}, {"groups", "8"}},
        spec::ParameterValues{{"perturb", "weight"}, {"share", "ingredients"}}}) {
    const spec::RunSpec run = test::run_of("forward-gradient", spec::ExchangeMode::peer, chosen);
    // Weight perturbation diverges with a rate of 0.001, so it needs smaller steps, and learns little in so few of
    // them.
    problem.training.optimizer.learning_rate = chosen.contains("perturb") ? 0.0003 : 0.005;
    const step::Trajectory learned = learn(run, problem);
    std::string words;
    for (const auto& [name, value] : chosen) words += " " + name + " " + value;
    RecordProperty("accuracy" + words, std::to_string(learned.curve.back().accuracy));
    EXPECT_EQ(learned.diverged_at, 0) << words;
    EXPECT_GT(learned.curve.back().accuracy, chosen.contains("perturb") ? 0.2 : 0.4) << words;
  }
}

TEST(ForwardGradientBlocks, AreCutWhereOneValueIsRead) {
  const models::Network network(
      {1, 1, 4},
      {"",
       {spec::LayerNormSpec{}, spec::DenseSpec{5}, spec::ResidualSpec{{spec::DenseSpec{5}, spec::DenseSpec{5}}, {}, {}},
        spec::LayerNormSpec{}, spec::DenseSpec{6}, spec::LayerNormSpec{}, spec::DenseSpec{3}}},
      1);
  const auto in_words = [&](std::int64_t count) {
    std::string words;
    for (const LayerBlock& block : blocks_of(network, count)) {
      words += std::to_string(block.from) + "-" + std::to_string(block.to) + ":" + std::to_string(block.first) + "-" +
               std::to_string(block.end) + " ";
    }
    return words;
  };
  EXPECT_EQ(in_words(0), "0-2:0-1 2-5:1-3 5-8:3-4 ");
  EXPECT_EQ(in_words(2), "0-2:0-1 2-8:1-4 ");
  EXPECT_EQ(in_words(1), "0-8:0-4 ");
  EXPECT_EQ(in_words(9), in_words(0));
}

TEST(ForwardGradientBlocks, OtherNetworksAreRefused) {
  const auto fault = [](const spec::ModelSpec& model, bool local, std::int64_t groups) {
    const std::optional<Fault> found = differentiation_fault(model, {4, 4, 2}, local, 0, groups);
    return found ? found->what + "; " + found->remedy : std::string();
  };
  const spec::DenseSpec output{3, spec::Activation::identity};
  EXPECT_EQ(fault({"", {spec::DenseSpec{8}, output}}, true, 4), "");
  EXPECT_EQ(fault({"", {spec::DenseSpec{8}, spec::ResidualSpec{{spec::BatchNormSpec{}}, {}, {}}, output}}, false, 1),
            "layer 2 of <model> is or contains <batch-norm>, whose forward derivative is not supported; use <dense>, "
            "<layer-norm>, <mean> or <residual>");
  EXPECT_EQ(fault({"", {spec::ConvolutionSpec{.filters = 3}, output}}, false, 1).substr(0, 50),
            "layer 1 of <model> is or contains <convolution>, w");
  EXPECT_EQ(fault({"", {spec::DenseSpec{8}, output}}, false, 4),
            "groups needs loss=\"local\"; set loss=\"local\", or groups=\"1\"");
  EXPECT_EQ(fault({"", {spec::DenseSpec{9}, output}}, true, 4),
            "matrix 1 of <model> (32 × 9) cannot be divided into 4 equal groups; set groups to a common divisor of "
            "both sizes");
  EXPECT_EQ(fault({"", {spec::DenseSpec{8}, spec::ResidualSpec{{spec::DenseSpec{8}}, {}, {}}}}, false, 1).substr(0, 50),
            "the last matrix of <model> is inside a <residual>;");
}

}  // namespace
}  // namespace dadsim::algorithms
