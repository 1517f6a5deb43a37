// Tests "dAD trains more efficiently than other state of the art distributed methods" (arXiv 2102.09631) for each
// network and line. Decides small versions of the scenarios of docs/paper.md as a sweep does, and compares the verdicts
// with the page.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "quick_kernels.hpp"
#include "study/sweep/read_results.hpp"
#include "study/sweep/run.hpp"
#include "study/sweep/tiny_sweep.hpp"
#include "study/sweep/winners.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_folder.hpp"
#include "validation/claims.hpp"

namespace dadsim::study {
namespace {

/// A network of the claim: scenario, data file, and overrides that make it small enough for a test. Runs only the
/// methods that are close to the fastest on some line; the page has all.
struct ClaimedNetwork {
  std::string scenario, data;
  double budget = 0;  ///< steps of gradient sharing
  std::set<std::string> runs;
  std::vector<std::string> small;
};

bool is_dad(const std::string& label) { return label == "dad" || label == "edad" || label.starts_with("rank-dAD"); }

/// Returns "holds" if all runs that share first place are dAD or its variants, "does not hold" if none of them is, else
/// "undecided here".
std::string who_is_first(const PointOutcome& outcome) {
  if (!outcome.reached()) return "undecided here";
  std::vector<std::string> beside{outcome.ranked.front().label};
  for (const TimeToTarget* run : outcome.beside_first()) beside.push_back(run->label);
  if (std::ranges::all_of(beside, is_dad)) return "holds";
  return std::ranges::none_of(beside, is_dad) ? "does not hold" : "undecided here";
}

/// Returns the verdicts of the small version in docs/paper.md, one per line.
std::vector<std::string> documented_by_line(const std::string& scenario) {
  const std::string page = test::read_file(DADSIM_SOURCE_DIR "/docs/paper.md");
  const std::regex row("\\| `" + scenario +
                       "`, small \\| [0-9]+ \\| \\*([a-z ]+)\\* \\| \\*([a-z ]+)\\* \\| \\*([a-z ]+)\\* \\|");
  std::smatch match;
  if (!std::regex_search(page, match, row)) return {};
  return {match[1], match[2], match[3]};
}

TEST(ExactClaimOfDad, LearnsWhatGradientSharingLearns) {
  if (test::kSanitized) GTEST_SKIP() << "accuracies are for builds without sanitizers";
  const test::ClaimRuns runs("hospitals", {.changes = {"data.digits.train=2000", "training.epochs=3"},
                                           .runs = {"gradient-sharing", "dad", "edad"}});
  const double shared = runs.accuracy("gradient-sharing");
  EXPECT_GT(shared, 0.5);
  const bool same = std::abs(runs.accuracy("dad") - shared) < 0.01 && std::abs(runs.accuracy("edad") - shared) < 0.01;
  EXPECT_EQ(test::verdict(same), test::documented_verdict("dad-exact"));
}

class ClaimOfDad : public testing::TestWithParam<ClaimedNetwork> {};

TEST_P(ClaimOfDad, IsDecidedOnEachLineAsThePageSays) {
  if (test::kSanitized) GTEST_SKIP() << "times to an accuracy are for builds without sanitizers";
  const test::QuickKernels quick;
  const std::filesystem::path data = test::folder_with(GetParam().data);
  if (data.empty()) GTEST_SKIP() << "set DADSIM_DATA to a folder with " << GetParam().data;
  setenv("DADSIM_DATA", data.c_str(), 1);
  const test::TemporaryFolder folder;
  const SweepPoints sweep = test::sweep_of(
      folder.write("claim.xml", test::with_runs("claims/" + GetParam().scenario, GetParam().runs)), GetParam().small);
  const auto database = open_sweep(folder.path("claim.sqlite"), sweep, {});
  run_sweep(sweep, *database, {}, {.threads = 2});
  const SweepResults results = read_results(*database);
  ASSERT_TRUE(results.failed.empty()) << results.failed.front().message;

  // A target that is met at the first evaluation would prove nothing.
  for (const SweepRun& run : results.runs) {
    if (run.figures.text("algorithm") != "gradient-sharing" || run.number != 1) continue;
    EXPECT_TRUE(run.figures.is("target_reached"));
    EXPECT_GE(run.figures["target_step"], 0.1 * GetParam().budget);
  }
  std::map<std::string, double> bytes;
  for (const SweepRun& run : results.runs) bytes[run.label()] = run.figures["bytes_up_per_worker"];
  const double gradient = results.runs.front().figures["bytes_up_per_worker"];
  if (GetParam().scenario == "mlp-mnist") {
    EXPECT_EQ(test::verdict(bytes.at("dad") < gradient), test::documented_verdict("dad-bytes-perceptron"));
  }
  if (GetParam().scenario == "transformer-text" || GetParam().scenario == "vit-cifar10") {
    EXPECT_EQ(test::verdict(bytes.at("dad") < gradient), test::documented_verdict("dad-bytes-transformer"));
  }
  EXPECT_EQ(test::verdict(bytes.at("rank-dAD, 8") < gradient), test::documented_verdict("rank-dad-bytes"));

  // A verdict on the page requires at least three seeds.
  constexpr std::int64_t kSeeds = 3;
  std::vector<std::string> decided;
  for (const PointOutcome& outcome : outcomes(results))
    decided.push_back(results.identity.seeds < kSeeds ? "undecided here" : who_is_first(outcome));
  EXPECT_EQ(decided, documented_by_line(GetParam().scenario));
}

INSTANTIATE_TEST_SUITE_P(
    Networks, ClaimOfDad,
    testing::Values(
        ClaimedNetwork{
            "mlp-mnist",
            "t10k-images-idx3-ubyte.gz",
            250,
            {"gradient-sharing", "dad", "edad", "rank-dAD, 4", "rank-dAD, 8", "PowerSGD, 4", "SIDCo, 1 %"},
            {"sweep.seeds=3", "data.idx.images=t10k-images-idx3-ubyte.gz", "data.idx.labels=t10k-labels-idx1-ubyte.gz",
             "data.idx.test-images=", "data.idx.test-labels=", "data.idx.train=8000", "data.idx.test=1000",
             "training.target-accuracy=0.92", "training.epochs=2", "training.evaluate-every=10"}},
        ClaimedNetwork{"gru-motions",
                       "BasicMotions_TRAIN.ts",
                       60,
                       {"gradient-sharing", "dad", "rank-dAD, 4", "rank-dAD, 8", "PowerSGD, 4"},
                       {"sweep.seeds=2"}},
        ClaimedNetwork{"transformer-text",
                       "tinyshakespeare.txt",
                       187,
                       {"gradient-sharing", "dad", "rank-dAD, 4", "rank-dAD, 8", "local SGD, 8", "DiLoCo, 8"},
                       {"sweep.seeds=1", "training.target-accuracy=0.25", "data.text.test=100", "training.epochs=0.5"}},
        ClaimedNetwork{"lstm-text",
                       "tinyshakespeare.txt",
                       187,
                       {"gradient-sharing", "dad", "rank-dAD, 8", "local SGD, 8", "DiLoCo, 8"},
                       {"sweep.seeds=1", "training.target-accuracy=0.25", "data.text.test=100", "training.epochs=0.5"}},
        ClaimedNetwork{"vit-cifar10",
                       "cifar10/data_batch_1.bin.gz",
                       187,
                       {"gradient-sharing", "dad", "rank-dAD, 2", "rank-dAD, 8", "PowerSGD, 2", "local SGD, 8"},
                       {"sweep.seeds=1", "data.cifar10.train=2000", "data.cifar10.test=300",
                        "training.target-accuracy=0.25", "training.epochs=6"}},
        ClaimedNetwork{"resnet-cifar10",
                       "cifar10/data_batch_1.bin.gz",
                       125,
                       {"gradient-sharing", "dad", "rank-dAD, 4", "rank-dAD, 8", "PowerSGD, 2", "local SGD, 8"},
                       {"sweep.seeds=1", "data.cifar10.train=1000", "data.cifar10.test=200", "model.width=4",
                        "training.target-accuracy=0.2", "training.epochs=8"}}),
    [](const testing::TestParamInfo<ClaimedNetwork>& info) {
      std::string name = info.param.scenario;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace dadsim::study
