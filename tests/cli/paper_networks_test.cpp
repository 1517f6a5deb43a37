// Tests the paper's experiment (arXiv 2102.09631) with the paper's networks and others: every algorithm of the shipped
// scenarios, at two sites with disjoint classes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "algorithms/batches.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/step/training_step.hpp"
#include "cli/chosen_runs.hpp"
#include "cli/process.hpp"
#include "quick_kernels.hpp"
#include "scenario/document/load.hpp"
#include "spec/model_shape.hpp"
#include "study/setting/catalog.hpp"
#include "support/data_folder.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

struct PaperScenario {
  std::string name;
  const char* file = nullptr;  ///< data file; null for drawn data
};

class PaperNetworks : public testing::TestWithParam<PaperScenario> {};

// Tests the first batch of the scenario's data, as a batch after some training would show the same.
TEST_P(PaperNetworks, ExactAlgorithmsHaveThePooledGradient) {
  if (const char* file = GetParam().file) {
    const std::filesystem::path data = test::folder_with(file);
    if (data.empty()) GTEST_SKIP() << "set DADSIM_DATA to a folder with " << file;
    setenv("DADSIM_DATA", data.c_str(), 1);
  }
  const std::string path = std::string(DADSIM_SOURCE_DIR) + "/scenarios/" + GetParam().name + ".xml";
  const scenario::Scenario scenario = scenario::load_scenario(path, {}, study::make_catalog());
  const models::Dataset data = models::load_dataset(scenario.data, scenario.seed);
  const models::Partition partition =
      split_over_sites(scenario.data.split, data.train, data.classes, scenario.workers.size(), scenario.seed);
  for (std::size_t site = 0; site < 2; ++site) {
    std::set<std::int32_t> classes;
    for (const std::int32_t sample : partition[site]) classes.insert(data.train.labels[sample]);
    EXPECT_LE(static_cast<std::int64_t>(classes.size()), (data.classes + 1) / 2) << "each site has half of the classes";
  }
  const models::Network network(data.shape, scenario.model, scenario.seed);
  algorithms::Batches batches(scenario.training, partition, scenario.seed);
  const auto batch = batches.next();

  const auto gradient = [&](const std::string& algorithm, const std::vector<std::vector<std::int32_t>>& rows) {
    const algorithms::SynchronousMethod& info = algorithms::algorithm_registry().at(algorithm);
    algorithms::TrainingStep step(network, spec::ExchangeMode::aggregator, scenario.seed);
    step.begin(0, data.train, rows);
    run_step(info, *make_algorithm(info), step);
    return step.gradient();
  };
  std::vector<std::int32_t> all;
  for (const auto& site : batch) all.insert(all.end(), site.begin(), site.end());
  const models::Gradient pooled = gradient("pooled", {all});
  for (const char* algorithm : {"gradient-sharing", "dad", "edad"}) {
    const models::Gradient shared = gradient(algorithm, batch);
    ASSERT_EQ(shared.matrices.size(), pooled.matrices.size());
    for (std::size_t l = 0; l < pooled.matrices.size(); ++l) {
      const models::Matrix& expected = pooled.matrices[l].weight;
      ASSERT_GT(expected.norm(), 0);
      EXPECT_LT((shared.matrices[l].weight - expected).norm() / expected.norm(), 1e-4) << algorithm << ", matrix " << l;
    }
    ASSERT_EQ(shared.vectors.size(), pooled.vectors.size());
    for (std::size_t i = 0; i < pooled.vectors.size(); ++i) {
      EXPECT_LT((shared.vectors[i] - pooled.vectors[i]).norm(), 1e-4 * pooled.vectors[i].norm()) << algorithm;
    }
  }
}

