// What `auto` takes, at the ends and where algorithms cross.
#include <gtest/gtest.h>

#include "carry_out.hpp"
#include "collectives/closed_form.hpp"

namespace dadsim::collectives {
namespace {

std::string chosen(step::CollectiveKind kind, double bytes, const RankLayout& layout) {
  CollectiveRequest request = request_for(kind, layout.ranks(), false);
  request.bytes = {bytes};
  return choose_collective(request, layout);
}

std::string all_reduce(double bytes, Rank n, Rank per_node = 1) {
  return chosen(step::CollectiveKind::all_reduce, bytes, ranks_on_nodes(n, per_node));
}

TEST(Auto, TakesFewRoundsForSmallAllReduces) {
  for (const Rank n : {4, 8, 64, 1024}) EXPECT_EQ(all_reduce(8, n), "halving-doubling") << n;
  for (const Rank n : {5, 12, 100, 1000}) EXPECT_EQ(all_reduce(8, n), "halving-doubling") << n;
}

TEST(Auto, TakesNoHalvingDoublingOnNodesOfSeveralRanks) {
  EXPECT_EQ(all_reduce(8, 64, 8), "double-binary-tree");
  for (double bytes = 1; bytes < 1e12; bytes *= 4) EXPECT_NE(all_reduce(bytes, 64, 8), "halving-doubling") << bytes;
}

TEST(Auto, TakesTheTreesForMediumAllReducesOfManyRanks) {
  // Halving-doubling pays for the fold here, the ring for its rounds.
  for (const Rank n : {100, 1000, 3000}) EXPECT_EQ(all_reduce(1e6, n), "double-binary-tree") << n;
}

TEST(Auto, TakesTheRingForLargeAllReducesOnOneNetwork) {
  for (const Rank n : {3, 4, 5, 8, 16, 33}) EXPECT_EQ(all_reduce(1e9, n), "ring") << n;
}

TEST(Auto, TakesHierarchicalForLargeAllReducesOnNodes) {
  EXPECT_EQ(all_reduce(1e9, 32, 8), "hierarchical");
  EXPECT_EQ(all_reduce(1e9, 12, 4), "hierarchical");
}

TEST(Auto, TakesItInSegmentsOnNodesBehindSwitches) {
  const auto on_switches = [](Rank nodes) {
    RankLayout layout = ranks_on_nodes(8 * nodes, 8);
    layout.switched_nodes = true;
    layout.rails = 8;
    return chosen(step::CollectiveKind::all_reduce, 1e4, layout);
  };
  EXPECT_EQ(on_switches(4), "tree");
  EXPECT_EQ(on_switches(59), "tree");
}

TEST(Auto, GoesFromTreesToTheRingsOfAllAdapters) {
  // Beyond two nodes a tree's rank sends to two children: 2 b/L of an adapter against 2 (N − 1)/N b/L in the rings.
  RankLayout layout = ranks_on_nodes(32, 8);
  layout.switched_nodes = true;
  layout.start_seconds = 7e-6;
  layout.rails = 8;
  const auto taken = [&](double bytes) { return chosen(step::CollectiveKind::all_reduce, bytes, layout); };
  EXPECT_EQ(taken(8), "tree");
  EXPECT_EQ(taken(1e11), "ring");
  // Between two nodes a tree's rank has one partner, and each half of its shard goes one way.
  layout.node_of.resize(16);
  EXPECT_EQ(taken(1e11), "tree");
}

TEST(Auto, LetsSwitchesAddUpWhereTheyCan) {
  RankLayout layout = ranks_on_nodes(32, 8);
  layout.switched_nodes = true;
  layout.start_seconds = 7e-6;
  layout.rails = 8;
  const auto taken = [&](double bytes) { return chosen(step::CollectiveKind::all_reduce, bytes, layout); };
  layout.switch_adds_up = true;
  layout.node_of.resize(16);
  layout.between.bandwidth = layout.inside.bandwidth;  // so that what a port carries counts
  EXPECT_EQ(taken(1e11), "nvls-tree");
  layout.fabric_adds_up = true;
  layout.node_of = ranks_on_nodes(32, 8).node_of;
  layout.between.bandwidth = layout.inside.bandwidth / 10;
  EXPECT_EQ(taken(1e11), "sharp");
}

TEST(Auto, LetsTheSwitchOfTheOnlyNodeAddUp) {
  RankLayout node = ranks_on_nodes(8, 8);
  node.between = node.inside;
  const auto taken = [&](double bytes) { return chosen(step::CollectiveKind::all_reduce, bytes, node); };
  for (double bytes = 1; bytes < 1e12; bytes *= 4) EXPECT_NE(taken(bytes), "nvls") << bytes;
  node.switch_adds_up = true;
  for (double bytes = 1; bytes < 1e12; bytes *= 4) EXPECT_EQ(taken(bytes), "nvls") << bytes;
  // Two ranks have nothing to gain: b to each other against 1.5 b with the switch.
  node = ranks_on_nodes(2, 2);
  node.between = node.inside;
  node.switch_adds_up = true;
  for (double bytes = 1; bytes < 1e12; bytes *= 4) EXPECT_NE(taken(bytes), "nvls") << bytes;
  // Nor does it reach beyond its node.
  node = ranks_on_nodes(16, 8);
  node.switch_adds_up = true;
  for (double bytes = 1; bytes < 1e12; bytes *= 4) EXPECT_NE(taken(bytes), "nvls") << bytes;
}

TEST(Auto, NeverTakesHierarchicalWhereItCannotBe) {
  RankLayout uneven = ranks_on_nodes(5);
  uneven.node_of = {0, 0, 0, 1, 1};
  uneven.inside = {1e-6, 1e12};
  for (double bytes = 1; bytes < 1e12; bytes *= 4) {
    EXPECT_NE(chosen(step::CollectiveKind::all_reduce, bytes, uneven), "hierarchical");
    EXPECT_NE(chosen(step::CollectiveKind::all_gather, bytes, uneven), "hierarchical");
  }
}

TEST(Auto, CrossesFromHalvingDoublingToTheRingWhereTheFormulasDo) {
  // 2·log₂N·α + 2(N − 1)/N·b/(0.9·β) = 2(N − 1)·α + 2(N − 1)/N·b/β
  for (const Rank n : {4, 8, 16}) {
    const double alpha = 20e-6, beta = 1e9;
    const double crossing = (n - 1 - ceil_log2(n)) * alpha * beta * n / (n - 1) * 0.9 / (1 - 0.9);
    EXPECT_EQ(all_reduce(0.99 * crossing, n), "halving-doubling") << n;
    EXPECT_EQ(all_reduce(1.01 * crossing, n), "ring") << n;
  }
}

TEST(Auto, GoesFromOneRoundToTheRingForAllGathers) {
  const auto gather = [](double bytes, Rank n) {
    return chosen(step::CollectiveKind::all_gather, bytes, ranks_on_nodes(n));
  };
  for (const Rank n : {4, 5, 8, 16, 33}) {
    EXPECT_EQ(gather(8, n), "direct") << n;
    EXPECT_EQ(gather(1e9, n), "ring") << n;
  }
  // Direct and Bruck cross where (⌈log₂N⌉ − 1)·α = (N − 1)·b/β·(1/0.8 − 1/0.9); the ring takes over much later.
  const double crossing = 3 * 20e-6 * 1e9 / (15 * (1 / 0.8 - 1 / 0.9));
  EXPECT_EQ(gather(0.99 * crossing, 16), "direct");
  EXPECT_EQ(gather(1.01 * crossing, 16), "recursive-doubling");
  EXPECT_EQ(gather(1.5 * crossing, 15), "bruck");
}

TEST(Auto, KeepsBlocksBetweenTheNodesApart) {
  EXPECT_EQ(chosen(step::CollectiveKind::all_gather, 1e8, ranks_on_nodes(32, 8)), "hierarchical");
}

TEST(Auto, BroadcastsThroughATreeOrAChain) {
  const auto broadcast = [](double bytes, Rank n) {
    return chosen(step::CollectiveKind::broadcast, bytes, ranks_on_nodes(n));
  };
  EXPECT_EQ(broadcast(8, 16), "flat");
  EXPECT_EQ(broadcast(5e4, 64), "binomial");
  EXPECT_EQ(broadcast(1e9, 16), "chain");
}

TEST(Auto, OtherKinds) {
  const RankLayout layout = ranks_on_nodes(8);
  for (const double bytes : {0.0, 8.0, 1e9}) {
    // The root's link carries the same bytes whichever way: fewer rounds are better.
    EXPECT_EQ(chosen(step::CollectiveKind::gather, bytes, layout), "flat");
    EXPECT_EQ(chosen(step::CollectiveKind::scatter, bytes, layout), "flat");
    EXPECT_EQ(chosen(step::CollectiveKind::neighbour_exchange, bytes, layout), "direct");
  }
  EXPECT_EQ(chosen(step::CollectiveKind::all_to_all, 8, layout), "direct");
  EXPECT_EQ(chosen(step::CollectiveKind::all_to_all, 1e9, layout), "pairwise");
  EXPECT_EQ(chosen(step::CollectiveKind::reduce_scatter, 8, layout), "direct");
  EXPECT_EQ(chosen(step::CollectiveKind::reduce_scatter, 1e9, layout), "ring");
}

TEST(Auto, TiesGoToTheSameOneAlways) {
  for (const step::CollectiveKind kind :
       {step::CollectiveKind::all_reduce, step::CollectiveKind::all_gather, step::CollectiveKind::broadcast}) {
    for (const Rank n : {1, 2, 4}) {
      const std::string first = chosen(kind, 0, ranks_on_nodes(n));
      EXPECT_EQ(chosen(kind, 0, ranks_on_nodes(n)), first);
      EXPECT_EQ(first, kind == step::CollectiveKind::all_reduce   ? "halving-doubling"
                       : kind == step::CollectiveKind::all_gather ? "direct"
                                                                  : "flat");
    }
  }
}

TEST(Auto, LaysOutWhatItChose) {
  for (const Rank n : {1, 2, 6, 16}) {
    for (const CollectiveAlgorithm& algorithm : collective_registry()) {
      const CollectiveRequest request = request_for(algorithm.kind, n, true);
      const RankLayout layout = ranks_on_nodes(n);
      const auto laid_out = lay_out(request, "auto", layout);
      const auto named = lay_out(request, choose_collective(request, layout), layout);
      EXPECT_EQ(laid_out->count(), named->count());
      EXPECT_EQ(closed_form_seconds(*laid_out, 1, 1), closed_form_seconds(*named, 1, 1));
    }
  }
}

TEST(Auto, IsNeverMuchSlowerThanTheBestOfItsCandidates) {
  // By the α-β model of the rounds themselves, without the shares of the bandwidth that the formulas take off: what is
  // chosen is within 1/0.8 of the least.
  for (const Rank n : {2, 3, 4, 6, 8, 13, 16, 32, 48}) {
    const RankLayout layout = ranks_on_nodes(n);
    for (double bytes = 10; bytes < 1e10; bytes *= 10) {
      CollectiveRequest request = request_for(step::CollectiveKind::all_reduce, n, false);
      request.bytes = {bytes};
      const auto seconds = [&](const std::string& algorithm) {
        return closed_form_seconds(*lay_out(request, algorithm, layout), layout.between.latency,
                                   layout.between.bandwidth);
      };
      const double best = std::min({seconds("ring"), seconds("halving-doubling"), seconds("double-binary-tree")});
      EXPECT_LE(seconds("auto"), best / 0.8) << n << " ranks, " << bytes << " bytes";
    }
  }
}

}  // namespace
}  // namespace dadsim::collectives
