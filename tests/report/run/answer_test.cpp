#include "report/run/answer.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "report/explain/comparison.hpp"
#include "report/sample.hpp"

namespace dadsim::report {
namespace {

/// Returns a result of two runs on a workload: one of 1,000 known steps of half a second, and one of 600 shorter steps
/// with a compressor.
Result two_at_scale() {
  Result result = sample_scale_result();
  RunResult plain = result.runs[0];
  plain.spec = sample_spec("gradient-sharing", "gradient-sharing");
  plain.is_baseline = true;
  plain.at_scale->relative.ratio = estimate::Estimate{1, 1, 1};
  plain.at_scale->time = plain.at_scale->time_band = estimate::Estimate{2000, 1800, 2200};
  plain.step_seconds = 2;
  result.runs = {plain, result.runs[0]};
  for (RunResult& run : result.runs) run.step_band.reset();
  return result;
}

TEST(Answer, IsOfTheWorkloadWhereItsStepsAreKnownAndOfTheNetworkThatLearnedSecond) {
  const Answer answer = answer_to(two_at_scale());
  const std::vector<std::string> sentences = in_words(answer.statements);
  EXPECT_EQ(answer.metric, Metric::time_at_scale);
  EXPECT_EQ(answer.of, "resnet-50");
  ASSERT_EQ(answer.ranking.size(), 2U);
  EXPECT_EQ(answer.ranking[0].run, 1U);
  EXPECT_EQ(answer.ranking[0].seconds, 840);
  EXPECT_EQ(answer.ranking[0].low, 660);
  ASSERT_EQ(sentences.size(), 2U);
  EXPECT_EQ(sentences[0],
            "rank-dad trains resnet-50 to 75.9 % top-1 first, in 14 min 0 s (11 min 0 s … 19 min 10 s): 2.4 times (1.8 "
            "… 3.0) "
            "faster than gradient-sharing (33 min 20 s).");
  EXPECT_TRUE(
      sentences[1].starts_with("On the learning network (MLP 4-3-2 (23 parameters), batch 32 per worker), with steps "
                               "as long as those of resnet-50: "))
      << sentences[1];
}

TEST(Answer, IsOpenWhereIntervalsOfRelativeStepsLeaveItOpen) {
  Result result = two_at_scale();
  for (RunResult& run : result.runs)
    run.step_band = StepBand{run.step_seconds * 0.9, run.step_seconds * 1.1, {{"compute.assumed", 1, "a"}}};
  result.runs[0].at_scale->time = result.runs[0].at_scale->time_band = estimate::Estimate{900, 800, 1000};
  const std::string open = in_words(answer_to(result).statements)[0];
  EXPECT_NE(open.find("rank-dad and gradient-sharing cannot be told apart (1.1; 0.80 … 1.3): "), std::string::npos)
      << open;
}

TEST(Answer, IsTheStepWhereNoStepsAreKnown) {
  Result result = two_at_scale();
  result.scale->known.reset();
  for (RunResult& run : result.runs) run.at_scale->time.reset();
  const Answer answer = answer_to(result);
  const std::vector<std::string> sentences = in_words(answer.statements);
  EXPECT_EQ(answer.metric, Metric::time_per_step);
  EXPECT_EQ(sentences[0],
            "rank-dad takes the shortest step of resnet-50, 500 ms: 4.00 times faster than gradient-sharing (2.00 s).");
  EXPECT_EQ(sentences[1], "The steps that resnet-50 needs are not known here, so its time to accuracy is unknown.");
  EXPECT_EQ(sentences[2],
            "Counting the steps of each run, rank-dad is first: its relative steps times a step are 2.67 times "
            "less than those of gradient-sharing.");
}

TEST(Answer, OfAQuickerStepWhoseStepsNobodyCountedIsNoWinner) {
  Result result = two_at_scale();
  result.timing_only = result.stand_in = true;
  result.learned_on.clear();
  result.runs[1].at_scale->relative = {std::nullopt, Statement{"nothing-measured"}};
  result.runs[1].at_scale->time.reset();
  result.runs[1].at_scale->time_band.reset();
  result.runs[0].throughput = Throughput{1024, 1'048'576, 0.4, 0.8};
  const Answer answer = answer_to(result);
  const std::vector<std::string> sentences = in_words(answer.statements);
  EXPECT_EQ(answer.metric, Metric::time_at_scale);
  ASSERT_EQ(answer.ranking.size(), 1U);
  ASSERT_EQ(sentences.size(), 3U);
  EXPECT_TRUE(sentences[0].starts_with("gradient-sharing trains resnet-50 to")) << sentences[0];
  EXPECT_EQ(sentences[1],
            "The relative steps of rank-dad (a step: 500 ms) are not known; a step of "
            "gradient-sharing takes 2.00 s.");
  EXPECT_EQ(
      sentences[2],
      "gradient-sharing does 1,024 samples (1.05 M tokens) a second, at 40.0 % of the devices' peak; 2 workers reach "
      "80.0 % of their throughput alone.");
}

Compared::Side side_of(double step_seconds, const std::string& causes) {
  Compared::Side side{.algorithm = "gradient-sharing", .causes = causes};
  side.seconds = side.step_seconds = side.contender.seconds = step_seconds;
  return side;
}

std::string sentence_of(const Compared& run, const std::string& name) { return in_words(statement_on(run, name)); }

Compared compared(double before, double after) {
  return {"gradient-sharing", Metric::time_per_step, "gpt-2-medium",
          side_of(before, "81 % of the step was bandwidth (8 links nic-#_UP)"),
          side_of(after, "68 % of the step was bandwidth")};
}

TEST(Comparison, SaysHowMuchFasterAndWhy) {
  const Compared run = compared(0.484, 0.293);
  EXPECT_EQ(sentence_of(run, "nic=200Gbps"),
            "gradient-sharing, nic=200Gbps: 1.65 times faster: a step of gpt-2-medium takes 293 ms instead of 484 ms; "
            "before, 81 % of the step was bandwidth (8 links nic-#_UP).");
  Compared slower = run;
  std::swap(slower.before, slower.after);
  EXPECT_NE(sentence_of(slower, "b")
                .find("1.65 times slower: a step of gpt-2-medium takes 484 ms instead of 293 ms; "
                      "after, 81 %"),
            std::string::npos)
      << sentence_of(slower, "b");
  const Compared same = compared(0.484, 0.4841);
  EXPECT_NE(sentence_of(same, "b").find("no difference: a step of gpt-2-medium takes 484 ms on both sides"),
            std::string::npos);
}

// With 64 GPUs instead of 32 and twice the batch, a step takes longer but processes more tokens per second.
TEST(Comparison, OtherWorkInAStepIsComparedByThroughput) {
  Compared run = compared(1.0, 1.17);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  run.before.work = {.step_seconds = 1, .samples = 256, .tokens = kNone, .known_steps = kNone};
  run.after.work = {.step_seconds = 1.17, .samples = 512, .tokens = kNone, .known_steps = kNone};
  compare_by_work(run, spec::AskedMetric::automatic);
  EXPECT_EQ(run.metric, Metric::throughput);
  EXPECT_EQ(sentence_of(run, "gpus=64"),
            "gradient-sharing, gpus=64: 1.71 times the throughput: 438 samples per second instead of 256 (a step of "
            "gpt-2-medium has 2 times the samples and takes 1.17 s instead of 1.00 s).");
}

// Equal numbers of steps with different batches are different trainings; equal numbers of tokens are the same training.
TEST(Comparison, EquallyManyStepsOfOtherBatchesAreComparedByThroughput) {
  Compared run = compared(1000, 1170);
  run.metric = Metric::time_at_scale;
  run.before.work = {.step_seconds = 1, .samples = 256, .tokens = 256e3, .known_steps = 1000};
  run.after.work = {.step_seconds = 1.17, .samples = 512, .tokens = 512e3, .known_steps = 1000};
  Compared budget = run;
  compare_by_work(run, spec::AskedMetric::automatic);
  EXPECT_EQ(run.metric, Metric::throughput);
  budget.after.work.known_steps = 500;
  compare_by_work(budget, spec::AskedMetric::automatic);
  EXPECT_EQ(budget.metric, Metric::time_at_scale);
  EXPECT_TRUE(batch_assumption(budget.before.work, budget.after.work, budget.metric));
}

TEST(Comparison, EqualWithinTheMarginIsSaid) {
  EXPECT_NE(
      sentence_of(compared(0.484, 0.47), "b").find("b: equal within 5 %: a step of gpt-2-medium takes 470 ms instead"),
      std::string::npos);
}

// Federated averaging with failures was once called "6.68 times faster than without", although the two methods differ.
TEST(Comparison, OtherMethodsUnderOneLabelAreNamed) {
  Compared run = compared(0.484, 0.293);
  run.after.algorithm = "fedavg";
  EXPECT_NE(sentence_of(run, "b").find("; the methods differ, too (gradient-sharing and fedavg)."), std::string::npos);
}

TEST(Comparison, SaysHowNearATargetCameThatIsNeverReached) {
  Compared run{"dad", Metric::time_to_target, "MLP"};
  run.before.best_accuracy = 0.858;
  run.after.best_accuracy = 0.96;
  run.after.seconds = 12;
  EXPECT_EQ(sentence_of(run, "batch=64"),
            "dad, batch=64: the target is never reached (best 85.8 %) before, and is reached in 12.0 s after.");
}

}  // namespace
}  // namespace dadsim::report
