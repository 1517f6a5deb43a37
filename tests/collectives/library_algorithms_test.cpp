// Tests algorithms that libraries (NCCL, Gloo) have in addition to textbook algorithms.
#include <gtest/gtest.h>

#include "carry_out.hpp"
#include "collectives/closed_form.hpp"

namespace dadsim::collectives {
namespace {

TEST(HierarchicalPipelined, EveryRankEndsWithTheSumOnNodes) {
  for (const auto& [ranks, per_node] : {std::pair<Rank, Rank>{4, 2}, {6, 3}, {8, 4}, {12, 3}, {16, 8}, {24, 4}}) {
    for (const double segment_bytes : {0.0, 1200.0, 500.0, 23.0}) {
      const Case what = lay_out_case(request_for(step::CollectiveKind::all_reduce, ranks, false, 0, segment_bytes),
                                     "hierarchical-pipelined", ranks_on_nodes(ranks, per_node));
      EXPECT_EQ(CarryOut(what).wrong(), "") << what.name();
    }
  }
}

TEST(HierarchicalPipelined, BothEndsOfEveryMessageAgreeOnNodes) {
  const Case what = lay_out_case(request_for(step::CollectiveKind::all_reduce, 12, false, 0, 100),
                                 "hierarchical-pipelined", ranks_on_nodes(12, 4));
  for (std::int64_t round = 0; round < what.rounds->count(); ++round) {
    std::map<std::pair<Rank, Rank>, double> sent;
    std::map<std::pair<Rank, Rank>, double> received;
    std::vector<Transfer> transfers;
    for (Rank rank = 0; rank < 12; ++rank) {
      what.rounds->sends(rank, round, transfers);
      for (const Transfer& transfer : transfers) sent[{rank, transfer.peer}] += transfer.bytes;
      transfers.clear();
      what.rounds->receives(rank, round, transfers);
      for (const Transfer& transfer : transfers) received[{transfer.peer, rank}] += transfer.bytes;
      transfers.clear();
    }
    EXPECT_EQ(sent, received) << "round " << round;
  }
}

TEST(HierarchicalPipelined, SendsAsMuchAsTheOneWithoutSegments) {
  const RankLayout layout = ranks_on_nodes(16, 8);
  const auto bytes_of = [&](const char* algorithm) {
    const std::unique_ptr<Rounds> rounds =
        lay_out(request_for(step::CollectiveKind::all_reduce, 16, false, 0, 100), algorithm, layout);
    double bytes = 0;
    std::vector<Transfer> transfers;
    for (std::int64_t round = 0; round < rounds->count(); ++round) rounds->sends(3, round, transfers);
    for (const Transfer& transfer : transfers) bytes += transfer.bytes;
    return bytes;
  };
  EXPECT_NEAR(bytes_of("hierarchical-pipelined"), bytes_of("hierarchical"), 1e-9);
}

TEST(Nvls, LoadsAPortWithTheVectorAndAShareOfIt) {
  // NVLS sends b·(1 + 1/N) in each direction, at 0.85 of the rate.
  const Rank n = 8;
  CollectiveRequest request = request_for(step::CollectiveKind::all_reduce, n, false);
  request.bytes = {1e9};
  const std::unique_ptr<Rounds> rounds = lay_out(request, "nvls", ranks_on_nodes(n));
  EXPECT_NEAR(closed_form_seconds(*rounds, 0, 1e9), (1 + 1.0 / n) / 0.85, 1e-9);
}

TEST(Gloo, IsTheRingWithAWordBeforeEachPairOfSegmentsUpToTwoMebibytesABlock) {
  const Rank n = 4;
  for (const double bytes : {1e6, 8e6}) {
    CollectiveRequest request = request_for(step::CollectiveKind::all_reduce, n, false);
    request.bytes = {bytes};
    const double ring = closed_form_seconds(*lay_out(request, "ring", ranks_on_nodes(n)), 1e-3, 1e8);
    const double gloo = closed_form_seconds(*lay_out(request, "gloo", ranks_on_nodes(n)), 1e-3, 1e8);
    EXPECT_NEAR(gloo, ring + 2 * (n - 1) * 1e-3, 1e-9);
  }
}

TEST(Gloo, SumsLargeVectorsInMoreSegmentsAndSendsSomeTooMany) {
  // Gloo's allreduce.cc rounds numSegments up to a multiple of the ranks, and in each half sends all segments but two.
  const Rank n = 4;
  for (const double mebibytes : {40.0, 37.5}) {  // with ten segments per block, the last two are missing, or one is
                                                 // half
    CollectiveRequest request = request_for(step::CollectiveKind::all_reduce, n, false);
    request.bytes = {mebibytes * (1 << 20)};
    const Case what = lay_out_case(request, "gloo", ranks_on_nodes(n));
    EXPECT_EQ(what.rounds->count(), 2 * (4 * 10 - 2));
    EXPECT_EQ(what.rounds->pace().part, 4 * 10 - 2);
    EXPECT_EQ(CarryOut(what).wrong(), "");
  }
}

TEST(Gloo, SendsDownwardsAndGathersUpwardsInHalves) {
  CollectiveRequest request = request_for(step::CollectiveKind::all_reduce, 4, false);
  const auto first = [&] {
    std::vector<Transfer> transfers;
    lay_out(request, "gloo", ranks_on_nodes(4))->sends(1, 0, transfers);
    return transfers;
  };
  const double b = request.bytes.front();
  EXPECT_EQ(first(), (std::vector<Transfer>{{0, b / 8}}));
  request.kind = step::CollectiveKind::all_gather;
  request.bytes = {1e8};
  EXPECT_EQ(first(), (std::vector<Transfer>{{2, 5e7}})) << "halves, however large";
}

TEST(GlooParameterServer, TheRootSaysThatItIsReadyAndTheSumGoesDownATreeLowestBitFirst) {
  // With root 2, rank v + 2 has position v. Position 0 has the children 1, 2 and 4, and position 1 has the children 3
  // and 5.
  CollectiveRequest request = request_for(step::CollectiveKind::all_reduce, 6, false, 2);
  const std::unique_ptr<Rounds> rounds = lay_out(request, "gloo-parameter-server", ranks_on_nodes(6));
  ASSERT_EQ(rounds->count(), 4);
  const auto sends = [&](Rank rank, std::int64_t round) {
    std::vector<Transfer> transfers;
    rounds->sends(rank, round, transfers);
    return transfers;
  };
  const double b = request.bytes.front();
  using Transfers = std::vector<Transfer>;
  EXPECT_EQ(sends(2, 0), (Transfers{{3, 0}, {4, 0}, {5, 0}, {0, 0}, {1, 0}})) << "ready";
  EXPECT_EQ(sends(2, 2), (Transfers{{3, b}, {4, b}, {0, b}}));
  EXPECT_EQ(sends(3, 3), (Transfers{{5, b}, {1, b}}));
  const Transfers vector{{2, b}};
  for (const Rank leaf : {0, 1, 3, 4, 5}) {
    EXPECT_EQ(sends(leaf, 1), vector) << leaf;
    EXPECT_TRUE(sends(leaf, 0).empty()) << leaf;
    EXPECT_TRUE(sends(leaf, 2).empty()) << leaf;
  }
  for (const Rank done : {0, 1, 2, 4, 5}) EXPECT_TRUE(sends(done, 3).empty()) << done;
}

}  // namespace
}  // namespace dadsim::collectives
