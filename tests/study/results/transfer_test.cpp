// Tests that a small network learns, and which results are transferred to a large network.
#include "study/results/transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

const std::string kScenarios = DADSIM_SOURCE_DIR "/scenarios/";

/// Returns overrides for a short run: two workers, and 40 steps of eight samples each.
std::vector<std::string> in_a_moment(std::vector<std::string> more = {}) {
  std::vector<std::string> changes{"workers.worker[1].hosts=gpu-[0-1]",
                                   "data.digits.train=640",
                                   "data.digits.test=400",
                                   "training.epochs=1",
                                   "training.seeds=2",
                                   "training.evaluate-every=2",
                                   "training.target-accuracy=0.3"};
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

report::Result result_of(const std::vector<std::string>& more) {
  return run_experiment(scenario::load_scenario(kScenarios + "imagenet.xml", in_a_moment(more), make_catalog()), false);
}

TEST(CarryOver, CompressionsOfShippedScenariosBite) {
  std::size_t timed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kScenarios)) {
    if (entry.path().extension() != ".xml") continue;
    SCOPED_TRACE(entry.path().string());
    scenario::Scenario scenario;
    try {
      scenario = scenario::load_scenario(entry.path().string(), {}, make_catalog());
    } catch (const InputError& error) {
      // The data set is published elsewhere, so this machine may lack it.
      ASSERT_NE(std::string(error.what()).find("DADSIM_DATA"), std::string::npos) << error.what();
      continue;
    }
    for (const std::string& sentence : warnings_of(scenario)) ADD_FAILURE() << sentence;
    if (scenario.timed_as && scenario.timed_as->of_other_network()) ++timed;
  }
  EXPECT_GE(timed, 3U);
}

TEST(CarryOver, WarnsBeforeLearningThatACompressionCannotBite) {
  const auto warnings = [](const std::vector<std::string>& changes) {
    return warnings_of(scenario::load_scenario(kScenarios + "imagenet.xml", changes, make_catalog()));
  };
  // A batch of eight rows has at most eight components, and at most nine in the layer of ten classes, so these runs
  // leave out nothing.
  const std::vector<std::string> found =
      warnings({"training.batch=8", "run[3].cap=9", "run[3].label=the third", "run[2].rank=65536",
                "run[2].least-compression=0", "run[2].label=the second"});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].starts_with("run 'the second': the compression drops nothing")) << found[0];
  EXPECT_TRUE(found[1].starts_with("run 'the third': the compression drops nothing")) << found[1];
  EXPECT_NE(found[1].find("but drops numbers in 54 of 54 timed layers"), std::string::npos) << found[1];
  EXPECT_EQ(warnings({"training.batch=10", "run[3].cap=9"}).size(), 0U);
}

TEST(CarryOver, WhatCouldNotBiteIsUnknownAndNotOne) {
  const report::Result weak = result_of({"training.batch=8", "run[3].cap=9"});
  EXPECT_FALSE(weak.runs[0].is_lossy) << "gradient sharing has nothing that could";
  EXPECT_EQ(weak.runs[1].is_lossy, true);
  EXPECT_EQ(weak.runs[2].is_lossy, false);
  ASSERT_TRUE(weak.runs[2].at_scale);
  EXPECT_FALSE(weak.runs[2].at_scale->relative.ratio);
  EXPECT_FALSE(weak.runs[2].at_scale->time);
  EXPECT_EQ(weak.runs[2].at_scale->relative.why_not, report::Statement{"nothing-left-out"});
  EXPECT_EQ(weak.runs[0].at_scale->relative.ratio.value().value, 1);

  const report::Result strong = result_of({"training.batch=8", "run[3].cap=4"});
  EXPECT_EQ(strong.runs[2].is_lossy, true);
}

TEST(CarryOver, RelativeStepsAreToldOfEveryTarget) {
  const report::Result result = result_of({"training.target-accuracy=0.3 0.35 1"});
  const report::ScaleResult& scale = result.runs[1].at_scale.value();
  ASSERT_EQ(scale.further.size(), 2U);
  EXPECT_EQ(scale.further[0].target, 0.35);
  EXPECT_FALSE(scale.further[1].relative.ratio) << "nobody is always right";
  EXPECT_TRUE(scale.further[1].relative.why_not);
}

TEST(CarryOver, BytesDoNotDependOnHowManyRowsTheSmallNetworkHad) {
  // A batch of eight rows has at most eight components. With forty rows, the cap limits components to 32.
  const report::Result few = result_of({"training.batch=8", "run[3].cap=32", "run[3].tolerance=0"});
  const report::Result many = result_of({"training.batch=40", "run[3].cap=32", "run[3].tolerance=0"});
  EXPECT_EQ(few.runs[2].censored_layers, 54);
  EXPECT_NEAR(few.runs[2].bytes_up_per_worker / many.runs[2].bytes_up_per_worker, 1, 0.02);
  const auto told = [](const report::Statement& note) {
    return report::in_words(note).starts_with("ranks of 54 of 54 layers were at the limit");
  };
  EXPECT_TRUE(std::ranges::any_of(few.runs[2].notes, told));
}

}  // namespace
}  // namespace dadsim::study
