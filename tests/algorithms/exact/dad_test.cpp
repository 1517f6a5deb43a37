// Tests the order in which dAD shares its matrices.
#include <gtest/gtest.h>

#include "algorithms/one_step.hpp"

namespace dadsim::algorithms {
namespace {

using test::OneStep;

OneStep::Setup setup(spec::ExchangeMode mode, bool separate) {
  OneStep::Setup result;
  result.widths = {784, 1024, 1024, 10};
  result.rows = {32, 32, 32, 32};
  result.exchange = mode;
  result.parameters = {{"separate", separate ? "true" : "false"}};
  return result;
}

// If each matrix is shared separately, six all-gathers follow the backward pass: A3, D3, A2, D2, A1, D1. Each ends
// before the next operation begins.
TEST(Dad, SeparateSharesOneMatrixAfterTheOther) {
  const OneStep step("dad", setup(spec::ExchangeMode::peer, true));
  const schedule::Schedule schedule = schedule::instantiate(step.structure, step.sizes, step.shape, step.shape, 1);
  std::vector<double> bytes;
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    const auto* compute = std::get_if<schedule::ComputeTask>(&schedule.tasks[i].what);
    const bool backward = compute != nullptr && compute->phase == step::Phase::backpropagate;
    EXPECT_FALSE(backward && !bytes.empty()) << "the backward pass is over when the first matrix leaves";
    const auto* gather = std::get_if<schedule::CollectiveTask>(&schedule.tasks[i].what);
    if (gather == nullptr) continue;
    EXPECT_EQ(gather->kind, step::CollectiveKind::all_gather);
    bytes.push_back(gather->bytes[0]);
    ASSERT_LT(i + 1, schedule.tasks.size());
    const auto* wait = std::get_if<schedule::WaitTask>(&schedule.tasks[i + 1].what);
    ASSERT_NE(wait, nullptr);
    EXPECT_EQ(wait->collective, static_cast<std::int32_t>(i));
  }
  EXPECT_EQ(bytes, (std::vector<double>{131072, 1280, 131072, 131072, 100352, 131072}));
}

TEST(Dad, SeparateSendsTheSameAndFindsTheSame) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::peer, spec::ExchangeMode::aggregator}) {
    const OneStep together("dad", setup(mode, false));
    const OneStep separate("dad", setup(mode, true));
    EXPECT_EQ(separate.uplink_bytes, together.uplink_bytes);
    EXPECT_EQ(separate.downlink_bytes, together.downlink_bytes);
    EXPECT_EQ(separate.relative_difference(together), 0);
  }
}

}  // namespace
}  // namespace dadsim::algorithms