std::string name_of(const testing::TestParamInfo<PaperScenario>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Embedded, PaperNetworks,
                         testing::Values(PaperScenario{"paper-gru"}, PaperScenario{"paper-transformer-utterances"},
                                         PaperScenario{"paper-vit"}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Files, PaperNetworks,
                         testing::Values(PaperScenario{"paper-gru-motions", "BasicMotions_TRAIN.ts"},
                                         PaperScenario{"paper-transformer", "BasicMotions_TRAIN.ts"},
                                         PaperScenario{"paper-mnist-small", "t10k-images-idx3-ubyte.gz"},
                                         PaperScenario{"paper-mnist", "train-images-idx3-ubyte.gz"}),
                         name_of);

/// Final accuracies by algorithm, and the runs of the result.
// NOLINTNEXTLINE(bugprone-exception-escape): the checker takes the assertions in the move of a JSON value for throws
struct Learned {
  std::map<std::string, double> accuracy;
  nlohmann::json result;

  void expect_the_paper(double chance_of_half) const {
    for (const char* exact : {"gradient-sharing", "dad", "edad"}) {
      EXPECT_NEAR(accuracy.at(exact), accuracy.at("pooled"), 0.01) << exact;
    }
    EXPECT_GT(accuracy.at("rank-dad"), accuracy.at("pooled") - 0.03);
    // A site alone sees half of the classes. On the other half, its accuracy is chance.
    EXPECT_LT(accuracy.at("no-sharing"), chance_of_half);
    EXPECT_GT(accuracy.at("pooled"), accuracy.at("no-sharing") + 0.2);
  }

  const nlohmann::json& run(const std::string& algorithm) const {
    for (const auto& run : result["runs"]) {
      if (run["algorithm"] == algorithm) return run;
    }
    throw std::runtime_error("no run of " + algorithm);
  }
};

Learned learn(const std::string& scenario, const std::filesystem::path& data, const std::set<std::string>& runs,
              const std::vector<std::string>& more = {}) {
  const test::QuickKernels quick;
  const test::TemporaryFolder folder;
  std::vector<std::string> arguments{folder.write("paper.xml", test::with_runs(scenario, runs)), "--json", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  if (test::kSanitized) arguments.insert(arguments.end(), {"--set", "training.epochs=1"});
  std::map<std::string, std::string> environment;
  if (!data.empty()) environment["DADSIM_DATA"] = data.string();
  const test::Outcome outcome = test::run_dadsim(arguments, DADSIM_SOURCE_DIR, {}, environment);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  Learned learned;
  learned.result = nlohmann::json::parse(outcome.out);
  for (const auto& run : learned.result["runs"]) {
    if (!run["final_accuracy"].is_null()) learned.accuracy[run["algorithm"]] = run["final_accuracy"].get<double>();
  }
  return learned;
}

/// Labels of the runs that the expectations of every network need.
const std::set<std::string> kExpectedRuns{"pooled", "no-sharing", "gradient-sharing", "dad", "edad", "rank-dAD, cap 8"};

TEST(PaperGru, DisjointActivitiesOfBasicMotions) {
  const std::filesystem::path data = test::folder_with("BasicMotions_TRAIN.ts");
  if (data.empty()) GTEST_SKIP() << "set DADSIM_DATA to a folder with BasicMotions_TRAIN.ts and BasicMotions_TEST.ts";
  // After three of the 30 epochs, results no longer change.
  const Learned learned = learn("paper-gru-motions", data, kExpectedRuns, {"--set", "training.epochs=8"});
  if (test::kSanitized) GTEST_SKIP() << "ran one epoch without a finding";
  learned.expect_the_paper(0.52);
  EXPECT_GT(learned.accuracy.at("pooled"), 0.9);

  // The effective rank falls over time in the dense layers. In the first layer, six features bound it.
  const auto& ranks = learned.run("rank-dad")["effective_rank"];
  const auto rank = [](const nlohmann::json& epoch, const std::string& name) {
    for (const auto& layer : epoch["layers"]) {
      if (layer["layer"] == name) return layer["site"].get<double>();
    }
    throw std::runtime_error("no layer " + name);
  };
  for (const auto& epoch : ranks) EXPECT_LE(rank(epoch, "gru1.x2h"), 6);
  for (const char* layer : {"fc1", "fc2", "fc3"}) {
    EXPECT_LT(rank(ranks.back(), layer), rank(ranks.front(), layer)) << layer;
  }
}

TEST(PaperTransformer, DisjointActivitiesOfBasicMotions) {
  const std::filesystem::path data = test::folder_with("BasicMotions_TRAIN.ts");
  if (data.empty()) GTEST_SKIP() << "set DADSIM_DATA to a folder with BasicMotions_TRAIN.ts and BasicMotions_TEST.ts";
  // Eight epochs suffice for these expectations.
  const Learned learned = learn("paper-transformer", data, kExpectedRuns, {"--set", "training.epochs=8"});
  if (test::kSanitized) GTEST_SKIP() << "ran one epoch without a finding";
  learned.expect_the_paper(0.52);
  EXPECT_GT(learned.accuracy.at("pooled"), 0.9);
}

// The tests above show that dAD and edAD have the pooled gradient, so they are not learned again.
TEST(PaperVit, DisjointDigits) {
  const Learned learned = learn("paper-vit", {}, {"pooled", "rank-dAD, cap 8"});
  if (test::kSanitized) GTEST_SKIP() << "ran one epoch without a finding";
  EXPECT_GT(learned.accuracy.at("pooled"), 0.85);
  EXPECT_GT(learned.accuracy.at("rank-dad"), learned.accuracy.at("pooled") - 0.03);
}

// With many rows per sample and narrow layers, dAD sends more than the gradient, which the result must show.
TEST(PaperVit, RowsOfPatchesAreMoreThanTheGradient) {
  const Learned timed = learn("paper-vit", {}, {"gradient-sharing", "dad", "rank-dAD, cap 8"}, {"--timing-only"});
  const auto up = [&](const char* algorithm) { return timed.run(algorithm)["bytes_up_per_worker"].get<double>(); };
  EXPECT_GT(up("dad"), 10 * up("gradient-sharing"));
  EXPECT_LT(up("rank-dad"), up("gradient-sharing"));
}

}  // namespace
}  // namespace dadsim::cli
