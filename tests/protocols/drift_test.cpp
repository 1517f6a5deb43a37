// Tests data that drift at a simulated date, in federated protocols.
#include <gtest/gtest.h>

#include "protocols/simulating.hpp"

namespace dadsim::test {
namespace {

struct DriftingDigits {
  explicit DriftingDigits(double at) : small(2) {
    drift = models::make_drift({{.sites = "",
                                 .workers = {0, 1},
                                 .at = at,
                                 .corrupts = true,
                                 .corruption = spec::Corruption::exponential,
                                 .severity = 4}},
                               small.data, small.partition, 1);
  }
  Simulated play_rounds() const {
    History history(1, nullptr);
    algorithms::LearningProblem problem = small.problem();
    problem.drift = &drift;
    Learning learning(problem, history);
    auto world = closed_form(2, [](world::Node) { return 1; });
    return simulate(world, small, learning, run_of("fedavg", {{"rounds", "4"}, {"local-steps", "3"}}));
  }
  SmallProblem small;
  models::DriftedData drift;
};

TEST(DriftInRounds, ChangesWhatBeginsAfterItAndNothingBefore) {
  // A round takes three seconds. Rounds start to train at 0, 3, 6 and 9 s, and their models arrive at 3, 6, 9 and 12 s.
  const Simulated never = DriftingDigits(1000).play_rounds();
  const Simulated late = DriftingDigits(4).play_rounds();
  ASSERT_EQ(never.qualities.size(), 5U);
  ASSERT_EQ(late.qualities.size(), 5U);
  EXPECT_EQ(late.qualities[0], never.qualities[0]);
  EXPECT_EQ(late.qualities[1], never.qualities[1]);
  // The second round had begun to train, so only held-back data have changed.
  EXPECT_NE(late.qualities[2], never.qualities[2]);
  EXPECT_NE(late.qualities[4], never.qualities[4]);
  EXPECT_DOUBLE_EQ(late.log.seconds, never.log.seconds);
}

TEST(DriftInRounds, TrainingAfterItIsTrainingOnTheOtherSamples) {
  const DriftingDigits digits(0.5);
  History history(1, nullptr);
  algorithms::LearningProblem problem = digits.small.problem();
  problem.drift = &digits.drift;
  Learning learning(problem, history);
  EXPECT_EQ(learning.data_version(0, 0), 0);
  EXPECT_EQ(learning.data_version(0, 0.5), 1);
  const Value before = learning.train(learning.initial(), {.site = 0, .steps = 2});
  const Value after = learning.train(learning.initial(), {.site = 0, .steps = 2, .data_version = 1});
  EXPECT_NE(history.get(before)->numbers, history.get(after)->numbers);
  // A problem whose samples are drifted from the beginning gives the same numbers.
  History other_history(2, nullptr);
  algorithms::LearningProblem other{digits.small.data, digits.drift.partitions[0], digits.small.model,
                                    digits.small.training, 1};
  Learning other_learning(other, other_history);
  const Value same = other_learning.train(other_learning.initial(), {.site = 0, .steps = 2});
  EXPECT_EQ(history.get(after)->numbers, other_history.get(same)->numbers);
}

}  // namespace
}  // namespace dadsim::test
