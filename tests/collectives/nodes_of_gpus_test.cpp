// Tests all-reduces of NCCL and RCCL on nodes of several GPUs: rings through every adapter, trees between nodes, and
// switches that sum.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "carry_out.hpp"

namespace dadsim::collectives {
namespace {

constexpr std::array<std::pair<Rank, Rank>, 7> kNodes = {{{4, 2}, {6, 3}, {8, 4}, {12, 3}, {15, 5}, {16, 8}, {20, 4}}};

RankLayout gpus_on_nodes(Rank n, Rank per_node) {
  RankLayout layout = ranks_on_nodes(n, per_node);
  layout.library = spec::CollectiveLibrary::nccl;
  layout.start_seconds = 7e-6;
  return layout;
}

/// Returns one node whose GPUs are meshed; its rings use every link.
RankLayout one_mesh(Rank ranks) {
  RankLayout layout = gpus_on_nodes(ranks, ranks);
  layout.meshed_nodes = true;
  return layout;
}

/// Expects that each message has exactly the bytes of its blocks, in the same order.
void expect_messages_of_blocks(const Case& what, Rank rank, Rank lane, std::int64_t round) {
  for (const bool sends : {true, false}) {
    std::vector<BlockParcel> parcels;
    sends ? what.rounds->sent_in_lane(rank, lane, round, parcels)
          : what.rounds->received_in_lane(rank, lane, round, parcels);
    std::vector<Transfer> expected;
    for (const BlockParcel& parcel : parcels) {
      const double bytes = parcel.weight * what.rounds->run_bytes(parcel.first, parcel.blocks);
      if (!expected.empty() && expected.back().peer == parcel.peer && expected.back().channel == parcel.channel) {
        expected.back().bytes += bytes;
      } else {
        expected.push_back({parcel.peer, bytes, parcel.channel});
      }
    }
    std::vector<Transfer> messages;
    sends ? what.rounds->lane_sends(rank, lane, round, messages)
          : what.rounds->lane_receives(rank, lane, round, messages);
    ASSERT_EQ(messages, expected) << what.name() << " rank " << rank << " round " << round;
  }
}

void expect_whole(const Case& what) {
  EXPECT_EQ(CarryOut(what).wrong(), "") << what.name();
  // Sender and receiver must agree on every message, in each lane and over all lanes.
  for (std::int64_t round = 0; round < what.rounds->count(); ++round) {
    std::map<std::array<Rank, 4>, double> sent;
    std::map<std::array<Rank, 4>, double> received;
    std::map<std::array<Rank, 2>, double> together;
    std::vector<Transfer> transfers;
    for (Rank rank = 0; rank < what.rounds->ranks(); ++rank) {
      for (Rank lane = 0; lane < what.rounds->lanes(); ++lane) {
        expect_messages_of_blocks(what, rank, lane, round);
        transfers.clear();
        what.rounds->lane_sends(rank, lane, round, transfers);
        for (const Transfer& one : transfers) {
          EXPECT_NE(one.peer, rank);
          EXPECT_TRUE(sent.try_emplace({lane, rank, one.peer, one.channel}, one.bytes).second) << "twice to the same";
          together[{rank, one.peer}] += one.bytes;
        }
        transfers.clear();
        what.rounds->lane_receives(rank, lane, round, transfers);
        for (const Transfer& one : transfers) received[{lane, one.peer, rank, one.channel}] += one.bytes;
      }
      transfers.clear();
      what.rounds->sends(rank, round, transfers);
      for (const Transfer& one : transfers) {
        EXPECT_NEAR((together[{rank, one.peer}]), one.bytes, 1e-9) << what.name();
      }
    }
    EXPECT_EQ(sent, received) << what.name() << " round " << round;
  }
}

TEST(NodesOfGpus, EveryRankEndsWithWhatIsPromised) {
  using enum step::CollectiveKind;
  const std::pair<step::CollectiveKind, const char*> all[] = {{all_reduce, "ring"},      {reduce_scatter, "ring"},
                                                              {all_gather, "ring"},      {all_reduce, "tree"},
                                                              {all_reduce, "nvls-tree"}, {all_reduce, "sharp"}};
  for (const auto& [ranks, per_node] : kNodes) {
    for (const auto& [kind, algorithm] : all) {
      for (const double segment_bytes : {0.0, 500.0}) {
        expect_whole(
            lay_out_case(request_for(kind, ranks, true, 0, segment_bytes), algorithm, gpus_on_nodes(ranks, per_node)));
      }
    }
    RankLayout adds_up = gpus_on_nodes(ranks, per_node);
    adds_up.switch_adds_up = true;
    expect_whole(lay_out_case(request_for(all_reduce, ranks, false, 0, 300), "sharp", adds_up));
  }
  for (const Rank ranks : {2, 3, 4, 5, 6, 7, 8, 9, 16}) {
    for (const step::CollectiveKind kind : {all_reduce, reduce_scatter, all_gather}) {
      expect_whole(lay_out_case(request_for(kind, ranks, true), "ring", one_mesh(ranks)));
    }
  }
}

/// If nodes are unequal, the number of rings is that of the smallest node's ranks. Each ring visits all ranks of every
/// node.
TEST(NodesOfGpus, RingsGoThroughNodesOfUnequalSize) {
  using enum step::CollectiveKind;
  const std::vector<std::vector<Rank>> clusters{{4, 2}, {2, 3, 5}, {8, 8, 4, 4}, {3, 6, 3}};
  for (const std::vector<Rank>& nodes : clusters) {
    RankLayout layout = gpus_on_nodes(2, 1);
    layout.node_of.clear();
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      layout.node_of.insert(layout.node_of.end(), static_cast<std::size_t>(nodes[node]), static_cast<Rank>(node));
    }
    for (const step::CollectiveKind kind : {all_reduce, reduce_scatter, all_gather, broadcast, reduce}) {
      const Case what = lay_out_case(request_for(kind, layout.ranks(), true, 1), "ring", layout);
      expect_whole(what);
      EXPECT_EQ(what.rounds->lanes(), *std::ranges::min_element(nodes));
    }
    // Every ring leaves a node once, and each ring from another rank.
    const auto rounds = lay_out(request_for(all_reduce, layout.ranks(), false), "ring", layout);
    std::set<std::pair<Rank, Rank>> leave;  // pairs of node and rank
    std::vector<Transfer> transfers;
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
      for (Rank lane = 0; lane < rounds->lanes(); ++lane) {
        transfers.clear();
        rounds->lane_sends(rank, lane, 0, transfers);
        const auto node = [&](Rank of) { return layout.node_of[static_cast<std::size_t>(of)]; };
        if (node(rank) == node(transfers.at(0).peer)) continue;
        EXPECT_TRUE(leave.insert({node(rank), rank}).second);
      }
    }
    EXPECT_EQ(std::ssize(leave), std::ssize(nodes) * rounds->lanes());
    layout.over_sockets = true;
    layout.rails = 1;
    EXPECT_EQ(lay_out(request_for(all_reduce, layout.ranks(), false), "ring", layout)->lanes(), 1);
  }
}

