#include "report/run/over_seeds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "report/run/figure_values.hpp"

// Tests the table of a run with several seeds, of which only the first is timed.

namespace dadsim::report {
namespace {

RunResult three_seeds() {
  RunResult run;
  run.target_reached = true;
  run.steps = run.target_step = 104;
  run.target_seconds = 28.4;
  run.total_bytes = 208e6;
  run.arrivals = {estimate::Arrival{27.8, 28.4, 104}, estimate::Arrival{13.6, 14.2, 52},
                  estimate::Arrival{20.9, 21.3, 78}};
  return run;
}

TEST(OverSeeds, BytesToTheTargetAreTheMean) {
  EXPECT_DOUBLE_EQ(longer_over_seeds(three_seeds()), 0.75);
  EXPECT_DOUBLE_EQ(sent_in_all(three_seeds()), 156e6);
}

TEST(OverSeeds, FiguresAreThoseOfTheTable) {
  Result result;
  result.runs = {three_seeds()};
  const FigureValues figures({result.runs.front(), result});
  EXPECT_DOUBLE_EQ(figures["target_seconds"], (28.4 + 14.2 + 21.3) / 3);
  EXPECT_DOUBLE_EQ(figures["target_after_seconds"], (27.8 + 13.6 + 20.9) / 3);
  EXPECT_DOUBLE_EQ(figures["target_step"], 78);
  EXPECT_DOUBLE_EQ(figures["total_bytes"], 156e6);
  result.runs.front().arrivals[1].reset();
  const FigureValues missed({result.runs.front(), result});
  EXPECT_FALSE(missed.is("target_reached"));
  EXPECT_TRUE(std::isnan(missed["target_seconds"]));
}

TEST(OverSeeds, ARunThatGoesOnBehindItsTargetSendsWhatItSends) {
  RunResult run = three_seeds();
  run.steps = 200;
  EXPECT_DOUBLE_EQ(sent_in_all(run), 208e6);
}

TEST(OverSeeds, OneSeedAndASeedThatMissesSayNothingOfAMean) {
  RunResult run = three_seeds();
  run.arrivals.resize(1);
  EXPECT_DOUBLE_EQ(longer_over_seeds(run), 1);
  run = three_seeds();
  run.arrivals[1].reset();
  EXPECT_DOUBLE_EQ(longer_over_seeds(run), 1);
}

}  // namespace
}  // namespace dadsim::report
