// Tests sweeps over runs in which the order of events determines the learned model.
#include <gtest/gtest.h>

#include "scenario/document/print.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/run/experiment.hpp"
#include "study/store/records.hpp"
#include "study/sweep/merge.hpp"
#include "study/sweep/read_results.hpp"
#include "study/sweep/run.hpp"
#include "study/sweep/tiny_sweep.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

/// Returns a scenario of four sites, one of them on another line; the server does not wait for clients after the
/// deadline.
std::string hurried_scenario(const std::string& sweep) {
  return R"(<?xml version="1.0" encoding="UTF-8"?>
<scenario name="Hurried" seed="1">
  <platform>
    <federation>
      <sites name="near" count="3" up="10Mbps" down="10Mbps" latency="5ms"/>
      <sites name="far" count="1" up="200kbps" down="10Mbps" latency="5ms"/>
    </federation>
  </platform>
  <workers>
    <worker hosts="near-[1-3] far-1" device="rtx-3090"/>
    <aggregator host="hub" device="xeon-8380"/>
  </workers>
  <data><digits train="200" test="100"/></data>
  <model><dense units="16"/><dense units="10"/></model>
  <training batch="16" epochs="2" target-accuracy="0.9"/>
  <run algorithm="gradient-sharing"/>
  <run algorithm="fedavg" rounds="4" deadline="0.8" label="hurried"/>
  )" + sweep +
         "\n</scenario>\n";
}

constexpr const char* kPlatforms =
    R"(<sweep><vary path="platform.federation.sites[far].up" values="200kbps 10Mbps"/></sweep>)";
constexpr const char* kDeadlines = R"(<sweep><vary path="run[hurried].deadline" values="0.5 0.8 5 50"/></sweep>)";

class EventDrivenSweep : public testing::Test {
 protected:
  SweepPoints points(const std::string& sweep) const {
    return test::sweep_of(folder_.write("hurried.xml", hurried_scenario(sweep)));
  }
  SweepResults run(const SweepPoints& sweep, const std::string& file, const SweepOptions& options = {.threads = 1}) {
    const auto database = open_sweep(folder_.path(file), sweep, {});
    numbers_ = run_sweep(sweep, *database, {}, options);
    return read_results(*database);
  }
  void forget_trials(const std::string& file) const {
    Database database(folder_.path(file), Database::Access::write);
    database.execute("DELETE FROM run; DELETE FROM trial");
  }
  std::int64_t count(const std::string& file, const std::string& select) const {
    Database database(folder_.path(file), Database::Access::read);
    return database.number(select).value_or(-1);
  }

  test::TemporaryFolder folder_;
  SweepProgressNumbers numbers_;
};

TEST_F(EventDrivenSweep, AnOrderOfAnotherPlatformIsNotTakenForItsOwn) {
  const SweepPoints sweep = points(kPlatforms);
  EXPECT_EQ(sweep.problems(), 1U);       // learning problems that need no simulated cluster
  EXPECT_EQ(sweep.distinct_runs(), 1U);  // the event-driven run is not counted
  const SweepResults results = run(sweep, "a.sqlite");
  ASSERT_EQ(results.runs.size(), 4U);
  // While its line is slow, the far site is always late; otherwise all sites take part.
  EXPECT_LT(results.runs[1].figures["participation"], 1);
  EXPECT_EQ(results.runs[3].figures["participation"], 1);
  EXPECT_NE(results.runs[1].figures["final_auc"], results.runs[3].figures["final_auc"]);
  EXPECT_EQ(results.runs[0].figures["final_auc"],
            results.runs[2].figures["final_auc"]);  // the model of gradient sharing does not depend on time
  for (std::size_t point = 0; point < 2; ++point) {
    const report::Result alone = run_experiment(sweep.scenario(point, 0), false);
    const SweepRun& kept = results.runs[2 * point + 1];
    EXPECT_EQ(kept.figures["final_auc"], alone.runs[1].final_auc);
    EXPECT_EQ(kept.figures["final_accuracy"], alone.runs[1].final_accuracy);
    EXPECT_EQ(kept.figures["total_seconds"], alone.runs[1].total_seconds);
    EXPECT_EQ(kept.figures["wasted_bytes"], alone.runs[1].event_driven->wasted_bytes());
    EXPECT_TRUE(kept.event_driven());
    EXPECT_FALSE(results.runs[2 * point].event_driven());
  }
  const scenario::Scenario scenario = sweep.scenario(0, 0);
  EXPECT_EQ(count("a.sqlite", "SELECT COUNT(*) FROM records WHERE kind = 'learned'"), 1);
  EXPECT_EQ(count("a.sqlite", fmt::format("SELECT COUNT(*) FROM records WHERE key = '{:016x}'",
                                          learning_hash_of(scenario, scenario.runs[1], scenario.training, 1))),
            0);
}

