// Tests plans whose answers have a closed form: one line and one device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "estimate/bands.hpp"
#include "estimate/verdict.hpp"
#include "report/run/answer.hpp"
#include "scenario/document/load.hpp"
#include "study/one_line.hpp"
#include "study/planning/plan_scenario.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"
#include "support/human.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

using namespace test::one_line;  // NOLINT(google-build-using-namespace): its numbers

class Plan : public ::testing::Test {
 protected:
  report::PlanReport plan(const std::string& goal, const std::vector<std::string>& overrides = {}) {
    const std::string path = folder_.path("scenario.xml");
    std::ofstream(path) << test::one_line::scenario(
        R"(<costs><price device="worker" per-hour="36"/><price device="adder" per-hour="0"/>)" + lines_ + "</costs>" +
        goal);
    source_.emplace(path);
    steps_ = run_experiment(source_->load_point({}, make_catalog()), false).runs.front().target_step;
    return plan_scenario(*source_, overrides, false);
  }
  std::int64_t steps_with(const std::vector<std::string>& overrides) {
    return run_experiment(source_->load_point(overrides, make_catalog()), false).runs.front().target_step;
  }
  double steps() const { return static_cast<double>(steps_); }

  /// Sets the elements inside <costs>.
  void price_lines(const std::string& lines) { lines_ = lines; }

 protected:
  test::TemporaryFolder folder_;

 private:
  std::string lines_;
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
  const double limit = 0.004;  // the price of 0.4 s of a worker
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
  EXPECT_NE(to_table(document_of(report)).find("Out of reach"), std::string::npos);
}

TEST_F(Plan, AnAccuracyThatIsNeverReachedIsOutOfReach) {
  const report::PlanReport report = plan(R"(<goal accuracy="1"><allow path="training.batch" values="10 20"/></goal>)");
  EXPECT_FALSE(report.answers.front().met);
  EXPECT_GT(report.answers.front().trial.accuracy, 0.5);
  EXPECT_EQ(report.learned_runs, 2U);
  EXPECT_EQ(report.timing_runs, 0U);
  EXPECT_FALSE(report.answers.front().trial.timed);
}

TEST_F(Plan, NothingIsTimedWhereLearningNeverReachesTheTarget) {
  const report::PlanReport report = plan(
      R"(<goal accuracy="0.999"><allow path="platform.federation.sites.up" from="1" to="1000" unit="Mbps"/></goal>)");
  EXPECT_EQ(report.timing_runs, 0U);
  EXPECT_EQ(report.learned_runs, 1U);
  const double best = report.answers.front().trial.accuracy;
  EXPECT_GT(best, 0.5);
  const std::string said = verdict(document_of(report));
  EXPECT_TRUE(
      said.starts_with("The target is never reached: gradient-sharing came nearest with " + human_percent(best) + "."))
      << said;
  EXPECT_NE(said.find("nothing was timed"), std::string::npos) << said;
  EXPECT_NE(to_table(document_of(report)).find("never reaches it; not timed"), std::string::npos);
}

TEST_F(Plan, OneSeedHasTheBandOfAnAssumedScatter) {
  const report::PlanReport report = plan(
      R"(<goal within="600ms"><allow path="platform.federation.sites.up" from="0.1" to="1000" unit="Mbps"/></goal>)");
  const report::GoalAnswer& best = report.answers.front();
  ASSERT_TRUE(best.met && best.trial.band && best.may && best.safe) << verdict(document_of(report));
  const double n = steps();
  const double chance = estimate::chance_of(estimate::seed_scatter("alone"));  // error from chance, for an exact run
  // The target is met at one of the steps after the previous evaluation, so the lower end is (n − 1) ÷ n.
  const estimate::Band step = estimate::band_of(best.trial.contender.parts);
  const double down_to = std::hypot(std::log(n / (n - 1)), chance, std::log(step.low));
  EXPECT_NEAR(best.trial.band->low, std::exp(-down_to), 1e-3);
  EXPECT_NEAR(best.trial.band->high, std::exp(std::hypot(chance, std::log(step.high))), 1e-3);
  const auto tried = [&](const std::string& value) {
    return std::ranges::find(best.tried, value, &report::Tried::value)->trial;
  };
  EXPECT_EQ(standing_of(report.goal, best.trial), report::GoalStanding::likely);
  EXPECT_EQ(standing_of(report.goal, tried(*best.may)), report::GoalStanding::open);
  EXPECT_EQ(standing_of(report.goal, tried(*best.safe)), report::GoalStanding::met);
  EXPECT_LT(std::stod(*best.may), number_of(*best.answer));
  EXPECT_GT(std::stod(*best.safe), number_of(*best.answer));
  EXPECT_NE(verdict(document_of(report)).find("(one seed; seeds scatter by 19 % with methods of its kind)"),
            std::string::npos)
      << verdict(document_of(report));
}

