// Tests how a band widens by the parts of a step that were never measured (estimate/unseen.hpp).
#include "estimate/unseen.hpp"

#include <gtest/gtest.h>

#include "estimate/bands.hpp"

namespace dadsim::estimate {
namespace {

using Names = std::vector<std::string>;

const std::vector<SeenSteps> kSeen{{"hopper", "typical", {"bf16", "fp8"}, {"sharded", "tensor"}, 64},
                                   {"hopper", "eager", {"bf16"}, {}, 1}};

TEST(Unseen, NamesEachPartThatNoStepHas) {
  EXPECT_EQ(unseen_in({"hopper", "typical", "fp8", {"tensor"}, 32}, kSeen), Names());
  EXPECT_EQ(unseen_in({"hopper", "typical", "nvfp4", {"tensor", "context"}, 65}, kSeen),
            (Names{"unseen.parallelism", "unseen.precision", "unseen.size"}));
  EXPECT_EQ(unseen_in({"hopper", "eager", "bf16", {"tensor"}, 1}, kSeen), Names{"unseen.parallelism"})
      << "divided in another program";
  EXPECT_EQ(unseen_in({"hopper", "graphs", "bf16", {}, 1}, kSeen), Names{"unseen.software"});
  EXPECT_EQ(unseen_in({"mi300x", "eager", "nvfp4", {}, 1}, kSeen), Names{"unseen.device"});
}

TEST(Unseen, WidensABandUnlessAStepOfOnesOwnIsKnown) {
  const std::vector<ErrorCategory> categories{{"compute.same-kind", {0.9, 1.1, 30}},
                                              {"unseen.size", {0.6, 1.6, 30}},
                                              {"unseen.precision", {0.95, 1.05, 30}},
                                              {"compute.own-step", {0.8, 1.2, 30}}};
  TimePart part{"compute.same-kind", 2};
  EXPECT_NEAR(band_of(std::vector{part}, categories).high, 1.1, 1e-12);
  part.unseen = {"unseen.precision"};
  EXPECT_NEAR(band_of(std::vector{part}, categories).high, 1.1, 1e-12) << "narrower than its own category";
  part.unseen.emplace_back("unseen.size");
  EXPECT_NEAR(band_of(std::vector{part}, categories).low, 0.6, 1e-12);
  EXPECT_NEAR(band_of(with_own_step({part}), categories).high, 1.2, 1e-12);
}

TEST(Unseen, StepsOfTheTableAreSeen) {
  for (const SeenSteps& one : seen_steps())
    EXPECT_EQ(unseen_in({one.device, one.program, one.precisions.front(), one.parallelism, one.devices}, seen_steps()),
              Names())
        << one.device << ", " << one.program;
}

}  // namespace
}  // namespace dadsim::estimate
