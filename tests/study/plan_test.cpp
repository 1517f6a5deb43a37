// Questions whose answers are known in closed form: one line, one device.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "scenario/load.hpp"
#include "study/catalog.hpp"
#include "study/experiment.hpp"
#include "study/one_line.hpp"
#include "study/planning/plan_scenario.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

using namespace test::one_line;  // NOLINT(google-build-using-namespace): its numbers

class Plan : public ::testing::Test {
 protected:
  report::PlanReport plan(const std::string& goal, const std::vector<std::string>& overrides = {}) {
    const std::string path = folder_.path("scenario.xml");
    std::ofstream(path) << test::one_line::scenario(
        R"(<costs><price device="worker" per-hour="36"/><price device="adder" per-hour="0"/></costs>)" + goal);
    source_.emplace(path);
    steps_ = run_experiment(source_->load_point({}, make_catalog()), false).runs.front().target_step;
    return plan_scenario(*source_, overrides, false);
  }
  double steps() const { return static_cast<double>(steps_); }

 private:
  test::TemporaryFolder folder_;
  std::optional<scenario::ScenarioSource> source_;
  std::int64_t steps_ = 0;
};

double number_of(const report::Change& change) { return std::stod(change.value); }

TEST_F(Plan, FindsTheSmallestUplink) {
  const double limit = 0.3;
  const report::PlanReport report = plan(
      R"(<goal within="300ms"><allow path="platform.federation.sites.up" from="0.1" to="1000" unit="Mbps"/></goal>)");
  const report::GoalAnswer& best = report.answers.front();
  ASSERT_TRUE(best.met);
  const double rest = limit / steps() - computing - 2 * latency - bytes / down;
  const double known = bytes / rest * 8 / 1e6;
  EXPECT_NEAR(number_of(*best.answer), known, 0.01 * known);
  EXPECT_LT(number_of(*best.neighbour), known);
  EXPECT_LE(best.trial.seconds, limit);
  EXPECT_GT(best.neighbour_trial->seconds, limit);
  EXPECT_EQ(report.learned_runs, 1U);
}

TEST_F(Plan, FindsTheGreatestLatency) {
  const double limit = 1;
  const report::PlanReport report = plan(
      R"(<goal within="1s"><allow path="platform.federation.sites.latency" from="0.1" to="1000" unit="ms" prefer="most"/></goal>)");
  const report::GoalAnswer& best = report.answers.front();
  ASSERT_TRUE(best.met);
  const double known = 1e3 * (limit / steps() - computing - bytes / up - bytes / down) / 2;
  EXPECT_NEAR(number_of(*best.answer), known, 0.01 * known);
  EXPECT_GT(number_of(*best.neighbour), known);
}

TEST_F(Plan, FindsTheSlowestDevice) {
  const double limit = 0.5;
  const report::PlanReport report = plan(
      R"(<goal within="500ms"><allow path="device[worker].step-time" from="1" to="1000" unit="ms" prefer="most"/></goal>)");
  const report::GoalAnswer& best = report.answers.front();
  ASSERT_TRUE(best.met);
  const double known = 1e3 * (limit / steps() - 2 * latency - bytes / up - bytes / down);
  EXPECT_NEAR(number_of(*best.answer), known, 0.01 * known);
}

TEST_F(Plan, KeepsWithinMoney) {
  const double limit = 0.004;  // 0.4 s of the worker
  const report::PlanReport report = plan(
      R"(<goal cost="0.004"><allow path="platform.federation.sites.up" from="0.1" to="1000" unit="Mbps"/></goal>)");
  const report::GoalAnswer& best = report.answers.front();
  ASSERT_TRUE(best.met);
  const double seconds = limit * 3600 / kHourPrice;
  const double known = bytes / (seconds / steps() - computing - 2 * latency - bytes / down) * 8 / 1e6;
  EXPECT_NEAR(number_of(*best.answer), known, 0.01 * known);
  EXPECT_NEAR(*best.trial.costs.money, limit, 0.01 * limit);
}

TEST_F(Plan, SaysWhatIsOutOfReachWithTheBestReachable) {
  const report::PlanReport report = plan(
      R"(<goal within="10ms"><allow path="platform.federation.sites.up" from="0.1" to="1000" unit="Mbps"/></goal>)");
  const report::GoalAnswer& best = report.answers.front();
  EXPECT_FALSE(best.met);
  EXPECT_EQ(best.answer->value, "1000Mbps");
  const double known = steps() * (computing + 2 * latency + bytes / 125e6 + bytes / down);
  EXPECT_NEAR(best.trial.seconds, known, 1e-3 * known);
  EXPECT_NE(to_table(report).find("Out of reach"), std::string::npos);
}

TEST_F(Plan, AnAccuracyThatIsNeverReachedIsOutOfReach) {
  const report::PlanReport report = plan(R"(<goal accuracy="1"><allow path="training.batch" values="10 20"/></goal>)");
  EXPECT_FALSE(report.answers.front().met);
  EXPECT_GT(report.answers.front().trial.accuracy, 0.5);
  EXPECT_EQ(report.learned_runs, 2U);
}

TEST_F(Plan, AChangeThatMakesTheScenarioWrongIsAnError) {
  try {
    plan(R"(<goal within="1s"><allow path="platform.federation.sites.upp" from="1" to="2" unit="Mbps"/></goal>)");
    FAIL() << "there is no such attribute";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("upp"), std::string::npos) << error.what();
  }
}

TEST_F(Plan, WithoutAGoalThereIsNothingToPlan) {
  try {
    plan("");
    FAIL() << "there is no goal";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("lacks <goal>"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace dadsim::study
