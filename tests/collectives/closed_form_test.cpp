// Compares the α-β time of the rounds with textbook formulas.
#include "collectives/closed_form.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "carry_out.hpp"

namespace dadsim::collectives {
namespace {

constexpr double kLatency = 30e-6;
constexpr double kBandwidth = 1.25e9;
constexpr double kBytes = 4e7;

double seconds(step::CollectiveKind kind, const std::string& algorithm, Rank n, Rank per_node = 1,
               double segment_bytes = 0) {
  CollectiveRequest request = request_for(kind, n, false, 0, segment_bytes);
  request.bytes = {kBytes};
  return closed_form_seconds(*lay_out(request, algorithm, ranks_on_nodes(n, per_node)), kLatency, kBandwidth);
}

double rounds_and_bytes(double rounds, double bytes) { return rounds * kLatency + bytes / kBandwidth; }

class ClosedForm : public testing::TestWithParam<Rank> {};

TEST_P(ClosedForm, IsTheTextbooks) {
  using enum step::CollectiveKind;
  const Rank n = GetParam();
  const double b = kBytes;
  const int levels = ceil_log2(n);
  const double share = (n - 1.0) / n;
  const auto expect = [&](step::CollectiveKind kind, const char* algorithm, double rounds, double bytes) {
    const double expected = rounds_and_bytes(rounds, bytes);
    EXPECT_NEAR(seconds(kind, algorithm, n), expected, 1e-9 * expected) << to_string(kind) << " " << algorithm;
  };
  expect(all_reduce, "ring", 2 * (n - 1), 2 * share * b);
  expect(all_reduce, "direct", 2, 2 * share * b);
  expect(all_reduce, "parameter-server", 2, 2 * (n - 1) * b);
  expect(reduce_scatter, "ring", n - 1, share * b);
  expect(reduce_scatter, "direct", 1, share * b);
  expect(all_gather, "ring", n - 1, (n - 1) * b);
  expect(all_gather, "bruck", levels, (n - 1) * b);
  expect(all_gather, "direct", 1, (n - 1) * b);
  expect(broadcast, "flat", 1, (n - 1) * b);
  expect(gather, "flat", 1, (n - 1) * b);
  expect(gather, "binomial", levels, (n - 1) * b);
  expect(scatter, "flat", 1, (n - 1) * b);
  expect(scatter, "binomial", levels, (n - 1) * b);
  expect(broadcast, "binomial", levels, levels * b);
  expect(all_reduce, "reduce-broadcast", 2 * levels, 2 * levels * b);
  expect(all_to_all, "direct", 1, (n - 1) * b);
  expect(all_to_all, "pairwise", n - 1, (n - 1) * b);
  if (is_power_of_two(n)) {
    expect(all_reduce, "halving-doubling", 2 * levels, 2 * share * b);
    expect(all_reduce, "recursive-doubling", levels, levels * b);
    // The root sends to log₂N children. In each further round, the busiest rank sends to one child less.
    expect(all_reduce, "gloo-parameter-server", 2 + levels, (n - 1) * b + levels * (levels + 1) / 2.0 * b);
    expect(reduce_scatter, "recursive-halving", levels, share * b);
    expect(all_gather, "recursive-doubling", levels, (n - 1) * b);
  } else {
    const Rank power = power_of_two_within(n);
    const int folded = ceil_log2(power);
    expect(all_reduce, "halving-doubling", 2 * folded + 2, 2 * (power - 1.0) / power * b + 2 * b);
    expect(all_reduce, "recursive-doubling", folded + 2, (folded + 2) * b);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ClosedForm, testing::Values(2, 3, 4, 5, 6, 7, 8, 12, 16, 31, 32, 64, 100),
                         testing::PrintToStringParamName());

TEST(ClosedForm, OfAChainIsThatOfAPipeline) {
  for (const Rank n : {2, 3, 9}) {
    for (const double segments : {1.0, 4.0, 40.0}) {
      EXPECT_NEAR(seconds(step::CollectiveKind::broadcast, "chain", n, 1, kBytes / segments),
                  rounds_and_bytes(n - 2 + segments, (n - 2 + segments) * kBytes / segments), 1e-12);
    }
  }
}

TEST(ClosedForm, OfADoubleBinaryTreeNearsTwiceTheVectorAsSegmentsGrow) {
  // The tree takes 2·⌈log₂ N⌉ + S − 1 rounds. With many segments, the time for bytes approaches 2b/β, the bound by
  // Sanders, Speck and Träff for all-reduce.
  for (const Rank n : {4, 7, 16, 33}) {
    const int levels = ceil_log2(n);
    const double segments = 4000;
    const double time = seconds(step::CollectiveKind::all_reduce, "double-binary-tree", n, 1, kBytes / 2 / segments);
    const double bandwidth_part = time - (2 * levels + segments - 1) * kLatency;
    EXPECT_GE(bandwidth_part, 2 * kBytes / kBandwidth * (n - 1) / n);
    EXPECT_LE(bandwidth_part, 2 * kBytes / kBandwidth * (1 + 2 * levels / segments));
  }
}

TEST(ClosedForm, OfHierarchicalIsThatOfItsRings) {
  const Rank per_node = 4, nodes = 3;
  EXPECT_NEAR(seconds(step::CollectiveKind::all_reduce, "hierarchical", 12, per_node),
              rounds_and_bytes(2 * (per_node - 1) + 2 * (nodes - 1), 2.0 * (per_node - 1) / per_node * kBytes +
                                                                         2.0 * (nodes - 1) / nodes * kBytes / per_node),
              1e-12);
  EXPECT_NEAR(seconds(step::CollectiveKind::all_gather, "hierarchical", 12, per_node),
              rounds_and_bytes(per_node - 1 + nodes - 1, (per_node - 1) * nodes * kBytes + (nodes - 1) * kBytes),
              1e-12);
}

TEST(ClosedForm, OfUnequalBlocksWaitsForTheLargest) {
  CollectiveRequest request = request_for(step::CollectiveKind::all_gather, 4, false);
  request.bytes = {1000, 5000, 0, 2000};
  const RankLayout layout = ranks_on_nodes(4);
  EXPECT_DOUBLE_EQ(closed_form_seconds(*lay_out(request, "ring", layout), 1, 1000), 3 * (1 + 5));
  EXPECT_DOUBLE_EQ(closed_form_seconds(*lay_out(request, "direct", layout), 1, 1000), 1 + 15);
  request.kind = step::CollectiveKind::gather;
  EXPECT_DOUBLE_EQ(closed_form_seconds(*lay_out(request, "flat", layout), 1, 1000), 1 + 7);
}

TEST(ClosedForm, WorksOnAnyRounds) {
  /// Rank 0 sends 100 bytes in round 0 and 300 bytes in round 1.
  class TwoRounds final : public Rounds {
   public:
    Rank ranks() const override { return 2; }
    std::int64_t count() const override { return 2; }
    void sends(Rank rank, std::int64_t round, std::vector<Transfer>& out) const override {
      if (rank == 0) out.push_back({1, round == 0 ? 100.0 : 300.0});
    }
    void receives(Rank rank, std::int64_t round, std::vector<Transfer>& out) const override {
      if (rank == 1) out.push_back({0, round == 0 ? 100.0 : 300.0});
    }
    std::vector<RoundPhase> phases() const override { return {{0, 2, false}}; }
  };
  EXPECT_DOUBLE_EQ(closed_form_seconds(TwoRounds(), 1, 100), 1 + 1 + 1 + 3);
}

}  // namespace
}  // namespace dadsim::collectives
