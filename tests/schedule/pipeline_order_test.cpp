#include "schedule/pipeline_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace dadsim::schedule {
namespace {

using spec::PipelineOrder;

/// Prints a stage's passes as "F0 F1 B0 …", with micro-batches as numbers. With several model chunks, the chunk follows
/// a dot. I and W are the two halves of a backward pass.
std::string in_words(const std::vector<PipelinePass>& passes, bool pieces = false) {
  std::string text;
  for (const PipelinePass& pass : passes) {
    text += (text.empty() ? "" : " ") + std::string(1, "FBIW"[static_cast<int>(pass.kind)]) +
            std::to_string(pass.micro_batch);
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

// Narayanan et al., SC 2021, show this order of the first device in figure 4 (bottom): 4 stages of 2 model chunks, 8
// micro-batches.
TEST(PipelineOrder, PiecesTakeTurns) {
  const auto orders = pipeline_order(PipelineOrder::one_f_one_b, 4, 2, 8);
  EXPECT_EQ(in_words(orders[0], true),
            "F0.0 F1.0 F2.0 F3.0 F0.4 F1.4 F2.4 F3.4 F4.0 F5.0 F6.0 B0.4 F7.0 B1.4 F4.4 B2.4 F5.4 B3.4 F6.4 B0.0 F7.4 "
            "B1.0 B2.0 B3.0 B4.4 B5.4 B6.4 B7.4 B4.0 B5.0 B6.0 B7.0");
  for (const auto& stage : orders) {
    std::set<std::tuple<bool, std::int32_t, std::int64_t>> seen;
    for (const PipelinePass& pass : stage)
      EXPECT_TRUE(seen.insert({pass.forward(), pass.piece, pass.micro_batch}).second);
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
          for (const PipelinePass& pass : orders[static_cast<std::size_t>(stage)]) {
            EXPECT_EQ(pass.piece, stage);
            ++times[{pass.forward(), pass.micro_batch}];
            if (pass.forward()) ++forward;
            if (!pass.forward()) {
              EXPECT_GT(forward, pass.micro_batch) << "back before forth";
            }
          }
          EXPECT_EQ(times.size(), static_cast<std::size_t>(2 * count));
        }
      }
    }
  }
}

/// Returns the time at which all stages have ended, given the time of each kind of pass. Messages take no time.
double makespan(const std::vector<std::vector<PipelinePass>>& orders, const spec::ParallelismSpec& how, double forward,
                double inputs, double weights) {
  std::map<std::tuple<bool, std::int32_t, std::int64_t>, double> done;
  std::vector<std::size_t> next(orders.size(), 0);
  std::vector<double> now(orders.size(), 0);
  const std::int32_t last = how.pipeline * how.interleave - 1;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < orders.size(); ++s) {
      if (next[s] == orders[s].size()) continue;
      const PipelinePass& pass = orders[s][next[s]];
      EXPECT_EQ(how.stage_of(pass.piece), static_cast<std::int32_t>(s));
      double from = 0;
      if (pass.kind != PassKind::weights) {
        const bool turns = !pass.forward() && pass.piece == last;
        const std::int32_t before = turns ? last : pass.piece + (pass.forward() ? -1 : 1);
        if (before >= 0) {
          const auto found = done.find({pass.forward() || turns, before, pass.micro_batch});
          if (found == done.end()) continue;
          from = found->second;
        }
      }
      const double own[] = {forward, inputs + weights, inputs, weights};
      now[s] = std::max(now[s], from) + own[static_cast<int>(pass.kind)];
      if (pass.kind != PassKind::weights) done[{pass.forward(), pass.piece, pass.micro_batch}] = now[s];
      ++next[s];
      moved = true;
    }
  }
  for (std::size_t s = 0; s < orders.size(); ++s) EXPECT_EQ(next[s], orders[s].size()) << "stages wait for one another";
  return *std::max_element(now.begin(), now.end());
}

/// Returns the largest number of micro-batches whose activations a stage keeps, over all its model chunks.
int most_kept(const std::vector<PipelinePass>& passes) {
  int kept = 0;
  int most = 0;
  for (const PipelinePass& pass : passes) {
    if (pass.forward()) most = std::max(most, ++kept);
    if (pass.kind == PassKind::backward || pass.kind == PassKind::weights) --kept;
  }
  return most;
}

