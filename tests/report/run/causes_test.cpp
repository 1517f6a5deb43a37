#include "report/run/causes.hpp"

#include <gtest/gtest.h>

#include "report/sample.hpp"

namespace dadsim::report {
namespace {

RunResult run_on(std::vector<step::Bound> bounds) {
  RunResult run = sample_run("dad", "dad");
  run.bounds = std::move(bounds);
  return run;
}

TEST(Causes, AreByKindFirstAndThenByNamesThatDifferInNumbersAlone) {
  std::vector<step::Bound> bounds{{"gpu-52", "compute", 0.15, 0.15, "a100-sxm4-80"}};
  for (int i = 0; i < 40; ++i) bounds.push_back({"nic-" + std::to_string(i) + "_UP", "bandwidth", 0.02, 0.02});
  bounds.push_back({"spine_DOWN", "bandwidth", 0.05, 0.05});
  const std::vector<Cause> causes = causes_of(run_on(bounds));
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0].kind, "bandwidth");
  EXPECT_NEAR(causes[0].share, 0.85, 1e-12);
  ASSERT_EQ(causes[0].parts.size(), 2U);
  EXPECT_EQ(causes[0].parts[0].pattern, "nic-#_UP");
  EXPECT_EQ(causes[0].parts[0].resources, 40U);
  EXPECT_NEAR(causes[0].parts[0].seconds, 0.8, 1e-12);
  EXPECT_EQ(name_of(causes[1].parts[0]), "gpu-52 (a100-sxm4-80)") << "of one resource its own name";
  EXPECT_EQ(causes_in_words(run_on(bounds)),
            "85 % of the step was bandwidth (40 links nic-#_UP 80 %, link spine_DOWN 5 %), 15 % computing (gpu-52 "
            "(a100-sxm4-80))");
}

TEST(Causes, KeepDevicesOfSeveralKindsApart) {
  const std::vector<Cause> causes = causes_of(run_on({{"gpu-1", "compute", 0.2, 0.2, "a100-sxm4-80"},
                                                      {"gpu-2", "compute", 0.5, 0.5, "h100-sxm5"},
                                                      {"gpu-10", "compute", 0.3, 0.3, "h100-sxm5"}}));
  ASSERT_EQ(causes.size(), 1U);
  ASSERT_EQ(causes[0].parts.size(), 2U);
  EXPECT_EQ(name_of(causes[0].parts[0]), "gpu-# (h100-sxm5)");
  EXPECT_EQ(causes[0].parts[0].resources, 2U);
  EXPECT_EQ(name_of(causes[0].parts[1]), "gpu-1 (a100-sxm4-80)");
  EXPECT_EQ(with_numbers_open("hospital-12-up (old)"), "hospital-#-up (old)");
}

TEST(Causes, OfNothingAreNothing) {
  EXPECT_TRUE(causes_of(run_on({})).empty());
  EXPECT_EQ(causes_in_words(run_on({})), "");
}

}  // namespace
}  // namespace dadsim::report
