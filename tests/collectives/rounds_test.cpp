// Tests the rounds of every algorithm: sender and receiver agree, phases are right, and bytes are those of textbooks.
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <map>

#include "carry_out.hpp"

namespace dadsim::collectives {
namespace {

using Pairs = std::map<std::pair<Rank, Rank>, double>;

Pairs messages_sent(const Rounds& rounds, std::int64_t round) {
  Pairs pairs;
  std::vector<Transfer> messages;
  for (Rank from = 0; from < rounds.ranks(); ++from) {
    messages.clear();
    rounds.sends(from, round, messages);
    for (const Transfer& message : messages) {
      EXPECT_TRUE(message.peer >= 0 && message.peer < rounds.ranks() && message.peer != from);
      EXPECT_TRUE(pairs.emplace(std::pair{from, message.peer}, message.bytes).second) << "two messages of a pair";
    }
  }
  return pairs;
}

Pairs messages_received(const Rounds& rounds, std::int64_t round) {
  Pairs pairs;
  std::vector<Transfer> messages;
  for (Rank to = 0; to < rounds.ranks(); ++to) {
    messages.clear();
    rounds.receives(to, round, messages);
    for (const Transfer& message : messages) {
      EXPECT_TRUE(pairs.emplace(std::pair{message.peer, to}, message.bytes).second) << "two messages of a pair";
    }
  }
  return pairs;
}

using Parcels = std::map<std::pair<Rank, Rank>, std::vector<BlockParcel>>;

Parcels parcels(const BlockRounds& rounds, std::int64_t round, bool sent) {
  Parcels pairs;
  std::vector<BlockParcel> all;
  for (Rank rank = 0; rank < rounds.ranks(); ++rank) {
    all.clear();
    sent ? rounds.sent(rank, round, all) : rounds.received(rank, round, all);
    for (BlockParcel parcel : all) {
      std::vector<BlockParcel>& of_pair = pairs[sent ? std::pair{rank, parcel.peer} : std::pair{parcel.peer, rank}];
      parcel.peer = 0;
      of_pair.push_back(parcel);
    }
  }
  for (auto& [pair, of_pair] : pairs) {
    std::sort(of_pair.begin(), of_pair.end(),
              [](const BlockParcel& a, const BlockParcel& b) { return a.first < b.first; });
  }
  return pairs;
}

/// Returns the largest number of bytes that any rank sends or receives.
double busiest(const Pairs& pairs) {
  std::map<Rank, double> out, in;
  double most = 0;
  for (const auto& [pair, bytes] : pairs) {
    most = std::max(most, out[pair.first] += bytes);
    most = std::max(most, in[pair.second] += bytes);
  }
  return most;
}

class EveryRounds : public testing::TestWithParam<Rank> {};

TEST_P(EveryRounds, WhatIsReceivedIsWhatWasSent) {
  for_every_case(GetParam(), [](const Case& what) {
    for (std::int64_t round = 0; round < what.rounds->count(); ++round) {
      ASSERT_EQ(messages_sent(*what.rounds, round), messages_received(*what.rounds, round))
          << what.name() << " " << round;
      ASSERT_EQ(parcels(*what.rounds, round, true), parcels(*what.rounds, round, false)) << what.name() << " " << round;
    }
  });
}

TEST_P(EveryRounds, PhasesCoverAllRoundsAndAlikeOnesAreAlike) {
  for_every_case(GetParam(), [](const Case& what) {
    std::int64_t next = 0;
    for (const RoundPhase& phase : what.rounds->phases()) {
      ASSERT_EQ(phase.first, next) << what.name();
      ASSERT_GT(phase.rounds, 0) << what.name();
      next += phase.rounds;
      EXPECT_TRUE(phase.uniform || phase.rounds > 1) << what.name();
      if (!phase.uniform) continue;
      const Pairs first = messages_sent(*what.rounds, phase.first);
      for (std::int64_t round = phase.first + 1; round < next; ++round) {
        ASSERT_EQ(messages_sent(*what.rounds, round), first) << what.name() << " round " << round;
      }
    }
    EXPECT_EQ(next, what.rounds->count()) << what.name();
  });
}

TEST_P(EveryRounds, TheBusiestRankIsTheOneInTheMessages) {
  for_every_case(GetParam(), [](const Case& what) {
    for (std::int64_t round = 0; round < what.rounds->count(); ++round) {
      ASSERT_NEAR(what.rounds->busiest_bytes(round), busiest(messages_sent(*what.rounds, round)), 1e-9)
          << what.name() << " round " << round;
    }
  });
}

TEST_P(EveryRounds, NoRoundIsEmpty) {
  for_every_case(GetParam(), [](const Case& what) {
    for (std::int64_t round = 0; round < what.rounds->count(); ++round) {
      ASSERT_FALSE(messages_sent(*what.rounds, round).empty()) << what.name() << " round " << round;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, EveryRounds, testing::Range<Rank>(1, 41), testing::PrintToStringParamName());

Case case_of(step::CollectiveKind kind, const std::string& algorithm, Rank n, double bytes, Rank per_node = 1,
             double segment_bytes = 0) {
  CollectiveRequest request = request_for(kind, n, false, 0, segment_bytes);
  request.bytes = {bytes};
  return lay_out_case(request, algorithm, ranks_on_nodes(n, per_node));
}

double bytes_sent(const Rounds& rounds, Rank rank) {
  double total = 0;
  std::vector<Transfer> messages;
  for (std::int64_t round = 0; round < rounds.count(); ++round) rounds.sends(rank, round, messages);
  for (const Transfer& message : messages) total += message.bytes;
  return total;
}

double bytes_of_all(const Rounds& rounds) {
  double total = 0;
  for (Rank rank = 0; rank < rounds.ranks(); ++rank) total += bytes_sent(rounds, rank);
  return total;
}

TEST(OneRank, HasNothingToDo) {
  for_every_case(1, [](const Case& what) {
    EXPECT_EQ(what.rounds->count(), 0) << what.name();
    EXPECT_TRUE(what.rounds->phases().empty()) << what.name();
  });
}

TEST(Ring, SendsToTheNextRankBlockByBlock) {
  const Case what = case_of(step::CollectiveKind::all_reduce, "ring", 5, 1000);
  ASSERT_EQ(what.rounds->count(), 8);
  for (Rank rank = 0; rank < 5; ++rank) {
    for (std::int64_t round = 0; round < 8; ++round) {
      std::vector<BlockParcel> sent;
      what.rounds->sent(rank, round, sent);
      const Rank block = static_cast<Rank>(((rank - round) % 5 + 5) % 5);
      EXPECT_EQ(sent, (std::vector<BlockParcel>{{(rank + 1) % 5, block, 1, round < 4}}));
      EXPECT_EQ(what.rounds->run_bytes(block, 1), 200);
    }
  }
}

TEST(Ring, BlocksAreNotRounded) {
  const Case what = case_of(step::CollectiveKind::all_reduce, "ring", 3, 1000);
  std::vector<Transfer> sent;
  what.rounds->sends(0, 0, sent);
  EXPECT_EQ(sent, (std::vector<Transfer>{{1, 1000.0 / 3}}));
}

TEST(Ring, IsOneAlikePhaseExceptWithUnequalBlocks) {
  EXPECT_TRUE(case_of(step::CollectiveKind::all_reduce, "ring", 6, 1000).rounds->phases().front().uniform);
  EXPECT_EQ(case_of(step::CollectiveKind::all_reduce, "ring", 6, 1000).rounds->phases().front().rounds, 10);
  CollectiveRequest request = request_for(step::CollectiveKind::all_gather, 6, true);
  EXPECT_FALSE(lay_out(request, "ring", ranks_on_nodes(6))->phases().front().uniform);
  request.bytes.assign(6, 70.0);  // six sizes, given one by one and equal
  EXPECT_TRUE(lay_out(request, "ring", ranks_on_nodes(6))->phases().front().uniform);
}

TEST(Bytes, PerRankAreTheTextbooks) {
  const double b = 1e6;
  for (const Rank n : {2, 3, 4, 7, 8, 16, 33}) {
    const double share = (n - 1.0) / n * b;
    for (Rank rank = 0; rank < n; ++rank) {
      const auto sent = [&](step::CollectiveKind kind, const std::string& algorithm) {
        return bytes_sent(*case_of(kind, algorithm, n, b).rounds, rank);
      };
      EXPECT_NEAR(sent(step::CollectiveKind::all_reduce, "ring"), 2 * share, 1e-3);
      EXPECT_NEAR(sent(step::CollectiveKind::all_reduce, "direct"), 2 * share, 1e-3);
      EXPECT_NEAR(sent(step::CollectiveKind::reduce_scatter, "ring"), share, 1e-3);
      EXPECT_NEAR(sent(step::CollectiveKind::reduce_scatter, "direct"), share, 1e-3);
      EXPECT_NEAR(sent(step::CollectiveKind::all_gather, "ring"), (n - 1) * b, 1e-3);
      EXPECT_NEAR(sent(step::CollectiveKind::all_gather, "bruck"), (n - 1) * b, 1e-3);
      EXPECT_NEAR(sent(step::CollectiveKind::all_gather, "direct"), (n - 1) * b, 1e-3);
      EXPECT_NEAR(sent(step::CollectiveKind::all_to_all, "direct"), (n - 1) * b, 1e-3);
      EXPECT_NEAR(sent(step::CollectiveKind::all_to_all, "pairwise"), (n - 1) * b, 1e-3);
      EXPECT_NEAR(sent(step::CollectiveKind::all_reduce, "parameter-server"), rank == 0 ? (n - 1) * b : b, 1e-3);
      if (is_power_of_two(n)) {
        EXPECT_NEAR(sent(step::CollectiveKind::all_reduce, "halving-doubling"), 2 * share, 1e-3);
        EXPECT_NEAR(sent(step::CollectiveKind::all_reduce, "recursive-doubling"), ceil_log2(n) * b, 1e-3);
        EXPECT_NEAR(sent(step::CollectiveKind::reduce_scatter, "recursive-halving"), share, 1e-3);
        EXPECT_NEAR(sent(step::CollectiveKind::all_gather, "recursive-doubling"), (n - 1) * b, 1e-3);
      }
    }
  }
}

TEST(Bytes, OfAllRanksTogetherAreTheTextbooks) {
  const double b = 1e6;
  for (const Rank n : {2, 3, 4, 7, 8, 16, 33}) {
    const auto all = [&](step::CollectiveKind kind, const std::string& algorithm) {
      return bytes_of_all(*case_of(kind, algorithm, n, b).rounds);
    };
    // In the trees, every rank but the root sends and receives the vector once.
    EXPECT_NEAR(all(step::CollectiveKind::all_reduce, "double-binary-tree"), 2 * (n - 1) * b, 1e-3);
    EXPECT_NEAR(all(step::CollectiveKind::all_reduce, "reduce-broadcast"), 2 * (n - 1) * b, 1e-3);
    EXPECT_NEAR(all(step::CollectiveKind::all_reduce, "gloo-parameter-server"), 2 * (n - 1) * b, 1e-3);
    EXPECT_NEAR(all(step::CollectiveKind::broadcast, "flat"), (n - 1) * b, 1e-3);
    EXPECT_NEAR(all(step::CollectiveKind::broadcast, "binomial"), (n - 1) * b, 1e-3);
    EXPECT_NEAR(all(step::CollectiveKind::broadcast, "chain"), (n - 1) * b, 1e-3);
    EXPECT_NEAR(all(step::CollectiveKind::gather, "flat"), (n - 1) * b, 1e-3);
    EXPECT_NEAR(all(step::CollectiveKind::scatter, "flat"), (n - 1) * b, 1e-3);
    // A block for place p crosses one edge per set bit of p.
    double edges = 0;
    for (Rank place = 0; place < n; ++place) edges += __builtin_popcount(static_cast<unsigned>(place));
    EXPECT_NEAR(all(step::CollectiveKind::gather, "binomial"), edges * b, 1e-3);
    EXPECT_NEAR(all(step::CollectiveKind::scatter, "binomial"), edges * b, 1e-3);
    // Ranks beyond the power of two send their vector before, and receive the sum afterwards.
    const Rank power = power_of_two_within(n);
    EXPECT_NEAR(all(step::CollectiveKind::all_reduce, "halving-doubling"), (2 * (power - 1) + 2 * (n - power)) * b,
                1e-3);
    EXPECT_NEAR(all(step::CollectiveKind::all_reduce, "recursive-doubling"),
                (power * ceil_log2(power) + 2 * (n - power)) * b, 1e-3);
  }
}

TEST(Bytes, HierarchicalSendsAShardBetweenTheNodes) {
  const Case what = case_of(step::CollectiveKind::all_reduce, "hierarchical", 12, 1200, 4);  // 3 nodes of 4 ranks
  double inside = 0, between = 0;
  for (std::int64_t round = 0; round < what.rounds->count(); ++round) {
    for (const auto& [pair, bytes] : messages_sent(*what.rounds, round)) {
      (pair.first / 4 == pair.second / 4 ? inside : between) += bytes;
    }
  }
  EXPECT_NEAR(inside, 12 * 2 * 3.0 / 4 * 1200, 1e-6);
  EXPECT_NEAR(between, 12 * 2 * 2.0 / 3 * 1200 / 4, 1e-6);
  EXPECT_EQ(what.rounds->count(), 3 + 4 + 3);
  EXPECT_EQ(what.rounds->phases().size(), 3U);
}

TEST(Bytes, HierarchicalAllGatherSendsEachBlockToEachNodeOnce) {
  const Case what = case_of(step::CollectiveKind::all_gather, "hierarchical", 12, 100, 4);
  double between = 0;
  for (std::int64_t round = 0; round < what.rounds->count(); ++round) {
    for (const auto& [pair, bytes] : messages_sent(*what.rounds, round)) {
      if (pair.first / 4 != pair.second / 4) between += bytes;
    }
  }
  EXPECT_EQ(between, 12 * 2 * 100);
  EXPECT_EQ(bytes_of_all(*what.rounds), 12 * 11 * 100);
}

TEST(Rounds, AreAsManyAsTheTextbookSays) {
  for (const Rank n : {2, 3, 4, 5, 8, 13, 16, 40}) {
    const auto count = [&](step::CollectiveKind kind, const std::string& algorithm) {
      return case_of(kind, algorithm, n, 1e6, 1, 1e5).rounds->count();
    };
    const int up = ceil_log2(n);
    const int folded = is_power_of_two(n) ? up : up - 1 + 2;
    EXPECT_EQ(count(step::CollectiveKind::all_reduce, "halving-doubling"),
              is_power_of_two(n) ? 2 * up : 2 * (up - 1) + 2);
    EXPECT_EQ(count(step::CollectiveKind::all_reduce, "recursive-doubling"), folded);
    EXPECT_EQ(count(step::CollectiveKind::all_reduce, "double-binary-tree"), 2 * up + 5 - 1);  // segments of 1e5 bytes
    EXPECT_EQ(count(step::CollectiveKind::all_reduce, "reduce-broadcast"), 2 * up);
    EXPECT_EQ(count(step::CollectiveKind::all_reduce, "parameter-server"), 2);
    EXPECT_EQ(count(step::CollectiveKind::all_reduce, "gloo-parameter-server"), 2 + (is_power_of_two(n) ? up : up - 1));
    EXPECT_EQ(count(step::CollectiveKind::all_reduce, "direct"), 2);
    EXPECT_EQ(count(step::CollectiveKind::reduce_scatter, "recursive-halving"), folded);
    EXPECT_EQ(count(step::CollectiveKind::all_gather, "recursive-doubling"), folded);
    EXPECT_EQ(count(step::CollectiveKind::all_gather, "bruck"), up);
    EXPECT_EQ(count(step::CollectiveKind::broadcast, "binomial"), up);
    EXPECT_EQ(count(step::CollectiveKind::broadcast, "chain"), n - 2 + 10);
    EXPECT_EQ(count(step::CollectiveKind::gather, "binomial"), up);
    EXPECT_EQ(count(step::CollectiveKind::all_to_all, "pairwise"), n - 1);
  }
}

TEST(DoubleBinaryTree, IsAsInTheSourceForTwelveToFourteenRanks) {
  // NCCL's trees.cc draws these parents, for 12 ranks (mirrored tree) and 13 ranks (shifted tree).
  const auto parents = [](Rank n, int tree) {
    const Case what = case_of(step::CollectiveKind::all_reduce, "double-binary-tree", n, 1000);
    const std::int64_t segments = what.rounds->blocks() / 2;
    std::vector<Rank> result(static_cast<std::size_t>(n), -1);
    for (std::int64_t round = 0; round < what.rounds->count(); ++round) {
      for (Rank rank = 0; rank < n; ++rank) {
        std::vector<BlockParcel> sent;
        what.rounds->sent(rank, round, sent);
        for (const BlockParcel& parcel : sent) {
          if (parcel.reduce && parcel.first / segments == tree) result[static_cast<std::size_t>(rank)] = parcel.peer;
        }
      }
    }
    return result;
  };
  EXPECT_EQ(parents(14, 0), (std::vector<Rank>{-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12}));
  EXPECT_EQ(parents(12, 1), (std::vector<Rank>{1, 3, 1, 11, 5, 7, 5, 3, 9, 7, 9, -1}));
  EXPECT_EQ(parents(13, 0), (std::vector<Rank>{-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8}));
  EXPECT_EQ(parents(13, 1), (std::vector<Rank>{9, -1, 3, 5, 3, 9, 7, 5, 7, 1, 11, 0, 11}));
}

TEST(DoubleBinaryTree, ARankInsideOneTreeIsALeafOfTheOther) {
  for (Rank n = 2; n <= 40; ++n) {
    const Case what = case_of(step::CollectiveKind::all_reduce, "double-binary-tree", n, 1000);
    const std::int64_t segments = what.rounds->blocks() / 2;
    int inside_both = 0;
    for (Rank rank = 0; rank < n; ++rank) {
      bool inside[2] = {false, false};
      for (std::int64_t round = 0; round < what.rounds->count(); ++round) {
        std::vector<BlockParcel> received;
        what.rounds->received(rank, round, received);
        for (const BlockParcel& parcel : received) {
          if (parcel.reduce) inside[parcel.first / segments] = true;
        }
      }
      if (inside[0] && inside[1]) ++inside_both;
    }
    EXPECT_LE(inside_both, 1) << n;
  }
}

TEST(DoubleBinaryTree, HasOneAlikePhaseWhenSegmentsAreMany) {
  const std::vector<RoundPhase> phases =
      case_of(step::CollectiveKind::all_reduce, "double-binary-tree", 8, 2000, 1, 10).rounds->phases();
  ASSERT_EQ(phases.size(), 3U);
  EXPECT_TRUE(phases[1].uniform);
  EXPECT_EQ(phases[1].rounds, 100 - 5);
}

TEST(Segments, AreAtMostTheSizeAskedFor) {
  for (const double segment : {1.0, 999.0, 1000.0, 1001.0, 1e9}) {
    const Case what = case_of(step::CollectiveKind::broadcast, "chain", 4, 1000, 1, segment);
    EXPECT_EQ(what.rounds->blocks(), std::ceil(1000 / segment));
    EXPECT_LE(what.rounds->run_bytes(0, 1), segment);
  }
}

TEST(Segments, AreChosenNearTheBestNumber) {
  const double b = 1e8;
  const Rank n = 16;
  const Case what = case_of(step::CollectiveKind::broadcast, "chain", n, b);
  const auto seconds = [&](double segments) { return (n - 2 + segments) * (20e-6 + b / segments / 1e9); };
  const auto chosen = static_cast<double>(what.rounds->blocks());
  EXPECT_GT(chosen, 1);
  EXPECT_LE(seconds(chosen), seconds(chosen - 1));
  EXPECT_LE(seconds(chosen), seconds(chosen + 1));
}

TEST(Segments, AreOneForWhatIsSmall) {
  EXPECT_EQ(case_of(step::CollectiveKind::broadcast, "chain", 16, 100).rounds->blocks(), 1);
  EXPECT_EQ(case_of(step::CollectiveKind::all_reduce, "double-binary-tree", 16, 100).rounds->blocks(), 2);
  EXPECT_EQ(case_of(step::CollectiveKind::all_reduce, "double-binary-tree", 16, 0).rounds->blocks(), 2);
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST(ManyRanks, AreLaidOutWithoutWorkOrMemoryForEachRankAndRound) {
  // A table of ranks × rounds would have 10¹⁰ entries for a ring: minutes of time and tens of gigabytes.
  constexpr Rank kRanks = 65536;
  const RankLayout flat = on_one_axis(ranks_on_nodes(kRanks));
  const RankLayout nodes = ranks_on_nodes(kRanks, 8);
  for (const CollectiveAlgorithm& algorithm : collective_registry()) {
    CollectiveRequest request;
    request.kind = algorithm.kind;
    request.bytes = {1e9};
    if (algorithm.kind == step::CollectiveKind::neighbour_exchange) {
      for (Rank rank = 0; rank < kRanks; ++rank) request.neighbours.push_back({(rank + 1) % kRanks});
    }
    const double start = processor_seconds();
    const std::unique_ptr<Rounds> rounds =
        lay_out(request, algorithm.name, algorithm.name == "hierarchical" ? nodes : flat);
    const double laid_out = processor_seconds();
    EXPECT_LT(laid_out - start, 1) << algorithm.name;
    std::vector<Transfer> sent, received;
    const bool to_all = algorithm.name == "direct" || algorithm.name == "nvls" || algorithm.name == "sharp" ||
                        algorithm.name == "flat" || algorithm.name == "parameter-server" ||
                        algorithm.name == "gloo-parameter-server";
    const std::int64_t questions = to_all ? 5 : 1000;
    for (std::int64_t i = 0; i < questions; ++i) {
      const auto rank = static_cast<Rank>(i * 7919 % kRanks);
      sent.clear();
      rounds->sends(rank, i * 104729 % rounds->count(), sent);
      rounds->receives(rank, i * 104729 % rounds->count(), received);
      received.clear();
      EXPECT_TRUE(to_all || sent.size() <= 6) << algorithm.name;
    }
    EXPECT_LT(processor_seconds() - laid_out, 5) << algorithm.name;
  }
}

}  // namespace
}  // namespace dadsim::collectives
