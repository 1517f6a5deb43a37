#include "report/run/over_seeds.hpp"

#include <gtest/gtest.h>

// What a table tells of a run with several seeds, of which the first is timed.

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
