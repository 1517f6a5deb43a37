#include <gtest/gtest.h>

#include <fstream>

#include "scenario/document/load.hpp"
#include "study/learning/learned.hpp"
#include "study/one_line.hpp"
#include "study/setting/catalog.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

Learned learn_two_sites(const char* exact) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("scenario.xml");
  std::string text = test::one_line::scenario(
      "<run algorithm=\"dad\"/><run algorithm=\"rank-dad\" cap=\"4\"/><run algorithm=\"edad\"/>"
      "<run algorithm=\"flexible\"/>");
  text.replace(text.find("count=\"1\""), 9, "count=\"2\"");
  text.replace(text.find("hosts=\"site-1\""), 14, "hosts=\"site-[1-2]\"");
  std::ofstream(path) << text;
  const scenario::Scenario scenario =
      scenario::load_scenario(path, {std::string("training.exact=") + exact, "training.batch=15"}, make_catalog());
  return learn_scenario(scenario, nullptr, false);
}

/// Exact methods are learned once. Steps and messages equal those of learning each run; curves are copied from the
/// first run and differ only by rounding.
TEST(ExactOnce, StepsAreThoseOfLearningEach) {
  const Learned each = learn_two_sites("each");
  const Learned once = learn_two_sites("once");
  ASSERT_EQ(once.runs.size(), 5U);
  for (std::size_t i = 0; i < once.runs.size(); ++i) {
    const step::Trajectory& own = each.runs[i]->trajectory;
    const step::Trajectory& assignment = once.runs[i]->trajectory;
    EXPECT_EQ(assignment.structures, own.structures) << i;
    EXPECT_EQ(assignment.distinct_steps, own.distinct_steps) << i;
    EXPECT_EQ(assignment.steps, own.steps) << i;
    ASSERT_EQ(assignment.curve.size(), own.curve.size()) << i;
    for (std::size_t k = 0; k < own.curve.size(); ++k)
      EXPECT_NEAR(assignment.curve[k].loss, own.curve[k].loss, 1e-3) << i;
    const bool beside = i == 1 || i >= 3;
    const auto learned_as = [](const LearnedRun& run) {
      return std::ranges::find(run.remarks, report::Statement{"learned-as", {"gradient-sharing"}}) != run.remarks.end();
    };
    EXPECT_EQ(learned_as(*once.runs[i]), beside) << i;
    EXPECT_FALSE(learned_as(*each.runs[i])) << i;
  }
  // rank-dAD is not exact, so it is learned separately.
  EXPECT_NE(once.runs[2]->trajectory.curve.back().loss, once.runs[0]->trajectory.curve.back().loss);
}

}  // namespace
}  // namespace dadsim::study
