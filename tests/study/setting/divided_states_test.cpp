// Tests which states workers may shard: it depends on whether they reduce gradients, reduce other numbers, or send
// something else.
#include <gtest/gtest.h>

#include <string>

#include "study/setting/division_cases.hpp"

namespace dadsim::study {
namespace {

using namespace test_division;
using enum schedule::Among;
using enum step::CollectiveKind;

std::string run_of(const std::string& attributes) { return "<run exchange=\"peer\" algorithm=" + attributes + "/>"; }

/// Each worker computes directions from P and Q that all workers need, so P and Q must be summed whole, not scattered.
TEST(DividedStates, PowerSgdSumsPAndQWholeAndGathersParameters) {
  const std::string run = run_of(R"("power-sgd")");
  const auto plain = collectives_of(with("", 0, run));
  const auto divided = collectives_of(with(R"(sharding="optimizer")", 0, run));
  EXPECT_FALSE(divided.contains({replicas, reduce_scatter}));
  EXPECT_EQ(divided.at({replicas, all_reduce}).count, plain.at({replicas, all_reduce}).count);
  EXPECT_DOUBLE_EQ(divided.at({replicas, all_reduce}).bytes, plain.at({replicas, all_reduce}).bytes);
  const double gradients = collectives_of(with("", 0)).at({replicas, all_reduce}).bytes;
  EXPECT_DOUBLE_EQ(divided.at({replicas, all_gather}).bytes, gradients / 16);
  EXPECT_LT(plain.at({replicas, all_reduce}).bytes, gradients / 4);
}

TEST(DividedStates, AreThoseThatWhatIsSharedDoesNotNeedWhole) {
  for (const char* sharding : {"gradients", "parameters"}) {
    const std::string how = "sharding=\"" + std::string(sharding) + "\"";
    EXPECT_NE(fault_of(how, 0, run_of(R"("power-sgd")"))
                  .find("needs whole gradients, but sharding divides them; "
                        "set sharding=\"optimizer\""),
              std::string::npos);
    EXPECT_EQ(fault_of(how, 0, run_of(R"("flexible")")), "");
  }
  for (const char* statistic : {"dad", "rank-dad"}) {
    const std::string run = run_of("\"flexible\" default=\"" + std::string(statistic) + "\"");
    EXPECT_NE(fault_of(R"(sharding="optimizer")", 0, run).find("does not sum gradients, but sharding needs"),
              std::string::npos);
    EXPECT_NE(fault_of(R"(context="2")", 0, run).find("this needs workers of one device"), std::string::npos);
  }
  EXPECT_EQ(fault_of(R"(context="2")", 0, run_of(R"("power-sgd")")), "") << "devices are sites of their own";
}

TEST(DividedStates, FlexibleSharesGradientsAsGradientSharingDoes) {
  for (const char* how : {R"(sharding="parameters")", R"(context="2")", R"(expert-parallel="4")"}) {
    SCOPED_TRACE(how);
    const auto plain = collectives_of(with(how));
    const auto flexible = collectives_of(with(how, 8, run_of(R"("flexible")")));
    ASSERT_EQ(flexible.size(), plain.size());
    for (const auto& [of, sum] : plain) EXPECT_DOUBLE_EQ(flexible.at(of).bytes, sum.bytes);
  }
}

}  // namespace
}  // namespace dadsim::study
