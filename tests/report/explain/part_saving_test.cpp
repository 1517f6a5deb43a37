#include <gtest/gtest.h>

#include "report/explain/explanation.hpp"
#include "report/explanation_sample.hpp"

namespace dadsim::report {
namespace {

/// A run that waits for what `bounds` say, with what each change saves of it.
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

// Half of what lies on the critical path is hoped for: less than a quarter of that has its reason.
TEST(PartSaving, WhatSavesMuchLessThanHalfOfItsShareSaysWhy) {
  const std::vector<step::Bound> bounds{{"up", "bandwidth", 3, 0.6}, {"site-1", "compute", 2, 0.4}};
  EXPECT_TRUE(Checked(bounds).with(WhatIf::Kind::bandwidth, "up", 0.07).of(0, 0).why_not);
  EXPECT_FALSE(Checked(bounds).with(WhatIf::Kind::bandwidth, "up", 0.08).of(0, 0).why_not);
  EXPECT_TRUE(Checked(bounds).of(0, 0).why_not) << "nothing was tried";
}

// Against half of all that a change makes faster, and not of the one part: latencies lie on many links.
TEST(PartSaving, WhatSavesMoreThanHalfOfAllThatItSpeedsUpSaysWhy) {
  const std::vector<step::Bound> bounds{
      {"site-1", "compute", 2, 0.6}, {"up", "latency", 1, 0.2}, {"hub", "latency", 1, 0.2}};
  EXPECT_FALSE(Checked(bounds).with(WhatIf::Kind::latency, "*", 0.24).of(1, 0).why_more);
  EXPECT_TRUE(Checked(bounds).with(WhatIf::Kind::latency, "*", 0.26).of(1, 0).why_more);
}

}  // namespace
}  // namespace dadsim::report
