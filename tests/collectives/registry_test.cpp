// Tests listings of algorithms, and messages about invalid requests.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <stdexcept>

#include "carry_out.hpp"

namespace dadsim::collectives {
namespace {

std::string refusal(const CollectiveRequest& request, const std::string& algorithm, const RankLayout& layout) {
  try {
    lay_out(request, algorithm, layout);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Registry, NamesAreUniqueWithinAKindAndDescribed) {
  std::set<std::pair<step::CollectiveKind, std::string>> seen;
  std::set<step::CollectiveKind> kinds;
  for (const CollectiveAlgorithm& algorithm : collective_registry()) {
    EXPECT_TRUE(seen.emplace(algorithm.kind, algorithm.name).second) << algorithm.name;
    EXPECT_NE(algorithm.name, "auto");
    EXPECT_FALSE(algorithm.description.empty());
    EXPECT_FALSE(algorithm.source.empty());
    kinds.insert(algorithm.kind);
  }
  EXPECT_EQ(kinds.size(), 9U);
}

TEST(Registry, EveryAlgorithmIsInTheDocumentation) {
  std::ifstream file(std::string(DADSIM_SOURCE_DIR) + "/docs/collectives.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const CollectiveAlgorithm& algorithm : collective_registry()) {
    const std::string row = std::string("| ") + to_string(algorithm.kind) + " | `" + algorithm.name + "` |";
    EXPECT_NE(text.str().find(row), std::string::npos) << row;
  }
}

TEST(Refusal, SaysWhatIsThere) {
  const CollectiveRequest request = request_for(step::CollectiveKind::all_reduce, 4, false);
  EXPECT_EQ(refusal(request, "rnig", ranks_on_nodes(4)),
            "all-reduce: there is no algorithm 'rnig'; did you mean 'ring'?");
  EXPECT_NE(refusal(request, "xyzzy", ranks_on_nodes(4)).find("ring"), std::string::npos);
  EXPECT_NE(refusal(request, "pairwise", ranks_on_nodes(4)), "");
  EXPECT_NE(refusal(request, "rnig", ranks_on_nodes(1)), "");
}

TEST(Refusal, TorusNeedsChipsOfATorus) {
  const CollectiveRequest request = request_for(step::CollectiveKind::all_reduce, 6, false);
  RankLayout layout = ranks_on_nodes(6);
  EXPECT_EQ(refusal(request, "torus", layout),
            "all-reduce: 'torus' needs single chips that fill a grid of one torus; use 'ring' for any ranks");
  layout.torus = {3, 2};
  EXPECT_EQ(refusal(request, "torus", layout), "");
}

TEST(Refusal, HierarchicalSaysWhatItNeeds) {
  const CollectiveRequest request = request_for(step::CollectiveKind::all_reduce, 6, false);
  const std::string expected =
      "all-reduce: 'hierarchical' needs several nodes, each with the same number of ranks, two or more, numbered node "
      "by "
      "node; use 'ring' for any ranks";
  EXPECT_EQ(refusal(request, "hierarchical", ranks_on_nodes(6)), expected);     // nodes of one rank
  EXPECT_EQ(refusal(request, "hierarchical", ranks_on_nodes(6, 6)), expected);  // a single node
  EXPECT_EQ(refusal(request, "hierarchical", ranks_on_nodes(6, 4)), expected);  // nodes of 4 and of 2 ranks
  RankLayout mixed = ranks_on_nodes(6, 3);
  mixed.node_of = {0, 1, 0, 1, 0, 1};
  EXPECT_EQ(refusal(request, "hierarchical", mixed), expected);
  EXPECT_EQ(refusal(request, "hierarchical", ranks_on_nodes(6, 3)), "");
}

TEST(Refusal, OfSizes) {
  CollectiveRequest request = request_for(step::CollectiveKind::all_reduce, 4, false);
  request.bytes = {1, 2, 3, 4};
  EXPECT_EQ(refusal(request, "ring", ranks_on_nodes(4)),
            "all-reduce: 4 sizes; give one size, that of the whole vector");
  request.kind = step::CollectiveKind::all_gather;
  EXPECT_EQ(refusal(request, "ring", ranks_on_nodes(4)), "");
  EXPECT_EQ(refusal(request, "ring", ranks_on_nodes(5)),
            "all-gather: 4 sizes for 5 ranks; give a size for each rank, or one size for all");
  request.bytes.clear();
  EXPECT_NE(refusal(request, "auto", ranks_on_nodes(4)), "");
  EXPECT_THROW(choose_collective(request, ranks_on_nodes(4)), std::invalid_argument);
  for (const double wrong : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    request.bytes = {wrong};
    EXPECT_NE(refusal(request, "ring", ranks_on_nodes(4)).find("use sizes that are finite and not negative"),
              std::string::npos);
    request.bytes = {1};
    request.segment_bytes = wrong;
    EXPECT_NE(refusal(request, "ring", ranks_on_nodes(4)).find("0 to let the algorithm choose"), std::string::npos);
    request.segment_bytes = 0;
  }
}

TEST(Refusal, OfRootsAndRanks) {
  CollectiveRequest request = request_for(step::CollectiveKind::broadcast, 4, false);
  for (const Rank root : {-1, 4}) {
    request.root = root;
    EXPECT_EQ(refusal(request, "flat", ranks_on_nodes(4)),
              "broadcast: root " + std::to_string(root) + " is no rank; with 4 ranks, use a root from 0 to 3");
  }
  request.root = 0;
  EXPECT_EQ(refusal(request, "flat", RankLayout{}), "broadcast: no ranks; a collective needs one rank or more");
}

TEST(Refusal, OfNeighbours) {
  CollectiveRequest request = request_for(step::CollectiveKind::neighbour_exchange, 3, false);
  const auto said = [&](std::vector<std::vector<Rank>> neighbours) {
    request.neighbours = std::move(neighbours);
    return refusal(request, "direct", ranks_on_nodes(3));
  };
  EXPECT_EQ(said({{1}, {}, {0, 1}}), "");
  EXPECT_EQ(said({{1}, {}}),
            "neighbour-exchange: neighbours of 2 ranks, not of 3; give every rank a list of its "
            "receivers, which may be empty");
  EXPECT_EQ(said({{1}, {3}, {}}), "neighbour-exchange: rank 1 has neighbour 3; neighbours are ranks from 0 to 2");
  EXPECT_EQ(said({{-1}, {}, {}}), "neighbour-exchange: rank 0 has neighbour -1; neighbours are ranks from 0 to 2");
  EXPECT_EQ(said({{}, {}, {2}}),
            "neighbour-exchange: rank 2 is its own neighbour; remove it: a rank cannot send to itself");
  EXPECT_EQ(said({{1, 2, 1}, {}, {}}), "neighbour-exchange: rank 0 has neighbour 1 twice; list each edge once");
}

TEST(NeighbourExchange, WithoutEdgesHasNoRounds) {
  CollectiveRequest request = request_for(step::CollectiveKind::neighbour_exchange, 3, false);
  request.neighbours.assign(3, {});
  EXPECT_EQ(lay_out(request, "direct", ranks_on_nodes(3))->count(), 0);
}

TEST(RankLayout, IsHierarchicalWithSeveralEqualNodesInOrder) {
  EXPECT_TRUE(ranks_on_nodes(6, 3).is_hierarchical());
  EXPECT_EQ(ranks_on_nodes(6, 3).ranks_per_node(), 3);
  EXPECT_FALSE(ranks_on_nodes(6, 1).is_hierarchical());
  EXPECT_FALSE(ranks_on_nodes(6, 6).is_hierarchical());
  EXPECT_FALSE(ranks_on_nodes(7, 3).is_hierarchical());
  EXPECT_FALSE(RankLayout{}.is_hierarchical());
  EXPECT_EQ(RankLayout{}.ranks_per_node(), 0);
  RankLayout shuffled = ranks_on_nodes(4, 2);
  shuffled.node_of = {0, 0, 2, 2};
  EXPECT_FALSE(shuffled.is_hierarchical());
}

}  // namespace
}  // namespace dadsim::collectives
