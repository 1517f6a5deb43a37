#include <gtest/gtest.h>

#include "report/run/result_document.hpp"
#include "report/run/table.hpp"
#include "report/sample.hpp"

namespace dadsim::report {
namespace {

TEST(ScaleTable, IsEmptyWithoutASetting) { EXPECT_EQ(scale_table(sample_result(), true), ""); }

TEST(ScaleTable, ShowsTheThreeFactorsAndTheirProduct) {
  Result result = sample_scale_result();
  EXPECT_NE(scale_table(result, true).find("14 min 0 s (11 min 0 s … 19 min 10 s)"), std::string::npos);
  EXPECT_NE(scale_table(result, true)
                .find("The interval of the time combines, as a root of summed squares, the interval of the relative "
                      "steps (95 %, with "
                      "several seeds) and"),
            std::string::npos);
  result.runs[0].at_scale->time_band.reset();
  const std::string text = scale_table(result, true);
  EXPECT_EQ(
      text.substr(0, text.find("Known steps:")),
      "Time to accuracy as resnet-50, 512 samples per step of all workers, to 75.9 % top-1\n"
      "run       known steps  × relative steps (95 %)  × time per step               = time to accuracy (95 %)\n"
      "───────────────────────────────────────────────────────────────────────────────────────────────────────\n"
      "rank-dad        1,000            1.5 (1.2 … 2)           500 ms  14 min 0 s (11 min 24 s … 18 min 20 s)\n");
  EXPECT_NE(text.find("Known steps: 40 epochs of 50000 samples from the scenario; results from 900 to 1200 steps.\n"),
            std::string::npos);
  EXPECT_NE(text.find("mean over 2 seeds"), std::string::npos);
}

TEST(ScaleTable, SaysWhatIsNotKnown) {
  Result result = sample_scale_result();
  result.scale->known.reset();
  result.scale->why_not = Statement{"batch-beyond-published", {"resnet-50"}}
                              .with("least_batch", 408.0)
                              .with("most_batch", 67'456.0)
                              .with("batch", 400.0);
  result.runs[0].at_scale->time.reset();
  const std::string text = scale_table(result, true);
  EXPECT_NE(
      text.find("The steps that resnet-50 needs are not known here: published results for resnet-50 go from a global "
                "batch of 408 to 67456"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("known steps  "), std::string::npos);
  EXPECT_EQ(text.find("= time"), std::string::npos);
}

TEST(ScaleTable, SaysWhichRunDidNotReachTheTarget) {
  Result result = sample_scale_result();
  const auto missed =
      Statement{"target-not-reached"}.with("of_gradient_sharing", false).with("seeds_missed", 1.0).with("seeds", 1.0);
  result.runs[0].at_scale = ScaleResult{{reached_at(30), std::nullopt}, {std::nullopt, missed}, {}};
  const std::string text = scale_table(result, true);
  EXPECT_NE(text.find("rank-dad: no relative steps: it did not reach the target."), std::string::npos) << text;
  EXPECT_EQ(text.find("14 min"), std::string::npos) << "no number";
}

TEST(ScaleTable, SaysWhatIsCharged) {
  Result result = sample_scale_result();
  EXPECT_NE(
      scale_table(result, true)
          .find("Charged in addition to steps × time of a step: 2.00 s per evaluation, every 100 steps and at the end"),
      std::string::npos);
  result.scale->charges = {};
  EXPECT_NE(scale_table(result, true).find("Evaluation and start-up are not charged."), std::string::npos);
}

TEST(ScaleTable, OneSeedHasNoInterval) {
  Result result = sample_scale_result();
  result.scale->seeds = 1;
  result.runs[0].at_scale->relative.ratio = estimate::Estimate{1.5, {}, {}};
  EXPECT_NE(scale_table(result, true).find("one seed has"), std::string::npos);
  EXPECT_EQ(scale_table(result, true).find("Fieller"), std::string::npos);
}

TEST(ScaleTable, ShowsEveryTargetAndHowFarTheyMove) {
  Result result = sample_scale_result();
  const auto missed =
      Statement{"target-not-reached"}.with("of_gradient_sharing", false).with("seeds_missed", 1.0).with("seeds", 2.0);
  result.runs[0].at_scale->further = {{0.97, {reached_at(70), reached_at(80)}, {estimate::Estimate{1.8, 1.6, 2.1}}},
                                      {0.99, {reached_at(90), std::nullopt}, {std::nullopt, missed}}};
  const std::string text = scale_table(result, true);
  EXPECT_NE(text.find("  to 97 %                       1.8 (1.6 … 2.1)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("rank-dad: no relative steps to 99 %: it did not reach the target with 1 of 2 seeds."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("rank-dad: relative steps from 1.5 to 1.8 over 3 targets."), std::string::npos) << text;
}

TEST(ScaleTable, StandsInTheTable) {
  const std::string text = to_table(document_of(sample_scale_result()));
  EXPECT_NE(text.find("Time to accuracy as resnet-50"), std::string::npos);
  EXPECT_NE(text.find("Learned on MLP 4-3-2 (23 parameters), batch 32 per worker, timed as resnet-50"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace dadsim::report
