#include "study/layer_choices/layer_choices.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/schedule_memory.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

/// Returns a scenario of three sites, whose lines are slower up than down, and a network of three different layers.
std::string choosing(const std::string& runs, const std::string& lines = R"(up="10Mbps" down="50Mbps" latency="5ms")") {
  return R"(<scenario name="choosing" seed="1">
  <platform><federation><sites name="site" count="3" )" +
         lines + R"( transport="plain"/></federation></platform>
  <workers><worker hosts="site-[1-3]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="240" test="60"/></data>
  <model><dense units="64"/><dense units="12"/><dense units="10"/></model>
  <training batch="10" epochs="1" target-accuracy="0.99"><sgd learning-rate="0.1"/></training>
)" + runs +
         "</scenario>";
}

class Alternatives : public testing::Test {
 protected:
  void load(const std::string& text) {
    const std::string path = folder_.path("scenario.xml");
    std::ofstream(path) << text;
    scenario_ = load_scenario(path, {}, make_catalog());
    learned_ = learn_scenario(scenario_, nullptr, false);
  }
  double seconds(const step::Assignment& plan) const {
    const LearnedRun& run = *learned_.runs.front();
    const TimedAs timed = timed_as_of(scenario_, run.shape);
    const std::vector<schedule::Schedule> schedules = {schedule_of(
        scenario_.runs.front(), run.trajectory, run.trajectory.distinct_steps.front(), run.shape, timed, &plan)};
    return sim::time_schedules(cluster_of(scenario_), schedules).steps.front().seconds;
  }
  std::vector<step::Assignment> chosen() const {
    const LearnedRun& run = *learned_.runs.front();
    return choose_alternatives(scenario_.runs.front(), run.trajectory, run.shape, timed_as_of(scenario_, run.shape),
                               cluster_of(scenario_));
  }

  test::TemporaryFolder folder_;
  scenario::Scenario scenario_;
  Learned learned_;
};

TEST_F(Alternatives, TimeTakesTheQuickestOfAllMixtures) {
  for (const char* exchange : {"aggregator", "peer"}) {
    load(choosing(std::string(R"(<run algorithm="flexible" policy="time" lossy="true" exchange=")") + exchange +
                  R"("/>)"));
    const step::Alternatives& alternatives = learned_.runs.front()->trajectory.structures.front().alternatives;
    const auto count = static_cast<std::int32_t>(alternatives.all.size());
    ASSERT_EQ(count, 6);
    double least = std::numeric_limits<double>::infinity();
    for (std::int32_t code = 0; code < count * count * count; ++code) {
      const step::Assignment plan = {code % count, code / count % count, code / count / count};
      bool fits = true;
      for (std::size_t l = 0; l < 3; ++l) {
        const auto& here = alternatives.all[static_cast<std::size_t>(plan[l])];
        const bool passed = l < 2 && alternatives.all[static_cast<std::size_t>(plan[l + 1])].passes_down;
        fits = fits && ((alternatives.offered[l] >> plan[l]) & 1) != 0 && here.from_above == passed;
      }
      if (fits && !alternatives.all[static_cast<std::size_t>(plan[0])].passes_down) {
        least = std::min(least, seconds(plan));
      }
    }
    // The search also tries some choices on other steps, and stops about 1 % above the optimum.
    EXPECT_LE(seconds(chosen().front()), 1.03 * least) << exchange;
  }
}

TEST_F(Alternatives, AreToldPerLayerAndNoFixedChoiceIsQuicker) {
  load(choosing(R"(<run algorithm="flexible" policy="time" lossy="true"/>
    <run algorithm="flexible" policy="time" label="exact"/><run algorithm="gradient-sharing"/><run algorithm="dad"/>
    <run algorithm="edad"/><run algorithm="rank-dad"/>)"));
  const report::Result result = time_scenario(scenario_, learned_, cluster_of(scenario_), false, {});
  ASSERT_EQ(result.runs[0].statistics.size(), 3U);
  EXPECT_EQ(result.runs[0].statistics[2].layer, "fc3");
  EXPECT_TRUE(result.runs[2].statistics.empty());
  for (std::size_t i = 2; i < 6; ++i) {
    const double own = result.runs[i == 5 ? 0 : 1].step_seconds;
    // Among equally fast choices the exact one is preferred, and plain edAD launches a few kernels less.
    EXPECT_LE(own, 1.01 * result.runs[i].step_seconds + 1e-4) << result.runs[i].spec.label;
  }
}

TEST_F(Alternatives, WhatLosesNothingIsLearnedExactly) {
  load(choosing(R"(<run algorithm="flexible" policy="time" lossy="true"/>)"));
  // In the last layer, of 12 × 10, eight components would be larger than the layer. The first layer is 784 × 64.
  const std::vector<step::AlternativeSet>& offered =
      learned_.runs.front()->trajectory.structures.front().alternatives.offered;
  constexpr step::AlternativeSet kRank = 1U << 5U;
  EXPECT_EQ(offered[2] & kRank, 0U);
  EXPECT_NE(offered[0] & kRank, 0U);
  EXPECT_TRUE(scenario_.runs.front().share.empty());
}

TEST_F(Alternatives, AScenarioIsReadWithItsRules) {
  load(choosing(R"(<run algorithm="flexible" default="rank-dad"><share layers="fc3" statistic="gradient"/>
    <share layers="fc2" statistic="dad" every="2"/></run>)"));
  ASSERT_EQ(scenario_.runs.front().share.size(), 2U);
  EXPECT_EQ(scenario_.runs.front().share[1], (spec::ShareRule{"fc2", "dad", 2}));
  EXPECT_TRUE(chosen().empty());
}

TEST_F(Alternatives, AllMistakesInRulesAreToldBeforeAnythingRuns) {
  try {
    load(choosing(R"(<run algorithm="flexible">
<share layers="conv*" statistic="dad"/>
<share layers="fc1" statistic="edad"/>
</run>
<run algorithm="dad"><share layers="fc1" statistic="gradient"/></run>)"));
    FAIL();
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find(":8: <share>: no layer with a matrix that multiplies rows is called 'conv*'"),
              std::string::npos)
        << what;
    EXPECT_NE(what.find(":9: <share>: the Δ of 'fc1' is recomputed from the rows of 'fc2', which are not shared"),
              std::string::npos)
        << what;
    EXPECT_NE(what.find("<share> has no effect with 'dad'"), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace dadsim::study
