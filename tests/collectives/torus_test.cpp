// Tests collectives that use all links of a torus with one chip per node.
#include <gtest/gtest.h>

#include "carry_out.hpp"

namespace dadsim::collectives {
namespace {

using enum step::CollectiveKind;

RankLayout on_torus(const std::vector<Rank>& sizes) {
  Rank ranks = 1;
  for (const Rank size : sizes) ranks *= size;
  RankLayout layout = ranks_on_nodes(ranks);
  layout.torus = sizes;
  layout.library = spec::CollectiveLibrary::xla;
  return layout;
}

TEST(Torus, EveryRankEndsWithWhatTheCollectivePromises) {
  for (const std::vector<Rank>& sizes :
       {std::vector<Rank>{3, 2}, {2, 2, 2}, {4, 4}, {2, 3, 4}, {1, 5}, {5, 1, 3}, {7}}) {
    const RankLayout layout = on_torus(sizes);
    for (const step::CollectiveKind kind : {all_reduce, reduce_scatter, all_gather}) {
      for (const bool uneven : {false, true}) {
        const Case what = lay_out_case(request_for(kind, layout.ranks(), uneven), "auto", layout);
        EXPECT_EQ(CarryOut(what).wrong(), "") << what.name() << ", " << sizes.size() << " axes";
        EXPECT_EQ(what.rounds->lanes(), 2 * std::ranges::count_if(sizes, [](Rank size) { return size > 1; }));
      }
    }
  }
}

/// With n ranks per axis, all links carry equal loads: a chip sends 2 (N − 1) ÷ N of the vector over its four links.
TEST(Torus, LoadsAllLinksAlike) {
  const RankLayout layout = on_torus({4, 4});
  CollectiveRequest request = request_for(all_reduce, 16, false);
  request.bytes = {1600};
  const std::unique_ptr<Rounds> rounds = lay_out(request, "auto", layout);
  std::map<Rank, double> to;
  std::vector<Transfer> transfers;
  for (std::int64_t round = 0; round < rounds->count(); ++round) rounds->sends(6, round, transfers);
  for (const Transfer& transfer : transfers) to[transfer.peer] += transfer.bytes;
  const std::map<Rank, double> expected{{2, 750}, {5, 750}, {7, 750}, {10, 750}};
  ASSERT_EQ(to.size(), expected.size());
  for (const auto& [peer, bytes] : expected) EXPECT_NEAR(to[peer], bytes, 1e-9) << peer;
  EXPECT_EQ(rounds->count(), 12) << "three on each axis, there and back";
}

TEST(Torus, BothEndsOfEveryMessageOfALaneAgree) {
  const RankLayout layout = on_torus({3, 4, 2});
  const std::unique_ptr<Rounds> rounds = lay_out(request_for(all_gather, 24, true), "torus", layout);
  for (Rank lane = 0; lane < rounds->lanes(); ++lane) {
    for (std::int64_t round = 0; round < rounds->count(); ++round) {
      std::map<std::pair<Rank, Rank>, double> sent;
      std::map<std::pair<Rank, Rank>, double> received;
      std::vector<Transfer> transfers;
      for (Rank rank = 0; rank < 24; ++rank) {
        rounds->lane_sends(rank, lane, round, transfers);
        for (const Transfer& transfer : transfers) sent[{rank, transfer.peer}] += transfer.bytes;
        transfers.clear();
        rounds->lane_receives(rank, lane, round, transfers);
        for (const Transfer& transfer : transfers) received[{transfer.peer, rank}] += transfer.bytes;
        transfers.clear();
      }
      EXPECT_EQ(sent, received) << "lane " << lane << ", round " << round;
    }
  }
}

TEST(Torus, IsWhatRanksFillInItsOrder) {
  const std::vector<std::int64_t> sizes{4, 3};
  EXPECT_EQ(grid_within(sizes, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), (std::vector<Rank>{4, 3}));
  EXPECT_EQ(grid_within(sizes, {4, 5, 6, 7}), (std::vector<Rank>{4, 1}));
  EXPECT_EQ(grid_within(sizes, {1, 5, 9}), (std::vector<Rank>{1, 3}));
  EXPECT_EQ(grid_within(sizes, {0, 2, 8, 10}), (std::vector<Rank>{2, 2})) << "every other one";
  EXPECT_EQ(grid_within(sizes, {0, 1, 2, 4}), std::vector<Rank>()) << "no grid";
  EXPECT_EQ(grid_within(sizes, {1, 0, 4, 5}), std::vector<Rank>()) << "another order";
  EXPECT_EQ(grid_within({}, {0, 1}), std::vector<Rank>());
}

TEST(Torus, IsForAChosenLibraryAndListedOnlyThere) {
  RankLayout layout = on_torus({4, 4});
  EXPECT_EQ(choose_collective(request_for(all_reduce, 16, false), layout), "torus");
  const auto fitting = fitting_algorithms(request_for(all_reduce, 16, false), layout);
  EXPECT_NE(std::ranges::find(fitting, "torus"), fitting.end());
  layout.torus.clear();
  EXPECT_EQ(choose_collective(request_for(all_reduce, 16, false), layout), "ring");
  for (const CollectiveChoice& choice : library_choices(request_for(broadcast, 16, false), layout))
    EXPECT_EQ(choice.setting, "") << "nobody sets what XLA takes";
  const auto without = fitting_algorithms(request_for(all_reduce, 16, false), layout);
  EXPECT_EQ(std::ranges::find(without, "torus"), without.end());
}

}  // namespace
}  // namespace dadsim::collectives
