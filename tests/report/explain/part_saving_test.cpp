#include <gtest/gtest.h>

#include "report/explain/explanation.hpp"
#include "report/explanation_sample.hpp"

namespace dadsim::report {
namespace {

/// Explains a run with these bounds, and with the time that each tried change saves.
class Checked {
 public:
  explicit Checked(std::vector<step::Bound> bounds) {
    explanation_.result = sample_result();
    explanation_.result.runs[0].bounds = std::move(bounds);
  }
  Checked& with(WhatIf::Kind kind, const std::string& on, double saves) {
    const RunResult& run = explanation_.result.runs[0];
    explanation_.what_ifs.push_back({kind,
                                     on,
                                     2,
                                     Statement{"network-without-limits"},
                                     {},
                                     {{run.step_seconds * (1 - saves), run.target_seconds * (1 - saves)}}});
    return *this;
  }
  PartSaving of(std::size_t cause, std::size_t part) const {
    const std::vector<Cause> causes = causes_of(explanation_.result.runs[0]);
    return saving_of_part(explanation_, 0, causes.at(cause), causes.at(cause).parts.at(part));
  }

 private:
  Explanation explanation_;
};

// Twice the speed should save half of a part's share of the critical path. If it saves less than a quarter of that, the
// report gives a reason.
TEST(PartSaving, WhatSavesMuchLessThanHalfOfItsShareSaysWhy) {
  const std::vector<step::Bound> bounds{{"up", "bandwidth", 3, 0.6}, {"site-1", "compute", 2, 0.4}};
  EXPECT_TRUE(Checked(bounds).with(WhatIf::Kind::bandwidth, "up", 0.07).of(0, 0).why_not);
  EXPECT_FALSE(Checked(bounds).with(WhatIf::Kind::bandwidth, "up", 0.08).of(0, 0).why_not);
  EXPECT_TRUE(Checked(bounds).of(0, 0).why_not) << "nothing was tried";
}

// Many links have latencies, so a saving is compared with half of all shares that the change reduces, not of one part.
TEST(PartSaving, WhatSavesMoreThanHalfOfAllThatItSpeedsUpSaysWhy) {
  const std::vector<step::Bound> bounds{
      {"site-1", "compute", 2, 0.6}, {"up", "latency", 1, 0.2}, {"hub", "latency", 1, 0.2}};
  EXPECT_FALSE(Checked(bounds).with(WhatIf::Kind::latency, "*", 0.24).of(1, 0).why_more);
  EXPECT_TRUE(Checked(bounds).with(WhatIf::Kind::latency, "*", 0.26).of(1, 0).why_more);
}

// Halving the latencies of all links is also the trial for queueing, but does not halve queueing.
TEST(PartSaving, ALatencyIsMeasuredAgainstLatencyAlone) {
  const std::vector<step::Bound> bounds{{"up", "bandwidth", 3, 0.6},
                                        {"hub", "latency", 1, 0.12},
                                        {"down", "latency", 1, 0.08},
                                        {"hub", "queueing", 1, 0.2}};
  EXPECT_TRUE(Checked(bounds).with(WhatIf::Kind::latency, "*", 0.15).of(1, 0).why_more);
  EXPECT_FALSE(Checked(bounds).with(WhatIf::Kind::latency, "*", 0.11).of(1, 0).why_more);
}

TEST(Headline, SaysWhyTheMostHelpfulChangeSavesMoreThanItsShare) {
  Explanation explanation = sample_explanation();
  explanation.result.runs[0].bounds = {{"up", "bandwidth", 2, 0.7}, {"hub", "latency", 1, 0.3}};
  explanation.result.runs[0].network.links = {{"wan", "tcp", "a model", 1e6, 0.9, 2}};
  const auto helpful = [&](double saves) {
    const RunResult& run = explanation.result.runs[0];
    explanation.what_ifs[0].effects = {{run.step_seconds, run.target_seconds}};
    explanation.what_ifs[1].effects = {{run.step_seconds * (1 - saves), run.target_seconds * (1 - saves)}};
    return in_words(headline_of(explanation, answer_to(explanation.result)).back());
  };
  EXPECT_EQ(helpful(0.18), "What helps most is half the latency of all links: 18 % of the time to the target saved.");
  const std::string because =
      "What helps most is half the latency of all links: 26 % of the time to the target saved; latency is 30 % of the "
      "step, counted where nothing hides it; ";
  EXPECT_EQ(helpful(0.26), because + "over TCP, windows grow by round trips.");
  explanation.result.runs[0].bounds = {
      {"up", "bandwidth", 2, 0.5}, {"hub", "latency", 1, 0.3}, {"hub", "queueing", 1, 0.2}};
  EXPECT_EQ(helpful(0.26), because + "queueing and loss over TCP (20 %) depend on round trips and shorten with it.");
}

}  // namespace
}  // namespace dadsim::report