/// With unequal nodes, also if ranks are not numbered node by node, there are chains inside nodes and trees between
/// their first ranks.
TEST(TreesOnNodes, GoThroughNodesOfUnequalSize) {
  const std::vector<std::vector<Rank>> clusters{
      {0, 0, 0, 0, 1, 1}, {0, 0, 1, 1, 1, 2, 2, 2, 2, 2}, {0, 1, 1, 1, 2, 2, 3}, {0, 1, 0, 1, 2, 2, 3, 4, 4, 4}};
  for (const std::vector<Rank>& nodes : clusters) {
    RankLayout layout = gpus_on_nodes(2, 1);
    layout.node_of = nodes;
    layout.inside = {2e-6, 1e10};
    for (const double segment_bytes : {0.0, 500.0, 40.0}) {
      expect_whole(lay_out_case(request_for(step::CollectiveKind::all_reduce, layout.ranks(), true, 0, segment_bytes),
                                "tree", layout));
    }
    // In each node, the number of ranks that send to other nodes is the smallest node's number of ranks.
    const auto rounds =
        lay_out(request_for(step::CollectiveKind::all_reduce, layout.ranks(), true, 0, 100), "tree", layout);
    std::map<Rank, std::set<Rank>> heads;
    std::vector<Transfer> transfers;
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
      for (std::int64_t round = 0; round < rounds->count(); ++round) {
        transfers.clear();
        rounds->sends(rank, round, transfers);
        for (const Transfer& one : transfers) {
          const Rank node = nodes[static_cast<std::size_t>(rank)];
          if (nodes[static_cast<std::size_t>(one.peer)] != node) heads[node].insert(rank);
        }
      }
    }
    std::map<Rank, std::ptrdiff_t> sizes;
    for (const Rank node : nodes) ++sizes[node];
    const auto least = std::ranges::min_element(sizes, {}, [](const auto& size) { return size.second; })->second;
    for (const auto& [node, ranks] : heads) EXPECT_EQ(std::ssize(ranks), least) << node;
    for (const char* algorithm : {"nvls-tree", "sharp"}) {
      EXPECT_TRUE(fault_of(request_for(step::CollectiveKind::all_reduce, layout.ranks(), true), algorithm, layout));
    }
  }
}

