#include "report/answer.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "report/comparison.hpp"
#include "report/sample.hpp"

namespace dadsim::report {
namespace {

/// Gradient sharing and a compressor on a workload: 1,000 known steps of half a second each, and 600 that take less.
Result two_at_scale() {
  Result result = sample_scale_result();
  RunResult plain = result.runs[0];
  plain.spec = sample_spec("gradient-sharing", "gradient-sharing");
  plain.at_scale->relative.ratio = estimate::Estimate{1, 1, 1};
  plain.at_scale->time = plain.at_scale->time_band = estimate::Estimate{2000, 1800, 2200};
  plain.step_seconds = 2;
  result.runs = {plain, result.runs[0]};
  for (RunResult& run : result.runs) run.step_band.reset();
  return result;
}

TEST(Answer, IsOfTheWorkloadWhereItsStepsAreKnownAndOfTheNetworkThatLearnedSecond) {
  const Answer answer = answer_to(two_at_scale());
  EXPECT_EQ(answer.metric, Metric::time_at_scale);
  EXPECT_EQ(answer.of, "resnet-50");
  ASSERT_EQ(answer.ranking.size(), 2U);
  EXPECT_EQ(answer.ranking[0].run, 1U);
  EXPECT_EQ(answer.ranking[0].seconds, 840);
  EXPECT_EQ(answer.ranking[0].low, 660);
  ASSERT_EQ(answer.sentences.size(), 2U);
  EXPECT_EQ(answer.sentences[0],
            "rank-dad trains resnet-50 to 75.9 % top-1 first, in 14 min 0 s (11 min 0 s … 19 min 10 s): 2.38 times "
            "faster than gradient-sharing (33 min 20 s).");
  EXPECT_TRUE(answer.sentences[1].starts_with(
      "On the network that learned (MLP 4-3-2 (23 parameters), batch 32 per worker), each step as long as one of "
      "resnet-50: "))
      << answer.sentences[1];
}

TEST(Answer, IsATieWhereIntervalsOfRelativeStepsLeaveItOpen) {
  Result result = two_at_scale();
  for (RunResult& run : result.runs)
    run.step_band = StepBand{run.step_seconds * 0.9, run.step_seconds * 1.1, {{"compute.assumed", 1, "a"}}, "assumed"};
  result.runs[0].at_scale->time = result.runs[0].at_scale->time_band = estimate::Estimate{900, 800, 1000};
  const std::string tie = answer_to(result).sentences[0];
  EXPECT_NE(tie.find("rank-dad and gradient-sharing cannot be told apart (1.07; "), std::string::npos) << tie;
}

TEST(Answer, IsTheStepWhereNoStepsAreKnown) {
  Result result = two_at_scale();
  result.scale->known.reset();
  for (RunResult& run : result.runs) run.at_scale->time.reset();
  const Answer answer = answer_to(result);
  EXPECT_EQ(answer.metric, Metric::time_per_step);
  EXPECT_EQ(answer.sentences[0],
            "rank-dad takes the shortest step of resnet-50, 500 ms: 4.00 times faster than gradient-sharing (2.00 s).");
  EXPECT_EQ(answer.sentences[1],
            "How many steps resnet-50 needs is not known here, and so its time to accuracy is not.");
  EXPECT_EQ(answer.sentences[2],
            "With the steps that each needs counted, rank-dad is first: its relative steps times a step are 2.67 times "
            "less than those of gradient-sharing.");
}

TEST(Answer, OfAQuickerStepWhoseStepsNobodyCountedIsNoWinner) {
  Result result = two_at_scale();
  result.timing_only = result.stand_in = true;
  result.learned_on.clear();
  result.runs[1].at_scale->relative = {std::nullopt, "nothing was learned"};
  result.runs[1].at_scale->time.reset();
  result.runs[1].at_scale->time_band.reset();
  result.runs[0].throughput = Throughput{1024, 1'048'576, 0.4, 0.8};
  const Answer answer = answer_to(result);
  EXPECT_EQ(answer.metric, Metric::time_at_scale);
  ASSERT_EQ(answer.ranking.size(), 1U);
  ASSERT_EQ(answer.sentences.size(), 3U);
  EXPECT_TRUE(answer.sentences[0].starts_with("gradient-sharing trains resnet-50 to")) << answer.sentences[0];
  EXPECT_EQ(answer.sentences[1],
            "How many more steps than gradient sharing rank-dad (a step: 500 ms) takes is not known; a step of "
            "gradient-sharing takes 2.00 s.");
  EXPECT_EQ(
      answer.sentences[2],
      "gradient-sharing does 1,024 samples (1.05 M tokens) a second, at 40.0 % of the devices' peak; 2 workers do "
      "80.0 % of what they would do each alone.");
}

TEST(Comparison, SaysHowMuchFasterAndWhy) {
  const Compared run{"gradient-sharing",
                     Metric::time_per_step,
                     "gpt-2-medium",
                     0.484,
                     0.293,
                     0.484,
                     0.293,
                     "81 % of the step was bandwidth (8 links nic-#_UP)",
                     "68 % of the step was bandwidth",
                     0,
                     0};
  EXPECT_EQ(sentence_on(run, "nic=200Gbps"),
            "gradient-sharing, nic=200Gbps: 1.65 times faster: a step of gpt-2-medium takes 293 ms instead of 484 ms; "
            "before, 81 % of the step was bandwidth (8 links nic-#_UP).");
  Compared slower = run;
  std::swap(slower.before, slower.after);
  EXPECT_NE(sentence_on(slower, "b")
                .find("1.65 times slower: a step of gpt-2-medium takes 484 ms instead of 293 ms; "
                      "after, 68 %"),
            std::string::npos)
      << sentence_on(slower, "b");
  Compared same = run;
  same.after = 0.4841;
  EXPECT_NE(sentence_on(same, "b").find("no difference: a step of gpt-2-medium takes 484 ms on both sides"),
            std::string::npos);
}

TEST(Comparison, SaysHowNearATargetCameThatIsNeverReached) {
  const Compared run{"dad", Metric::time_to_target, "MLP", std::nullopt, 12, 1, 1, "", "", 0.858, 0.96};
  EXPECT_EQ(sentence_on(run, "batch=64"),
            "dad, batch=64: the target is never reached (best 85.8 %) before, and is reached in 12.0 s after.");
}

}  // namespace
}  // namespace dadsim::report
