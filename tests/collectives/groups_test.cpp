#include "collectives/groups.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "collectives/collective.hpp"

namespace dadsim::collectives {
namespace {

std::shared_ptr<const Rounds> all_reduce_of(Rank ranks, double bytes, const char* algorithm) {
  CollectiveRequest request;
  request.bytes = {bytes};
  RankLayout layout;
  for (Rank rank = 0; rank < ranks; ++rank) layout.node_of.push_back(rank);
  return lay_out(request, algorithm, layout);
}

std::vector<Transfer> sent(const Rounds& rounds, Rank rank, std::int64_t round) {
  std::vector<Transfer> out;
  rounds.sends(rank, round, out);
  return out;
}

std::vector<Transfer> received(const Rounds& rounds, Rank rank, std::int64_t round) {
  std::vector<Transfer> out;
  rounds.receives(rank, round, out);
  return out;
}

TEST(Groups, EachIsItsOwnCollectiveUnderOtherNumbers) {
  // Ranks 0, 2, 4 and ranks 5, 1 form two rings. Rank 3 is in no group.
  const std::unique_ptr<Rounds> all =
      in_groups({{all_reduce_of(3, 300, "ring"), {0, 2, 4}}, {all_reduce_of(2, 100, "ring"), {5, 1}}}, 6);
  EXPECT_EQ(all->ranks(), 6);
  EXPECT_EQ(all->count(), 4);
  EXPECT_EQ(sent(*all, 0, 0), (std::vector<Transfer>{{2, 100}}));
  EXPECT_EQ(sent(*all, 4, 3), (std::vector<Transfer>{{0, 100}}));
  EXPECT_EQ(received(*all, 0, 3), (std::vector<Transfer>{{4, 100}}));
  EXPECT_EQ(sent(*all, 1, 1), (std::vector<Transfer>{{5, 50}}));
  EXPECT_TRUE(sent(*all, 1, 2).empty());  // the second ring ends after two rounds
  EXPECT_TRUE(sent(*all, 3, 0).empty());
  EXPECT_TRUE(received(*all, 3, 0).empty());
}

TEST(Groups, ARoundOfAPhaseStandsForAllOfIt) {
  const std::unique_ptr<Rounds> all = in_groups({{all_reduce_of(3, 300, "ring"), {0, 2, 4}},
                                                 {all_reduce_of(2, 100, "ring"), {5, 1}},
                                                 {all_reduce_of(4, 64, "halving-doubling"), {6, 7, 8, 9}}},
                                                10);
  std::int64_t next = 0;
  for (const RoundPhase& phase : all->phases()) {
    EXPECT_EQ(phase.first, next);
    next += phase.rounds;
    for (std::int64_t round = phase.first; phase.uniform && round < next; ++round) {
      for (Rank rank = 0; rank < all->ranks(); ++rank) {
        EXPECT_EQ(sent(*all, rank, round), sent(*all, rank, phase.first)) << round << " " << rank;
      }
    }
  }
  EXPECT_EQ(next, all->count());
}

TEST(Groups, ARankIsInOneGroupAndAGroupAsLargeAsItsRounds) {
  EXPECT_THROW(in_groups({{one_message(1), {0, 1}}, {one_message(1), {1, 2}}}, 3), std::logic_error);
  EXPECT_THROW(in_groups({{one_message(1), {0, 1, 2}}}, 3), std::logic_error);
}

TEST(Groups, OneMessageGoesOneWay) {
  const std::unique_ptr<Rounds> message = one_message(7);
  EXPECT_EQ(sent(*message, 0, 0), (std::vector<Transfer>{{1, 7}}));
  EXPECT_EQ(received(*message, 1, 0), (std::vector<Transfer>{{0, 7}}));
  EXPECT_TRUE(sent(*message, 1, 0).empty());
  EXPECT_EQ(message->phases().size(), 1U);
}

}  // namespace
}  // namespace dadsim::collectives
