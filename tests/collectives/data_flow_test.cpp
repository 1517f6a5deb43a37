// Executes every algorithm on data, and expects that each contribution arrives exactly once.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "carry_out.hpp"

namespace dadsim::collectives {
namespace {

class DataFlow : public testing::TestWithParam<Rank> {};

TEST_P(DataFlow, EveryRankEndsWithWhatTheCollectivePromises) {
  std::set<std::string> names;
  for_every_case(GetParam(), [&](const Case& what) {
    EXPECT_EQ(CarryOut(what).wrong(), "") << what.name();
    names.insert(std::string(to_string(what.request.kind)) + what.algorithm);
  });
  // Hierarchical algorithms need nodes of two or more ranks, so 2, 3 and other primes do not support them.
  EXPECT_GE(names.size() + 2, collective_registry().size());
}

INSTANTIATE_TEST_SUITE_P(Ranks, DataFlow,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 32, 33),
                         testing::PrintToStringParamName());

TEST(DataFlow, HoldsForAnyRanksRootsSizesSegmentsAndNodes) {
  const bool held = rc::check("a collective does what it promises", [] {
    const CollectiveAlgorithm algorithm = *rc::gen::elementOf(collective_registry());
    const bool on_nodes = algorithm.name == "hierarchical";
    const Rank per_node = on_nodes ? *rc::gen::inRange<Rank>(2, 7) : 1;
    const Rank n = on_nodes ? per_node * *rc::gen::inRange<Rank>(2, 7) : *rc::gen::inRange<Rank>(1, 48);
    CollectiveRequest request = request_for(algorithm.kind, n, false, *rc::gen::inRange<Rank>(0, n));
    if (!whole_vector(algorithm.kind)) {
      request.bytes.clear();
      for (Rank rank = 0; rank < n; ++rank) request.bytes.push_back(*rc::gen::inRange(0, 4));
    }
    request.segment_bytes = *rc::gen::inRange(0, 700);
    const Case what = lay_out_case(request, algorithm.name, on_one_axis(ranks_on_nodes(n, per_node)));
    RC_ASSERT(CarryOut(what).wrong() == "");
  });
  EXPECT_TRUE(held);
}

/// Breaks the rounds by leaving out the last message, or by sending another block with it. The check must detect both.
class Broken final : public BlockRounds {
 public:
  Broken(const BlockRounds& whole, Rank rank, std::int64_t round, bool leave_out)
      : BlockRounds(whole.ranks(), BlockSizes(whole.blocks(), 1)),
        whole_(whole),
        rank_(rank),
        round_(round),
        leave_out_(leave_out) {}
  std::int64_t count() const override { return whole_.count(); }
  void sent(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    whole_.sent(rank, round, out);
    if (rank != rank_ || round != round_ || out.empty()) return;
    if (leave_out_) {
      out.pop_back();
    } else {
      out.back().reduce = !out.back().reduce;
    }
  }
  void received(Rank rank, std::int64_t round, std::vector<BlockParcel>& out) const override {
    whole_.received(rank, round, out);
  }

 private:
  const BlockRounds& whole_;
  Rank rank_;
  std::int64_t round_;
  bool leave_out_;
};

TEST(DataFlow, TheCheckSeesAMessageThatIsMissingOrAddedInsteadOfCopied) {
  for (const char* algorithm : {"ring", "halving-doubling", "recursive-doubling", "double-binary-tree", "direct"}) {
    Case what = lay_out_case(request_for(step::CollectiveKind::all_reduce, 6, false), algorithm, ranks_on_nodes(6));
    ASSERT_EQ(CarryOut(what).wrong(), "");
    const std::unique_ptr<BlockRounds> whole = std::move(what.rounds);
    for (const bool leave_out : {true, false}) {
      for (std::int64_t round = 0; round < whole->count(); ++round) {
        std::vector<BlockParcel> parcels;
        whole->sent(1, round, parcels);
        if (parcels.empty()) continue;
        what.rounds = std::make_unique<Broken>(*whole, 1, round, leave_out);
        EXPECT_NE(CarryOut(what).wrong(), "")
            << algorithm << " round " << round << (leave_out ? " left out" : " flipped");
      }
    }
  }
}

}  // namespace
}  // namespace dadsim::collectives
