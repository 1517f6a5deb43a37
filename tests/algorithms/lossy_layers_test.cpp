// Tests how many layers a compression can truncate.
#include <gtest/gtest.h>

#include "algorithms/registry.hpp"

namespace dadsim::algorithms {
namespace {

/// Returns a run with these parameters, and defaults for the others.
spec::RunSpec run_of(const std::string& algorithm, const spec::ParameterValues& parameters) {
  spec::RunSpec run;
  run.algorithm = algorithm;
  for (const spec::ParameterSpec& parameter : algorithm_registry().at(algorithm).parameters)
    run.parameters[parameter.name] = parameter.default_value;
  for (const auto& [name, value] : parameters) run.parameters[name] = value;
  return run;
}

/// Returns the number of layers of 784-128-10 that the run truncates.
std::size_t bitten(const spec::RunSpec& run, std::int64_t samples, std::size_t workers) {
  const spec::ModelShape network{"", {spec::dense_shape("", 784, 128, true), spec::dense_shape("", 128, 10, true)}};
  return lossy_layers(algorithm_registry().at(run.algorithm), run, network, samples, workers).layers;
}

TEST(LossyLayers, RanksAreHeldAgainstRowsAndClasses) {
  const auto one_way = [](const char* cap) { return run_of("rank-dad", {{"cap", cap}, {"mode", "one-way"}}); };
  EXPECT_EQ(bitten(one_way("8"), 8, 16), 0U) << "eight rows have eight components";
  EXPECT_EQ(bitten(one_way("8"), 9, 16), 2U) << "ten classes have nine";
  EXPECT_EQ(bitten(one_way("9"), 16, 16), 1U);
  EXPECT_EQ(bitten(run_of("rank-dad", {{"cap", "8"}}), 8, 16), 2U)
      << "the components of 16 sites are merged into eight";
  EXPECT_EQ(bitten(run_of("rank-dad", {{"cap", "8"}}), 8, 1), 0U);
}

TEST(LossyLayers, SubspacesAreHeldAgainstTheRowsOfAll) {
  EXPECT_EQ(bitten(run_of("power-sgd", {{"rank", "4"}}), 4, 16), 2U);
  EXPECT_EQ(bitten(run_of("power-sgd", {{"rank", "4"}}), 2, 2), 0U) << "four rows in all";
  EXPECT_EQ(bitten(run_of("power-sgd", {{"rank", "8"}}), 4, 16), 1U) << "128 × 10 is sent as it is";
}

TEST(LossyLayers, SharesAreHeldAgainstTheSize) {
  EXPECT_EQ(bitten(run_of("top-k", {{"fraction", "0.01"}}), 1, 1), 2U);
  EXPECT_EQ(bitten(run_of("top-k", {{"fraction", "1"}}), 1, 1), 0U);
  EXPECT_EQ(bitten(run_of("top-k", {{"fraction", "0.9995"}}), 1, 1), 1U) << "⌈0.9995 · 1280⌉ is all";
}

TEST(LossyLayers, CompressorsOfMessagesBiteUnlessTheyKeepAll) {
  spec::RunSpec run = run_of("gradient-sharing", {});
  EXPECT_FALSE(compresses_gradients(algorithm_registry().at(run.algorithm), run));
  run.compress = {.method = "top-k", .parameters = {{"fraction", "0.01"}}};
  EXPECT_TRUE(compresses_gradients(algorithm_registry().at(run.algorithm), run));
  EXPECT_EQ(bitten(run, 1, 1), 2U);
  run.compress.parameters["fraction"] = "1";
  EXPECT_EQ(bitten(run, 1, 1), 0U);
  run.compress = {.method = "fp16"};
  EXPECT_EQ(bitten(run, 1, 1), 2U);
}

}  // namespace
}  // namespace dadsim::algorithms
