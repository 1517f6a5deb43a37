// Compares the messages of devices that divide experts, by scenario, with values worked out by hand.
#include <gtest/gtest.h>

#include <string>

#include "study/setting/division_cases.hpp"

namespace dadsim::study {
namespace {

using namespace test_division;
using enum schedule::Among;
using enum step::CollectiveKind;

TEST(DividedExperts, HandOverRowsTwiceAPass) {
  for (const int group : {2, 8}) {
    const auto sums = collectives_of(with("expert-parallel=\"" + std::to_string(group) + "\""));
    // Out and back, forward and backward; bytes of one to each of the others.
    const Sum rows = sums.at({experts, all_to_all});
    EXPECT_EQ(rows.count, 4);
    EXPECT_DOUBLE_EQ(rows.bytes, 4 * kElement * kRows * 256 / group);
  }
  const auto micro = collectives_of(with(R"(expert-parallel="4" micro-batch="1" recompute="full")"));
  EXPECT_EQ(micro.at({experts, all_to_all}).count, 4 * 6) << "a forward pass more for each of four micro-batches";
  const auto uneven = collectives_of(with(R"(expert-parallel="4" expert-imbalance="1.5")"));
  EXPECT_DOUBLE_EQ(uneven.at({experts, all_to_all}).bytes, 1.5 * 4 * kElement * kRows * 256 / 4);
  const auto narrow = collectives_of(with(R"(expert-parallel="4" expert-dispatch="fp8")"));
  EXPECT_DOUBLE_EQ(narrow.at({experts, all_to_all}).bytes, (2 * kElement + 2 * (1 + 4.0 / 128)) * kRows * 256 / 4)
      << "there a byte and a 128th of a scale, back as before";
}

// Two experts drawn evenly among 4 devices are on 4 (1 − (3/4)²) = 1.75 different devices. A quarter of an all-to-all
// stays where it is; all bytes counted in Hybrid-EP's table are sent. Its kernels reach 0.774 + 0.057 of a message.
TEST(DividedExperts, HandRowsOverOnceToEachDevice) {
  const auto plain = collectives_of(with(R"(expert-parallel="4")"));
  const auto once = collectives_of(with(R"(expert-parallel="4" expert-exchange="once")"));
  EXPECT_EQ(once.at({experts, all_to_all}).count, plain.at({experts, all_to_all}).count);
  EXPECT_NEAR(once.at({experts, all_to_all}).bytes / plain.at({experts, all_to_all}).bytes,
              1.75 / 2 * 4 / 3 / (0.774 + 0.057), 1e-9);
}

TEST(DividedExperts, TakeNoLessThanTheirLaunches) {
  const auto seconds = [](const std::string& how) {
    return run_experiment(with(how), false).runs.front().step_seconds;
  };
  const double ahead = seconds(R"(expert-parallel="4")");
  const double counted = seconds(R"(expert-parallel="4" expert-launch="counted")");
  const double launches = 6.7e-3 + 2 * 0.144e-3;  // one block, two of 8 experts on each device
  EXPECT_LT(ahead, launches);
  EXPECT_GT(counted, launches);
  EXPECT_LT(counted, launches + ahead);
  const double twice = seconds(R"(expert-parallel="4" expert-launch="counted" micro-batch="2")");
  EXPECT_GT(twice, 2 * launches);
  const double again = seconds(R"(expert-parallel="4" expert-launch="counted" recompute="full")");
  EXPECT_NEAR(again - counted, launches / 3, 0.1 * launches) << "the pass forward once more";
}

TEST(DividedExperts, SumGradientsAmongThoseThatHaveTheSame) {
  const auto whole = collectives_of(with(""));
  const double all = whole.at({replicas, all_reduce}).bytes;
  EXPECT_FALSE(whole.contains({experts, all_to_all}));
  for (const int group : {2, 4, 8}) {
    const auto sums = collectives_of(with("expert-parallel=\"" + std::to_string(group) + "\""));
    EXPECT_DOUBLE_EQ(sums.at({replicas, all_reduce}).bytes, all - kElement * 8 * kExpert);
    EXPECT_DOUBLE_EQ(sums.at({expert_copies, all_reduce}).bytes, kElement * 8 / group * kExpert);
  }
  const auto alone = collectives_of(with(R"(expert-parallel="16")", 16));
  EXPECT_FALSE(alone.contains({expert_copies, all_reduce})) << "nobody else has them";
}

TEST(DividedExperts, ShardWhatTheyHaveAmongCopies) {
  const auto sums = collectives_of(with(R"(expert-parallel="4" sharding="parameters")"));
  EXPECT_DOUBLE_EQ(sums.at({expert_copies, reduce_scatter}).bytes, kElement * 2 * kExpert);
  EXPECT_DOUBLE_EQ(sums.at({expert_copies, all_gather}).bytes, 2 * kElement * 2 * kExpert / 4) << "for both passes";
}

TEST(DividedExperts, TakePartOfTheRowsOfALayerThatIsDivided) {
  const auto sums = collectives_of(with(R"(expert-parallel="4" tensor="2" sequence-parallel="true")"));
  EXPECT_DOUBLE_EQ(sums.at({experts, all_to_all}).bytes, 4 * kElement * kRows / 2 * 256 / 4);
  EXPECT_DOUBLE_EQ(sums.at({expert_copies, all_reduce}).bytes, kElement * 2 * kExpert) << "experts are whole";
}

TEST(DividedExperts, AreSimulatedAndMessagesAgreeWithFlow) {
  for (const char* how : {R"(expert-parallel="2")", R"(expert-parallel="8" micro-batch="2")",
                          R"(expert-parallel="16" sharding="optimizer")",
                          R"(expert-parallel="4" micro-batch="1" expert-launch="counted" expert-exchange="once")",
                          R"(expert-parallel="4" tensor="2" sequence-parallel="true" pipeline="2" micro-batch="1")"}) {
    SCOPED_TRACE(how);
    EXPECT_NEAR(flow_by_message(with(how, 16)), 1, 5e-3);
  }
}

TEST(DividedExperts, NeedWholeGroupsAndGradients) {
  EXPECT_NE(fault_of(R"(expert-parallel="16")").find("has 8 experts, which 16 devices cannot share equally"),
            std::string::npos);
  EXPECT_NE(fault_of(R"(expert-parallel="4" pipeline="2" tensor="8")").find("no multiple of the 8"), std::string::npos);
  EXPECT_NE(fault_of(R"(expert-parallel="3")", 9).find("does not divide the 16 devices of a stage"), std::string::npos);
  EXPECT_NE(fault_of(R"(expert-imbalance="2")").find("is of divided experts"), std::string::npos);
  EXPECT_NE(fault_of("", 8, R"(<run algorithm="rank-dad" exchange="peer"/>)").find("works on the matrix of a layer"),
            std::string::npos);
  EXPECT_NE(fault_of("", 8, R"(<run algorithm="power-sgd" exchange="peer"/>)").find("works on the matrix of a layer"),
            std::string::npos);
}

}  // namespace
}  // namespace dadsim::study