/// With four nodes, the second and the third are neighbours in both trees.
TEST(TreesOnNodes, GiveEachTreeConnectionsOfItsOwn) {
  const RankLayout layout = gpus_on_nodes(8, 2);
  for (const char* algorithm : {"tree", "nvls-tree"}) {
    const auto rounds =
        lay_out(request_for(step::CollectiveKind::all_reduce, layout.ranks(), true, 0, 100), algorithm, layout);
    std::set<std::int32_t> channels;
    double apart = 0;
    double together = 0;
    std::vector<Transfer> transfers;
    for (std::int64_t round = 0; round < rounds->count(); ++round) {
      transfers.clear();
      rounds->lane_sends(2, 0, round, transfers);
      for (const Transfer& one : transfers) {
        if (one.peer != 4) continue;
        channels.insert(one.channel);
        apart += one.bytes;
      }
      transfers.clear();
      rounds->sends(2, round, transfers);
      for (const Transfer& one : transfers) together += one.peer == 4 ? one.bytes : 0;
    }
    EXPECT_EQ(channels, (std::set<std::int32_t>{0, 1})) << algorithm;
    EXPECT_DOUBLE_EQ(apart, together) << algorithm;
  }
}

/// Counts messages by ordered pair of ranks, over all lanes of a ring.
std::map<std::pair<Rank, Rank>, int> pairs_of(const Rounds& rounds) {
  std::map<std::pair<Rank, Rank>, int> pairs;
  std::vector<Transfer> transfers;
  for (Rank rank = 0; rank < rounds.ranks(); ++rank) {
    for (Rank lane = 0; lane < rounds.lanes(); ++lane) {
      transfers.clear();
      rounds.lane_sends(rank, lane, 0, transfers);
      for (const Transfer& one : transfers) ++pairs[{rank, one.peer}];
    }
  }
  return pairs;
}

TEST(RingOnNodes, LeavesANodeThroughEveryRankAndUsesEveryPairOfItOnce) {
  for (const Rank per_node : {2, 4, 8}) {
    const RankLayout layout = gpus_on_nodes(3 * per_node, per_node);
    const auto rounds = lay_out(request_for(step::CollectiveKind::all_reduce, layout.ranks(), false), "ring", layout);
    EXPECT_EQ(rounds->lanes(), per_node);
    std::map<Rank, int> leaves, enters;
    int inside = 0;
    for (const auto& [pair, times] : pairs_of(*rounds)) {
      EXPECT_EQ(times, 1);
      if (pair.first / per_node == pair.second / per_node) {
        ++inside;
      } else {
        EXPECT_EQ((pair.first / per_node + 1) % 3, pair.second / per_node);
        ++leaves[pair.first];
        ++enters[pair.second];
      }
    }
    EXPECT_EQ(inside, 3 * per_node * (per_node - 1));
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
      EXPECT_EQ(leaves[rank], 1);
      EXPECT_EQ(enters[rank], 1);
    }
  }
}

TEST(RingInAMesh, UsesEveryLinkAsOften) {
  for (const auto& [ranks, times] : {std::pair<Rank, int>{3, 1}, {4, 2}, {5, 1}, {7, 1}, {8, 1}}) {
    const auto rounds = lay_out(request_for(step::CollectiveKind::all_reduce, ranks, false), "ring", one_mesh(ranks));
    const auto pairs = pairs_of(*rounds);
    EXPECT_EQ(pairs.size(), static_cast<std::size_t>(ranks * (ranks - 1)));
    for (const auto& [pair, often] : pairs) EXPECT_EQ(often, times) << pair.first << " > " << pair.second;
  }
}

