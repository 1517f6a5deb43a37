#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collectives/blocks.hpp"

namespace dadsim::collectives {

/// Returns n ranks on nodes of `per_node`, with links that are ten times as fast inside a node.
inline RankLayout ranks_on_nodes(Rank n, Rank per_node = 1) {
  RankLayout layout;
  for (Rank rank = 0; rank < n; ++rank) layout.node_of.push_back(rank / per_node);
  layout.between = {20e-6, 1e9};
  layout.inside = per_node == 1 ? layout.between : RankLayout::Channel{2e-6, 1e10};
  return layout;
}

inline bool whole_vector(step::CollectiveKind kind) {
  return kind == step::CollectiveKind::all_reduce || kind == step::CollectiveKind::reduce_scatter ||
         kind == step::CollectiveKind::broadcast || kind == step::CollectiveKind::reduce;
}

/// Returns a different size for every rank; some sizes are 0.
inline std::vector<double> uneven_sizes(Rank n) {
  std::vector<double> bytes;
  for (Rank rank = 0; rank < n; ++rank) bytes.push_back(rank % 5 == 3 ? 0 : 100 + 37 * (rank * rank % 11));
  return bytes;
}

/// Returns a directed, uneven graph: edges from each rank to the ranks one and three places after it, and from rank 0
/// to all others.
inline std::vector<std::vector<Rank>> some_graph(Rank n) {
  std::vector<std::vector<Rank>> to(static_cast<std::size_t>(n));
  for (Rank rank = 0; rank < n; ++rank) {
    std::vector<Rank>& peers = to[static_cast<std::size_t>(rank)];
    for (Rank peer = 0; peer < n; ++peer) {
      const Rank ahead = (peer - rank + n) % n;
      if (ahead != 0 && (rank == 0 || ahead == 1 || ahead == 3)) peers.push_back(peer);
    }
  }
  return to;
}

/// Returns a request for a collective of n ranks.
inline CollectiveRequest request_for(step::CollectiveKind kind, Rank n, bool uneven, Rank root = 0,
                                     double segment_bytes = 0) {
  CollectiveRequest request;
  request.kind = kind;
  request.bytes = {1200};
  if (uneven && !whole_vector(kind)) request.bytes = uneven_sizes(n);
  request.root = root;
  request.segment_bytes = segment_bytes;
  if (kind == step::CollectiveKind::neighbour_exchange) request.neighbours = some_graph(n);
  return request;
}

/// One case of the tests below.
struct Case {
  std::string algorithm;
  CollectiveRequest request;
  RankLayout layout;
  std::unique_ptr<BlockRounds> rounds;
  std::string name() const {
    return std::string(to_string(request.kind)) + " " + algorithm + ", " + std::to_string(layout.ranks()) +
           " ranks on " + std::to_string(layout.node_of.back() + 1) + " nodes, root " + std::to_string(request.root) +
           ", " + std::to_string(request.bytes.size()) + " sizes, segments of " + std::to_string(request.segment_bytes);
  }
};

inline Case lay_out_case(const CollectiveRequest& request, const std::string& algorithm, const RankLayout& layout) {
  std::unique_ptr<Rounds> rounds = lay_out(request, algorithm, layout);
  auto* blocks = dynamic_cast<BlockRounds*>(rounds.get());
  if (blocks == nullptr) throw std::logic_error(algorithm + " does not say which blocks its messages carry");
  rounds.release();
  return {algorithm, request, layout, std::unique_ptr<BlockRounds>(blocks)};
}

/// Puts the ranks on one axis of a torus, which the algorithm `torus` requires and others ignore.
inline RankLayout on_one_axis(RankLayout layout) {
  layout.torus = {layout.ranks()};
  return layout;
}

/// Visits every algorithm for n ranks, with equal and unequal sizes, three roots, few and many segments, and all sizes
/// of nodes that it supports.
template <typename Visit>
void for_every_case(Rank n, Visit&& visit) {
  for (const CollectiveAlgorithm& algorithm : collective_registry()) {
    for (const bool uneven : {false, true}) {
      if (uneven && whole_vector(algorithm.kind)) continue;
      for (const auto& [root, segment_bytes] : {std::pair{Rank{0}, 0.0}, {n / 2, 500.0}, {n - 1, 23.0}}) {
        const CollectiveRequest request = request_for(algorithm.kind, n, uneven, root, segment_bytes);
        if (n > 1 && algorithm.name == "hierarchical") {
          for (Rank per_node = 2; per_node < n; ++per_node) {
            if (n % per_node == 0) visit(lay_out_case(request, algorithm.name, ranks_on_nodes(n, per_node)));
          }
        } else {
          visit(lay_out_case(request, algorithm.name, on_one_axis(ranks_on_nodes(n))));
        }
      }
    }
  }
}

/// Content of a block: for each rank, how often its contribution was added.
using Content = std::vector<double>;

/// Executes the rounds on data. Each block of rank r starts as the r-th unit vector. The full sum is then a vector of
/// ones, so every missing or repeated addition shows. Returns the error; empty if there is none.
class CarryOut {
 public:
  explicit CarryOut(const Case& what) : case_(what), n_(what.layout.ranks()), has_(static_cast<std::size_t>(n_)) {
    start();
    const Pace pace = rounds().pace();
    for (std::int64_t round = 0; round < rounds().count() && wrong_.empty(); ++round) {
      // Delivers messages of rounds that are in flight as late as the algorithm's pace allows.
      const bool part_begins = pace.part > 0 && round % pace.part == 0;
      while (!on_their_way_.empty() && on_their_way_.front().round <= round - (part_begins ? 1 : pace.in_flight)) {
        arrive(on_their_way_.front());
        on_their_way_.pop_front();
      }
      send(round);
    }
    for (const Message& message : on_their_way_) arrive(message);
    if (wrong_.empty()) check_end();
  }
  const std::string& wrong() const { return wrong_; }

