// Tests <timing-only>, and listing the differences between two scenarios.
#include <gtest/gtest.h>

#include <algorithm>

#include "scenario/document/differences.hpp"
#include "scenario/document/load.hpp"
#include "scenario/document/print.hpp"
#include "scenario/elements/stand_in.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/same.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

constexpr const char* kTimedAs = R"(<timed-as workload="resnet-50" batch="32"/>)";

scenario::Scenario load_timed(const std::string& body, const std::vector<std::string>& overrides = {}) {
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform());
  const std::string path = folder.write("scenario.xml",
                                        "<scenario name=\"Test\"><platform file=\"platform.xml\"/><workers><worker "
                                        "hosts=\"site-[1-2]\" device=\"rtx-4090\"/></workers><timing-only/>" +
                                            body + "</scenario>");
  return load_scenario(path, overrides, fake_catalog());
}

std::string errors_of(const std::string& body) {
  std::string text;
  try {
    load_timed(body);
  } catch (const InputError& error) {
    for (const Diagnostic& one : error.diagnostics()) text += one.what + "; " + one.remedy + "\n";
  }
  return text;
}

const std::string kRun = R"(<run algorithm="gradient-sharing" exchange="peer"/>)";

TEST(TimingOnlyElement, NeedsNoDataAndNoModel) {
  const scenario::Scenario read = load_timed(kTimedAs + kRun);
  EXPECT_TRUE(read.timing_only);
  EXPECT_TRUE(read.stand_in);
  EXPECT_EQ(read.training.batch, 1);
  EXPECT_EQ(read.training.epochs, scenario::kRecordedSteps) << "of one step each";
  EXPECT_EQ(std::get<spec::DigitsSource>(read.data.source).train, 2) << "one sample for each worker";
  EXPECT_EQ(read.timed_as.value().batch, 32);
}

TEST(TimingOnlyElement, ComesBackFromPrint) {
  const TemporaryFolder folder;
  const scenario::Scenario read =
      load_timed(kTimedAs + kRun + R"(<training clip-norm="2"><sgd learning-rate="0.1" momentum="0.9"/></training>)");
  EXPECT_EQ(read.training.optimizer.momentum, 0.9);
  EXPECT_EQ(read.training.optimizer.clip_norm, 2);
  const std::string printed = scenario::print_scenario(read);
  EXPECT_EQ(printed.find("<data"), std::string::npos) << printed;
  EXPECT_NE(printed.find("<timing-only"), std::string::npos);
}

TEST(TimingOnlyElement, RefusesWhatMeansNothingBesideIt) {
  const std::string all = errors_of(kTimedAs + kRun +
                                    R"(<data><digits train="10" test="10"/></data><model><dense units="10"/></model>
                                       <training batch="4" epochs="2"><schedule kind="cosine"/></training>)");
  for (const char* words :
       {"<data> cannot be combined with <timing-only>", "<model> cannot be combined with <timing-only>", "batch=\"4\"",
        "epochs=\"2\"", "<schedule> needs learning"})
    EXPECT_NE(all.find(words), std::string::npos) << words << " in\n" << all;
}

TEST(TimingOnlyElement, NeedsANetworkAndABatchToTime) {
  EXPECT_NE(errors_of(kRun).find("<timing-only> needs a network to time"), std::string::npos);
  EXPECT_NE(errors_of(R"(<timed-as batch="4"/>)" + kRun).find("<timing-only> needs a network to time"),
            std::string::npos);
  EXPECT_NE(errors_of(R"(<timed-as workload="resnet-50"/>)" + kRun).find("<timed-as> lacks 'batch'"),
            std::string::npos);
}

TEST(TimingOnlyElement, IsAnotherProblemThanLearning) {
  scenario::Scenario read = load_timed(kTimedAs + kRun);
  const std::uint64_t recorded = learning_hash_of(read, read.runs[0], read.training, 1);
  read.timing_only = false;
  EXPECT_NE(learning_hash_of(read, read.runs[0], read.training, 1), recorded);
}

TEST(Differences, AreWhatTwoScenariosSayDifferently) {
  const scenario::Scenario before = load_timed(kTimedAs + kRun);
  const scenario::Scenario after =
      load_timed(kTimedAs + kRun + R"(<run algorithm="pooled"/>)", {"timed-as.batch=64", "seed=2"});
  const std::vector<scenario::ScenarioDifference> found = differences(before, after);
  const auto find = [&](const std::string& path) {
    const auto one = std::ranges::find(found, path, &scenario::ScenarioDifference::path);
    return one == found.end() ? scenario::ScenarioDifference{} : *one;
  };
  EXPECT_EQ(find("timed-as.batch").before, "32");
  EXPECT_EQ(find("timed-as.batch").after, "64");
  EXPECT_EQ(find("seed").after, "2");
  EXPECT_EQ(find("run[pooled]").before, "");
  EXPECT_TRUE(find("run[pooled]").after.starts_with("run algorithm=pooled")) << find("run[pooled]").after;
  EXPECT_TRUE(differences(before, before).empty());
}

}  // namespace
}  // namespace dadsim::test