/// Bytes that a rank sends inside its node, and to other nodes.
struct Sent {
  double inside = 0, between = 0;
};
Sent sent_by(const Rounds& rounds, Rank rank, Rank per_node) {
  Sent sent;
  std::vector<Transfer> transfers;
  for (std::int64_t round = 0; round < rounds.count(); ++round) rounds.sends(rank, round, transfers);
  for (const Transfer& one : transfers) {
    (one.peer / per_node == rank / per_node ? sent.inside : sent.between) += one.bytes;
  }
  return sent;
}

TEST(NodesOfGpus, SendAsManyBytesAsTheLawsSay) {
  constexpr double b = 1200;
  constexpr Rank kPerNode = 8;
  for (const Rank nodes : {2, 3, 4, 8}) {
    const Rank n = kPerNode * nodes;
    const RankLayout layout = gpus_on_nodes(n, kPerNode);
    const auto rounds = [&](const char* name, double segment_bytes = 150) {
      return lay_out(request_for(step::CollectiveKind::all_reduce, n, false, 0, segment_bytes), name, layout);
    };
    // In a ring, each rank sends 2 (N − 1)/N · b: one eighth to another node, and seven eighths inside its node.
    const Sent ring = sent_by(*rounds("ring"), 3, kPerNode);
    EXPECT_NEAR(ring.between, 2.0 * (n - 1) / n * b / kPerNode, 1e-9);
    EXPECT_NEAR(ring.inside, 2.0 * (n - 1) / n * b * (kPerNode - 1) / kPerNode, 1e-9);
    // The two trees have 2 · (M − 1) edges. Each carries half of a shard up and half of it down.
    double between = 0, most = 0;
    for (Rank rank = 0; rank < n; ++rank) {
      const Sent tree = sent_by(*rounds("tree"), rank, kPerNode);
      between += tree.between;
      most = std::max(most, tree.between);
      EXPECT_NEAR(tree.inside, 2.0 * (kPerNode - 1) / kPerNode * b, 1e-9);
    }
    EXPECT_NEAR(between, kPerNode * 2 * (nodes - 1) * 2 * b / kPerNode / 2, 1e-6);
    EXPECT_LE(most, (nodes == 2 ? 1 : 2) * b / kPerNode + 1e-9);
    // A switch that sums transfers b · (1 + 1/L) per port. NVLS uses 0.85 of the rate, and with trees between nodes
    // 15/16 of that.
    const Sent nvls = sent_by(*rounds("nvls-tree"), 5, kPerNode);
    EXPECT_NEAR(nvls.inside, (1 + 1.0 / kPerNode) * b / (0.85 * 15 / 16), 1e-9);
    // A fabric that sums transfers a rank's shard once.
    const Sent sharp = sent_by(*rounds("sharp"), 5, kPerNode);
    EXPECT_NEAR(sharp.between, b / kPerNode, 1e-9);
    EXPECT_NEAR(sharp.inside, 2.0 * (kPerNode - 1) / kPerNode * b, 1e-9);
  }
}

TEST(NodesOfGpus, BeginAfterWhatTheLibraryTakes) {
  RankLayout layout = ranks_on_nodes(16, 8);
  const CollectiveRequest request = request_for(step::CollectiveKind::all_reduce, 16, false);
  EXPECT_EQ(lay_out(request, "ring", layout)->start_seconds(), 0);
  EXPECT_EQ(lay_out(request, "ring", layout)->lanes(), 1);  // an MPI library uses one lane
  layout.start_seconds = 7e-6;
  layout.library = spec::CollectiveLibrary::nccl;
  EXPECT_EQ(lay_out(request, "ring", layout)->start_seconds(), 7e-6);
  // On vectors of medium size NCCL's trees lose time, but on large ones they do not.
  layout.rails = 8;
  layout.adapter_bandwidth = 25e9;
  CollectiveRequest large = request;
  large.bytes = {1 << 20};
  EXPECT_GT(lay_out(large, "tree", layout)->start_seconds(), 7e-6);
  large.bytes = {1e9};
  EXPECT_EQ(lay_out(large, "tree", layout)->start_seconds(), 7e-6);
}

}  // namespace
}  // namespace dadsim::collectives