TEST_F(Plan, SeedsAreLearnedOnceAndTheirMeanIsAnswered) {
  const report::PlanReport report =
      plan(R"(<goal within="2s"><allow path="platform.federation.sites.up" from="0.1" to="1000" unit="Mbps"/></goal>)",
           {"training.seeds=4"});
  EXPECT_EQ(report.learned_runs, 4U);
  const report::GoalAnswer& best = report.answers.front();
  ASSERT_TRUE(best.met && best.trial.band && best.may && best.safe) << verdict(document_of(report));
  EXPECT_EQ(best.trial.seeds, 4U);
  std::vector<estimate::Arrival> arrivals;  // bounds of the arrival at the target, in steps
  for (int seed = 1; seed <= 4; ++seed) {
    const std::int64_t at = steps_with({"seed=" + std::to_string(seed)});
    arrivals.push_back({static_cast<double>(at - 1), static_cast<double>(at)});
  }
  const estimate::Estimate mean = times_as_long(arrivals, std::vector<estimate::Arrival>(4, {1, 1}), false, 0);
  const estimate::Estimate banded = with_band(mean, estimate::band_of(best.trial.contender.parts));
  EXPECT_NEAR(best.trial.band->low, *banded.low / mean.value, 1e-3);
  EXPECT_NEAR(best.trial.band->high, *banded.high / mean.value, 1e-3);
  const double known = bytes / (2 / mean.value - computing - 2 * latency - bytes / down) * 8 / 1e6;
  EXPECT_NEAR(number_of(*best.answer), known, 0.01 * known);
  EXPECT_LE(std::stod(*best.may), number_of(*best.answer));
  EXPECT_GE(std::stod(*best.safe), number_of(*best.answer));
  EXPECT_NE(verdict(document_of(report)).find("over 4 seeds"), std::string::npos) << verdict(document_of(report));
}

/// For every choice, a plan reports the same band as a run of the same file, with several seeds too.
TEST_F(Plan, SaysTheBandOfTheRun) {
  const std::string path = folder_.path("same.xml");
  std::ofstream(path) << test::one_line::scenario(R"(<goal within="1h"/>)");
  const scenario::ScenarioSource source(path);
  const std::vector<std::string> seeds{"training.seeds=3"};
  const report::Trial trial = plan_scenario(source, seeds, false).answers.front().trial;
  const report::Answer::Place place =
      answer_to(run_experiment(source.load_point(seeds, make_catalog()), false)).ranking.at(0);
  const report::TrialEnds ends = ends_of(trial);
  EXPECT_DOUBLE_EQ(trial.seconds, place.seconds);
  EXPECT_DOUBLE_EQ(ends.seconds.low.value(), place.low.value());
  EXPECT_DOUBLE_EQ(ends.seconds.high.value(), place.high.value());
}