TEST_F(EventDrivenSweep, PointsLearnOnlyWhatDiffers) {
  const SweepPoints sweep = points(kDeadlines);
  const SweepResults results = run(sweep, "a.sqlite");
  EXPECT_EQ(numbers_.plays, 4);
  EXPECT_GT(numbers_.operations_found, 0);
  std::int64_t alone = 0;
  for (std::size_t point = 0; point < 4; ++point) {
    alone += run_experiment(sweep.scenario(point, 0), false).runs[1].event_driven->learned;
  }
  EXPECT_LT(numbers_.operations_learned, alone);
  // A deadline that no site misses equals a deadline ten times as long, so the last point finds all its operations
  // stored.
  EXPECT_EQ(results.runs[5].figures["final_auc"], results.runs[7].figures["final_auc"]);
}

TEST_F(EventDrivenSweep, GoingOnLearnsNothingTwice) {
  const SweepPoints sweep = points(kDeadlines);
  const SweepResults first = run(sweep, "a.sqlite");
  EXPECT_GT(numbers_.operations_learned, 0);
  forget_trials("a.sqlite");
  const SweepResults again = run(sweep, "a.sqlite");
  EXPECT_EQ(numbers_.operations_learned, 0);
  EXPECT_GT(numbers_.operations_found, 0);
  ASSERT_EQ(again.runs.size(), first.runs.size());
  for (std::size_t i = 0; i < first.runs.size(); ++i) {
    EXPECT_EQ(again.runs[i].figures["final_auc"], first.runs[i].figures["final_auc"]);
    EXPECT_EQ(again.runs[i].figures["total_seconds"], first.runs[i].figures["total_seconds"]);
  }
  run(sweep, "b.sqlite", {.threads = 1, .learned = folder_.path("a.sqlite")});
  EXPECT_EQ(numbers_.operations_learned, 0);
  // The merged file is complete: it has nothing to continue with and keeps no weights.
  merge_sweeps(folder_.path("whole.sqlite"), {folder_.path("a.sqlite"), folder_.path("b.sqlite")});
  EXPECT_EQ(count("whole.sqlite", "SELECT COUNT(*) FROM records WHERE kind = 'weights'"), 0);
  EXPECT_GT(count("whole.sqlite", "SELECT COUNT(*) FROM records WHERE kind <> 'learned'"), 0);
  forget_trials("a.sqlite");
  forget_trials("b.sqlite");
  merge_sweeps(folder_.path("m.sqlite"), {folder_.path("a.sqlite"), folder_.path("b.sqlite")});
  run(sweep, "m.sqlite");
  EXPECT_EQ(numbers_.operations_learned, 0);
}

TEST_F(EventDrivenSweep, PlaysAtTheSameTimeDoNothingTwice) {
  const SweepPoints sweep = points(kDeadlines);
  const SweepResults one = run(sweep, "a.sqlite");
  const std::int64_t learned = numbers_.operations_learned;
  const SweepResults four = run(sweep, "b.sqlite", {.threads = 4});
  EXPECT_EQ(numbers_.operations_learned, learned);
  for (std::size_t i = 0; i < one.runs.size(); ++i)
    EXPECT_EQ(one.runs[i].figures["final_auc"], four.runs[i].figures["final_auc"]);
}

TEST_F(EventDrivenSweep, LearnOnlyLeavesThemOut) {
  const SweepPoints sweep = points(kDeadlines);
  run(sweep, "a.sqlite", {.threads = 1, .learn_only = true});
  EXPECT_EQ(numbers_.learned, 1);
  EXPECT_EQ(numbers_.plays, 0);
  EXPECT_EQ(count("a.sqlite", "SELECT COUNT(*) FROM records WHERE kind <> 'learned'"), 0);
}

TEST_F(EventDrivenSweep, AFileKeepsEvaluationsAndAsManyWeightsAsItMay) {
  const SweepPoints sweep = points(kDeadlines);
  const auto database = open_sweep(folder_.path("a.sqlite"), sweep, {});
  const auto weights = std::make_shared<const world::Datum>(world::Datum{{1.5F, -2.5F, 1e-40F}, {}});
  const auto quality = std::make_shared<const world::Datum>(world::Datum{{}, {0.1, 0.2, 0.3}});
  const auto most = static_cast<std::int64_t>(2 * weights->bytes());
  {
    KeptHistories store(nullptr, std::make_shared<Records>(*database, nullptr, most));
    for (std::uint64_t i = 0; i < 5; ++i) store.keep({i, 7}, weights);
    for (std::uint64_t i = 0; i < 5; ++i) store.keep({i, 8}, quality);
    EXPECT_EQ(store.find({4, 7}), weights);  // weights that fit are kept in memory
  }
  KeptHistories store(nullptr, std::make_shared<Records>(*database, nullptr, most));
  EXPECT_EQ(database->number("SELECT COUNT(*) FROM records WHERE kind = 'weights'"), 2);
  EXPECT_EQ(database->number("SELECT COUNT(*) FROM records WHERE kind = 'evaluation'"), 5);
  ASSERT_TRUE(store.find({1, 7}));
  EXPECT_EQ(store.find({1, 7})->numbers, weights->numbers);
  EXPECT_EQ(store.find({4, 8})->scalars, quality->scalars);
  EXPECT_FALSE(store.find({4, 7}));
  EXPECT_FALSE(store.find({5, 8}));
}

}  // namespace
}  // namespace dadsim::study
