#include "step/pipeline_order.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

namespace dadsim::step {
namespace {

using spec::PipelineOrder;

/// "F0 F1 B0 …": micro-batches of a stage's passes, with the piece behind a dot where there are several.
std::string in_words(const std::vector<Pass>& passes, bool pieces = false) {
  std::string text;
  for (const Pass& pass : passes) {
    text += (text.empty() ? "" : " ") + std::string(pass.forward ? "F" : "B") + std::to_string(pass.micro_batch);
    if (pieces) text += "." + std::to_string(pass.piece);
  }
  return text;
}

TEST(PipelineOrder, OneForwardOneBackwardAsInThePaper) {
  const auto orders = pipeline_order(PipelineOrder::one_f_one_b, 4, 1, 8);
  EXPECT_EQ(in_words(orders[0]), "F0 F1 F2 F3 B0 F4 B1 F5 B2 F6 B3 F7 B4 B5 B6 B7");
  EXPECT_EQ(in_words(orders[3]), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7");
}

TEST(PipelineOrder, GpipeGoesForwardFirst) {
  const auto orders = pipeline_order(PipelineOrder::gpipe, 2, 1, 3);
  EXPECT_EQ(in_words(orders[0]), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(in_words(orders[1]), "F0 F1 F2 B0 B1 B2");
}

// Narayanan et al., SC 2021, figure 4 (below): 4 stages of 2 pieces, 8 micro-batches; their first device.
TEST(PipelineOrder, PiecesTakeTurns) {
  const auto orders = pipeline_order(PipelineOrder::one_f_one_b, 4, 2, 8);
  EXPECT_EQ(in_words(orders[0], true),
            "F0.0 F1.0 F2.0 F3.0 F0.4 F1.4 F2.4 F3.4 F4.0 F5.0 F6.0 B0.4 F7.0 B1.4 F4.4 B2.4 F5.4 B3.4 F6.4 B0.0 F7.4 "
            "B1.0 B2.0 B3.0 B4.4 B5.4 B6.4 B7.4 B4.0 B5.0 B6.0 B7.0");
  for (const auto& stage : orders) {
    std::set<std::tuple<bool, std::int32_t, std::int64_t>> seen;
    for (const Pass& pass : stage) EXPECT_TRUE(seen.insert({pass.forward, pass.piece, pass.micro_batch}).second);
    EXPECT_EQ(seen.size(), 2U * 2 * 8);
  }
}

TEST(PipelineOrder, EveryPassOnceWhateverTheNumbers) {
  for (const PipelineOrder order : {PipelineOrder::gpipe, PipelineOrder::one_f_one_b}) {
    for (std::int32_t stages = 1; stages <= 5; ++stages) {
      for (std::int64_t count = 1; count <= 7; ++count) {
        const auto orders = pipeline_order(order, stages, 1, count);
        ASSERT_EQ(orders.size(), static_cast<std::size_t>(stages));
        for (std::int32_t stage = 0; stage < stages; ++stage) {
          std::map<std::pair<bool, std::int64_t>, int> times;
          std::int64_t forward = 0;
          for (const Pass& pass : orders[static_cast<std::size_t>(stage)]) {
            EXPECT_EQ(pass.piece, stage);
            ++times[{pass.forward, pass.micro_batch}];
            if (pass.forward) ++forward;
            if (!pass.forward) {
              EXPECT_GT(forward, pass.micro_batch) << "back before forth";
            }
          }
          EXPECT_EQ(times.size(), static_cast<std::size_t>(2 * count));
        }
      }
    }
  }
}

TEST(PipelineOrder, RefusesWhatDoesNotGoRound) {
  EXPECT_THROW(pipeline_order(PipelineOrder::one_f_one_b, 4, 2, 6), std::invalid_argument);
  EXPECT_NO_THROW(pipeline_order(PipelineOrder::gpipe, 4, 2, 6));
  EXPECT_THROW(pipeline_order(PipelineOrder::gpipe, 0, 1, 6), std::invalid_argument);
}

}  // namespace
}  // namespace dadsim::step