 private:
  using Blocks = std::map<std::int64_t, Content>;
  struct Message {
    std::int64_t round;
    BlockParcel parcel;
    std::vector<Content> contents;
  };

  const BlockRounds& rounds() const { return *case_.rounds; }
  step::CollectiveKind kind() const { return case_.request.kind; }
  Blocks& of(Rank rank) { return has_[static_cast<std::size_t>(rank)]; }
  Content unit(Rank rank) const {
    Content content(static_cast<std::size_t>(n_), 0.0);
    content[static_cast<std::size_t>(rank)] = 1;
    return content;
  }
  bool is_block_of(std::int64_t block, Rank rank) const {
    switch (kind()) {
      case step::CollectiveKind::all_reduce:
      case step::CollectiveKind::reduce_scatter:
      case step::CollectiveKind::reduce:
        return true;
      case step::CollectiveKind::broadcast:
      case step::CollectiveKind::scatter:
        return rank == case_.request.root;
      case step::CollectiveKind::all_to_all:
        return block / n_ == rank;
      default:
        return rounds().origin(block) == rank;
    }
  }

  void start() {
    for (Rank rank = 0; rank < n_; ++rank) {
      for (std::int64_t block = 0; block < rounds().blocks(); ++block) {
        if (is_block_of(block, rank)) of(rank)[block] = unit(rank);
      }
    }
  }

  /// Sends the blocks that each sender had at the start of the round.
  void send(std::int64_t round) {
    for (Rank from = 0; from < n_; ++from) {
      std::vector<BlockParcel> parcels;
      rounds().sent(from, round, parcels);
      for (const BlockParcel& parcel : parcels) {
        Message message{round, parcel, {}};
        for (std::int64_t i = 0; i < parcel.blocks; ++i) {
          const auto found = of(from).find((parcel.first + i) % rounds().blocks());
          if (found == of(from).end()) {
            wrong_ = "rank " + std::to_string(from) + " sends a block in round " + std::to_string(round) +
                     " that it does not have";
            return;
          }
          message.contents.push_back(found->second);
        }
        on_their_way_.push_back(std::move(message));
      }
    }
  }

  void arrive(const Message& message) {
    for (std::int64_t i = 0; i < message.parcel.blocks; ++i) {
      const Content& content = message.contents[static_cast<std::size_t>(i)];
      Content& mine = of(message.parcel.peer)[(message.parcel.first + i) % rounds().blocks()];
      if (message.parcel.reduce && !mine.empty()) {
        for (std::size_t k = 0; k < mine.size(); ++k) mine[k] += content[k];
      } else {
        mine = content;
      }
    }
  }

  void expect(Rank rank, std::int64_t block, const Content& content) {
    const auto found = of(rank).find(block);
    if (found == of(rank).end() || found->second != content) {
      wrong_ = "rank " + std::to_string(rank) + " ends without, or with a wrong, block " + std::to_string(block);
    }
  }

  void check_end() {
    const Content sum(static_cast<std::size_t>(n_), 1.0);
    for (Rank rank = 0; rank < n_; ++rank) {
      for (std::int64_t block = 0; block < rounds().blocks(); ++block) {
        switch (kind()) {
          case step::CollectiveKind::all_reduce:
            expect(rank, block, sum);
            break;
          case step::CollectiveKind::reduce_scatter:
            if (n_ == 1 || rounds().origin(block) == rank) expect(rank, block, sum);
            break;
          case step::CollectiveKind::reduce:
            if (rank == case_.request.root) expect(rank, block, sum);
            break;
          case step::CollectiveKind::broadcast:
            expect(rank, block, unit(case_.request.root));
            break;
          case step::CollectiveKind::scatter:
            if (block == rank) expect(rank, block, unit(case_.request.root));
            break;
          case step::CollectiveKind::all_gather:
            expect(rank, block, unit(rounds().origin(block)));
            break;
          case step::CollectiveKind::gather:
            if (rank == case_.request.root) expect(rank, block, unit(rounds().origin(block)));
            break;
          case step::CollectiveKind::all_to_all:
            if (block % n_ == rank) expect(rank, block, unit(static_cast<Rank>(block / n_)));
            break;
          case step::CollectiveKind::stage_send:  // no registered algorithm has this kind
            break;
          case step::CollectiveKind::neighbour_exchange: {
            const auto from = static_cast<Rank>(block);
            const std::vector<Rank>& to = case_.request.neighbours[static_cast<std::size_t>(from)];
            if (std::find(to.begin(), to.end(), rank) != to.end()) expect(rank, block, unit(from));
            break;
          }
        }
      }
    }
  }

  const Case& case_;
  Rank n_;
  std::vector<Blocks> has_;           ///< blocks of each rank
  std::deque<Message> on_their_way_;  ///< messages in the order of rounds
  std::string wrong_;
};

}  // namespace dadsim::collectives