TEST_F(Plan, LinesAreRentedForAsLongAsTrainingTakes) {
  price_lines(R"(<line link="site-* up" per-mbps-month="2629800"/>)");  // a price of 1 per second and Mbit/s
  const std::string range = R"(<allow path="platform.federation.sites.up" from="0.1" to="1000" unit="Mbps"/></goal>)";
  plan(R"(<goal cost="1e9">)" + range);  // called for the number of steps
  const double limit = 0.272 * steps();  // a step costs at least 0.266, reached at 0.35 Mbit/s
  const report::PlanReport report = plan(fmt::format(R"(<goal cost="{}">)", limit) + range);
  const report::GoalAnswer& best = report.answers.front();
  ASSERT_TRUE(best.met) << verdict(document_of(report));
  const auto money = [&](double mbps) {
    const double seconds = steps() * (computing + 2 * latency + bytes * 8 / (mbps * 1e6) + bytes / down);
    return seconds * (kHourPrice / 3600 + mbps);
  };
  const double mbps = number_of(*best.answer);
  EXPECT_LE(money(mbps), 1.001 * limit);
  EXPECT_GT(money(std::stod(best.neighbour->value)), 0.999 * limit);
  EXPECT_NEAR(*best.trial.costs.money, money(mbps), 1e-3 * money(mbps));
  EXPECT_NEAR(*best.trial.lines_per_month, mbps * 2629800, 1);
  // Above this rate, the saved time is worth less than the line costs.
  ASSERT_EQ(best.misses_again.size(), 1U);
  EXPECT_TRUE(best.misses_again[0].to_the_end);
  const double last = std::stod(best.misses_again[0].from);
  EXPECT_GT(money(last), limit);
  EXPECT_LE(money(0.99 * last), limit);
  EXPECT_NE(verdict(document_of(report)).find("lines at "), std::string::npos) << verdict(document_of(report));
}

// In bursts of dAD over TCP, a wider downlink may make a step longer. The limit is between the extremes of the curve,
// and each number that was tried must meet or miss it as the answer says.
TEST(PlanOverTcp, SaysWhereAWiderLineMissesAgain) {
  const scenario::ScenarioSource source(std::string(DADSIM_SOURCE_DIR) + "/scenarios/hospitals-plan.xml");
  std::vector<std::string> overrides{"data.digits.train=1000", "training.target-accuracy=0.6",
                                     "goal.run=dad",           "goal.allow.path=platform.federation.sites.down",
                                     "goal.allow.from=50",     "platform.federation.sites.up=100Mbps"};
  const auto planned = [&](const std::string& within) {
    std::vector<std::string> all = overrides;
    all.push_back("goal.within=" + within);
    return plan_scenario(source, all, false);
  };
  const std::vector<report::Tried> curve = planned("1h").answers.front().tried;
  ASSERT_EQ(curve.size(), 13U) << "13 numbers, of which the first is enough, whatever seeds leave open";
  const auto least = std::ranges::min_element(curve, {}, [](const report::Tried& one) { return one.trial.seconds; });
  const auto most = std::ranges::max_element(least, curve.end(), {}, [](const auto& one) { return one.trial.seconds; });
  const double limit = (least->trial.seconds + most->trial.seconds) / 2;
  const report::GoalAnswer answer = planned(fmt::format("{:.9}s", limit)).answers.front();
  ASSERT_TRUE(answer.met);
  EXPECT_EQ(answer.misses_again.empty(), most->trial.seconds <= limit);
  const auto number = [](const std::string& value) { return std::stod(value); };
  for (const report::Tried& one : answer.tried) {
    if (one.number < number(answer.answer->value)) continue;
    const bool misses = std::ranges::any_of(answer.misses_again, [&](const report::Stretch& stretch) {
      return number(stretch.from) <= one.number && one.number <= number(stretch.to);
    });
    EXPECT_EQ(one.trial.seconds > limit, misses) << one.value;
  }
}

TEST_F(Plan, ALineWithAPriceMustBeThere) {
  price_lines(R"(<line link="site-1 upp" per-mbps-month="1"/>)");
  try {
    plan(R"(<goal within="1s"/>)");
    FAIL() << "there is no such line";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(R"(link="site-1 upp" of <line> matches no link)"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("site-1 up"), std::string::npos) << error.what();
  }
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