// Qi et al., arXiv:2401.10241, show this order in figure 3: 4 stages, 8 micro-batches.
TEST(PipelineOrder, GradientsOfWeightsWaitUntilTheEnd) {
  const auto orders = pipeline_order(PipelineOrder::zero_bubble, 4, 1, 8);
  EXPECT_EQ(in_words(orders[0]), "F0 F1 F2 F3 B0 F4 B1 F5 B2 F6 B3 F7 B4 B5 B6 B7");
  EXPECT_EQ(in_words(orders[3]), "F0 I0 F1 I1 F2 I2 F3 B3 F4 B4 F5 B5 F6 B6 F7 I7 W0 W1 W2 W7");
  for (std::int32_t stages = 2; stages <= 6; ++stages) {
    for (std::int64_t count = 1; count <= 12; ++count) {
      SCOPED_TRACE(std::to_string(stages) + " stages, " + std::to_string(count) + " micro-batches");
      const spec::ParallelismSpec how{.pipeline = stages, .order = PipelineOrder::zero_bubble};
      const auto waiting = pipeline_order(PipelineOrder::zero_bubble, stages, 1, count);
      const double before = makespan(pipeline_order(PipelineOrder::one_f_one_b, stages, 1, count), how, 1, 1, 1);
      const double now = makespan(waiting, how, 1, 1, 1);
      EXPECT_LE(now, before);
      if (count >= stages) {
        EXPECT_LE(now - 3.0 * static_cast<double>(count), (before - 3.0 * static_cast<double>(count)) / 2);
        for (const auto& stage : waiting) EXPECT_EQ(most_kept(stage), stages);
      }
    }
  }
}

// The table in github.com/deepseek-ai/DualPipe has PP + 1 activations for PP = 2 S chunks.
TEST(PipelineOrder, PiecesThereAndBack) {
  for (std::int32_t stages = 2; stages <= 6; ++stages) {
    for (std::int64_t count = 2 * stages; count <= 2 * stages + 3; ++count) {
      SCOPED_TRACE(std::to_string(stages) + " stages, " + std::to_string(count) + " micro-batches");
      const spec::ParallelismSpec how{.pipeline = stages, .interleave = 2, .order = PipelineOrder::dualpipe_v};
      const auto orders = pipeline_order(PipelineOrder::dualpipe_v, stages, 2, count);
      std::map<std::tuple<PassKind, std::int32_t, std::int64_t>, int> times;
      for (const auto& stage : orders) {
        EXPECT_EQ(most_kept(stage), 2 * stages + 1);
        for (const PipelinePass& pass : stage) ++times[{pass.kind, pass.piece, pass.micro_batch}];
      }
      for (std::int32_t piece = 0; piece < 2 * stages; ++piece) {
        for (std::int64_t batch = 0; batch < count; ++batch) {
          const auto of = [&](PassKind kind) { return times[{kind, piece, batch}]; };
          EXPECT_EQ(of(PassKind::forward), 1);
          EXPECT_EQ(of(PassKind::backward) + of(PassKind::inputs), 1);
          EXPECT_EQ(of(PassKind::inputs), of(PassKind::weights));
        }
      }
      // A stage has two chunks of half a stage each, so the bubble is (S − 1) F.
      EXPECT_DOUBLE_EQ(makespan(orders, how, 0.5, 0.5, 0.5), 3.0 * static_cast<double>(count) + 0.5 * (stages - 1));
    }
  }
}

TEST(PipelineOrder, RefusesWhatDoesNotGoRound) {
  EXPECT_THROW(pipeline_order(PipelineOrder::zero_bubble, 4, 2, 8), std::invalid_argument);
  EXPECT_THROW(pipeline_order(PipelineOrder::dualpipe_v, 4, 1, 8), std::invalid_argument);
  EXPECT_THROW(pipeline_order(PipelineOrder::dualpipe_v, 4, 2, 7), std::invalid_argument);
  EXPECT_THROW(pipeline_order(PipelineOrder::one_f_one_b, 4, 2, 6), std::invalid_argument);
  EXPECT_NO_THROW(pipeline_order(PipelineOrder::gpipe, 4, 2, 6));
  EXPECT_THROW(pipeline_order(PipelineOrder::gpipe, 0, 1, 6), std::invalid_argument);
}

}  // namespace
}  // namespace dadsim::schedule
