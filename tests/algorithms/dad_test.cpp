// In which order dAD shares what it shares.
#include <gtest/gtest.h>

#include "algorithms/one_step.hpp"

namespace dadsim {
namespace {

using test::OneStep;

OneStep::Setup setup(Topology topology, bool separate) {
  OneStep::Setup result;
  result.widths = {784, 1024, 1024, 10};
  result.rows = {32, 32, 32, 32};
  result.topology = topology;
  result.parameters = {{"separate", separate ? "true" : "false"}};
  return result;
}

// The six all-gathers A3, D3, A2, D2, A1, D1 of a program that shares each matrix by itself, all after the backward
// pass and each waited for before anything else.
TEST(Dad, SeparateSharesOneMatrixAfterTheOther) {
  const OneStep step("dad", setup(Topology::peer, true));
  const Schedule schedule = instantiate(step.structure, step.sizes, step.shape, step.shape, 1);
  std::vector<double> bytes;
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    const auto* compute = std::get_if<ComputeTask>(&schedule.tasks[i].what);
    const bool backward = compute != nullptr && compute->phase == Phase::propagate;
    EXPECT_FALSE(backward && !bytes.empty()) << "the backward pass is over when the first matrix leaves";
    const auto* gather = std::get_if<CollectiveTask>(&schedule.tasks[i].what);
    if (gather == nullptr) continue;
    EXPECT_EQ(gather->kind, CollectiveKind::all_gather);
    bytes.push_back(gather->bytes[0]);
    ASSERT_LT(i + 1, schedule.tasks.size());
    const auto* wait = std::get_if<WaitTask>(&schedule.tasks[i + 1].what);
    ASSERT_NE(wait, nullptr);
    EXPECT_EQ(wait->collective, static_cast<std::int32_t>(i));
  }
  EXPECT_EQ(bytes, (std::vector<double>{131072, 1280, 131072, 131072, 100352, 131072}));
}

TEST(Dad, SeparateSendsTheSameAndFindsTheSame) {
  for (const Topology topology : {Topology::peer, Topology::aggregator}) {
    const OneStep together("dad", setup(topology, false));
    const OneStep separate("dad", setup(topology, true));
    EXPECT_EQ(separate.handed_over, together.handed_over);
    EXPECT_EQ(separate.handed_down, together.handed_down);
    EXPECT_EQ(separate.relative_difference(together), 0);
  }
}

}  // namespace
}  // namespace dadsim
