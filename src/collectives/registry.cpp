#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "collectives/layouts.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::collectives {
namespace {

/// What a collective is when there is only one rank.
class NoRounds final : public BlockRounds {
 public:
  NoRounds() : BlockRounds(1, BlockSizes(1, 0)) {}
  std::int64_t count() const override { return 0; }
  void sent(Rank, std::int64_t, std::vector<Parcel>&) const override {}
  void received(Rank, std::int64_t, std::vector<Parcel>&) const override {}
};

struct Entry {
  CollectiveAlgorithm info;
  Layout* layout;
  bool needs_nodes = false;
};

const std::vector<Entry>& entries() {
  using enum step::CollectiveKind;
  static const std::string thakur = "Thakur, Rabenseifner, Gropp 2005 (MPICH)";
  static const std::vector<Entry> all{
      {{all_reduce, "ring", "blocks of b/N around a ring, twice; on nodes a ring through each rank's adapter",
        "Patarasu, Yuan 2009; NCCL's channels"},
       ring_all_reduce},
      {{all_reduce, "one-ring", "blocks of b/N around a single ring, twice", "Patarasu, Yuan 2009"},
       one_ring_all_reduce},
      {{all_reduce, "halving-doubling", "reduce-scatter by halving, all-gather by doubling", "Rabenseifner 2004"},
       halving_doubling_all_reduce},
      {{all_reduce, "recursive-doubling", "the whole vector with partners at 1, 2, 4, …", thakur},
       recursive_doubling_all_reduce},
      {{all_reduce, "double-binary-tree", "half of the vector through each of two trees, in segments",
        "Sanders, Speck, Träff 2009; NCCL 2.4"},
       double_binary_tree_all_reduce},
      {{all_reduce, "hierarchical", "rings inside the nodes, then between them, then inside", "Ueno, Yokota 2019"},
       hierarchical_all_reduce,
       true},
      {{all_reduce, "hierarchical-pipelined", "hierarchical in segments, inside and between at once",
        "Ueno, Yokota 2019, pipelined"},
       hierarchical_pipelined_all_reduce},
      {{all_reduce, "tree", "rings inside the nodes, two trees between them for each rank, in segments", "NCCL 2.4"},
       tree_all_reduce},
      {{all_reduce, "nvls-tree", "the switches of the nodes add up and copy, trees between them, in segments",
        "NCCL 2.18, Hopper and later"},
       nvls_tree_all_reduce},
      {{all_reduce, "sharp", "the switches between the nodes add up and copy, in segments",
        "InfiniBand SHARP, Graham et al. 2016; NCCL's CollNet"},
       sharp_all_reduce},
      {{all_reduce, "nvls", "the switch of a node adds up and copies, in segments", "NCCL 2.17, Hopper and later"},
       nvls_all_reduce},
      {{all_reduce, "gloo", "a ring of segments, two in flight", "gloo"}, gloo_all_reduce},
      {{all_reduce, "direct", "everybody sums the block everybody sent, and sends it to all", "two rounds for any N"},
       direct_all_reduce},
      {{all_reduce, "parameter-server", "everybody to the root, the root to everybody", "Li et al. 2014"},
       parameter_server_all_reduce},
      {{all_reduce, "gloo-parameter-server", "everybody to the root when it is ready, down a tree from it", "gloo"},
       gloo_parameter_server_all_reduce},
      {{all_reduce, "reduce-broadcast", "up a binomial tree and down again", thakur}, reduce_broadcast_all_reduce},
      {{reduce_scatter, "ring", "blocks of b/N around a ring, or as many as ranks in a node", "Patarasu, Yuan 2009"},
       ring_reduce_scatter},
      {{reduce_scatter, "pat", "a binomial tree for every block, what all have between two ranks in one message",
        "NCCL 2.23; Jeaugey 2025"},
       pat_reduce_scatter},
      {{reduce_scatter, "nvls", "the switch of a node adds up", "NCCL 2.20, Hopper and later"}, nvls_reduce_scatter},
      {{reduce_scatter, "pairwise", "one partner per round", thakur}, pairwise_reduce_scatter},
      {{reduce_scatter, "recursive-halving", "half as much with a partner half as far, each round", thakur},
       recursive_halving_reduce_scatter},
      {{reduce_scatter, "direct", "everybody sends everybody its block", "one round for any N"}, direct_reduce_scatter},
      {{all_gather, "ring", "blocks around a ring, or as many as ranks in a node", thakur}, ring_all_gather},
      {{all_gather, "pat", "a binomial tree for every block, what all have between two ranks in one message",
        "NCCL 2.23; Jeaugey 2025"},
       pat_all_gather},
      {{all_gather, "nvls", "the switch of a node copies", "NCCL 2.20, Hopper and later"}, nvls_all_gather},
      {{all_gather, "recursive-doubling", "all gathered so far with partners at 1, 2, 4, …", thakur},
       recursive_doubling_all_gather},
      {{all_gather, "bruck", "all gathered so far to the rank 1, 2, 4, … before", "Bruck et al. 1997"},
       bruck_all_gather},
      {{all_gather, "gloo", "a ring of segments, two in flight", "gloo"}, gloo_all_gather},
      {{all_gather, "direct", "everybody sends everybody its block", "one round for any N"}, direct_all_gather},
      {{all_gather, "hierarchical", "rings between the nodes, then inside", "Ueno, Yokota 2019"},
       hierarchical_all_gather,
       true},
      {{broadcast, "ring", "along the ring in segments, or along as many as ranks in a node", "NCCL's channels"},
       ring_broadcast},
      {{broadcast, "scatter-doubling", "blocks down a binomial tree, then all-gather by doubling", thakur},
       scatter_doubling_broadcast},
      {{broadcast, "scatter-ring", "blocks down a binomial tree, then all-gather around a ring", thakur},
       scatter_ring_broadcast},
      {{broadcast, "flat", "the root sends to everybody", "one round for any N"}, flat_broadcast},
      {{broadcast, "binomial", "down a binomial tree", thakur}, binomial_broadcast},
      {{broadcast, "chain", "from rank to rank, in segments", "Open MPI coll/base"}, chain_broadcast},
      {{reduce, "ring", "along the ring to the root in segments, or along as many as ranks in a node",
        "NCCL's channels"},
       ring_reduce},
      {{reduce, "binomial", "up a binomial tree", thakur}, binomial_reduce},
      {{reduce, "halving-gather", "reduce-scatter by halving, then blocks up a binomial tree", "Rabenseifner 2004"},
       halving_gather_reduce},
      {{gather, "flat", "everybody sends to the root", "one round for any N"}, flat_gather},
      {{gather, "binomial", "up a binomial tree", thakur}, binomial_gather},
      {{scatter, "flat", "the root sends to everybody", "one round for any N"}, flat_scatter},
      {{scatter, "binomial", "down a binomial tree", thakur}, binomial_scatter},
      {{all_to_all, "direct", "all messages at once", "one round for any N"}, direct_all_to_all},
      {{all_to_all, "pairwise", "one partner per round", thakur}, pairwise_all_to_all},
      {{neighbour_exchange, "direct", "along the edges of a graph, all at once", "MPI 3.0, neighbourhood collectives"},
       direct_neighbour_exchange},
  };
  return all;
}

[[noreturn]] void refuse(step::CollectiveKind kind, const std::string& what, const std::string& remedy) {
  throw RefusedCollective(kind, {what, remedy});
}

const Entry& find_entry(step::CollectiveKind kind, std::string_view name) {
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    if (entry.info.kind != kind) continue;
    if (entry.info.name == name) return entry;
    names.push_back(entry.info.name);
  }
  names.insert(names.end(), {"auto", "best"});
  refuse(kind, "there is no algorithm '" + std::string(name) + "'", suggestion(name, names));
}

bool takes_the_whole_vector(step::CollectiveKind kind) {
  return kind == step::CollectiveKind::all_reduce || kind == step::CollectiveKind::reduce_scatter ||
         kind == step::CollectiveKind::broadcast || kind == step::CollectiveKind::reduce;
}

void check_bytes(const CollectiveRequest& request, Rank n) {
  const std::string given = std::to_string(request.bytes.size()) + " sizes";
  if (takes_the_whole_vector(request.kind)) {
    if (request.bytes.size() != 1) refuse(request.kind, given, "it takes one, that of the whole vector");
  } else if (request.bytes.size() != 1 && request.bytes.size() != static_cast<std::size_t>(n)) {
    refuse(request.kind, given + " for " + std::to_string(n) + " ranks",
           "it takes one for each rank, or a single one if all are the same");
  }
  for (const double size : request.bytes) {
    if (!std::isfinite(size) || size < 0) {
      refuse(request.kind, "a size of " + std::to_string(size) + " bytes", "sizes are finite and not negative");
    }
  }
  if (!std::isfinite(request.segment_bytes) || request.segment_bytes < 0) {
    refuse(request.kind, "segments of " + std::to_string(request.segment_bytes) + " bytes",
           "a segment is larger than 0 bytes; 0 lets the algorithm choose");
  }
}

void check_neighbours(const CollectiveRequest& request, Rank n) {
  if (request.neighbours.size() != static_cast<std::size_t>(n)) {
    refuse(request.kind,
           "neighbours of " + std::to_string(request.neighbours.size()) + " ranks, not of " + std::to_string(n),
           "every rank has a list of those it sends to, which may be empty");
  }
  for (Rank rank = 0; rank < n; ++rank) {
    std::vector<Rank> peers = request.neighbours[static_cast<std::size_t>(rank)];
    std::sort(peers.begin(), peers.end());
    const std::string whose = "rank " + std::to_string(rank);
    if (!peers.empty() && (peers.front() < 0 || peers.back() >= n)) {
      const Rank stray = peers.front() < 0 ? peers.front() : peers.back();
      refuse(request.kind, whose + " has neighbour " + std::to_string(stray),
             "neighbours are ranks from 0 to " + std::to_string(n - 1));
    }
    if (std::binary_search(peers.begin(), peers.end(), rank)) {
      refuse(request.kind, whose + " is its own neighbour", "a rank does not send to itself");
    }
    if (const auto twice = std::adjacent_find(peers.begin(), peers.end()); twice != peers.end()) {
      refuse(request.kind, whose + " has neighbour " + std::to_string(*twice) + " twice", "an edge is listed once");
    }
  }
}

}  // namespace

void check_request(const CollectiveRequest& request, Rank n) {
  if (n < 1) refuse(request.kind, "no ranks", "a collective needs one rank or more");
  check_bytes(request, n);
  if (request.root < 0 || request.root >= n) {
    refuse(request.kind, "root " + std::to_string(request.root),
           "with " + std::to_string(n) + " ranks the root is from 0 to " + std::to_string(n - 1));
  }
  if (request.kind == step::CollectiveKind::neighbour_exchange) check_neighbours(request, n);
}

const std::vector<CollectiveAlgorithm>& collective_registry() {
  static const std::vector<CollectiveAlgorithm> registry = [] {
    std::vector<CollectiveAlgorithm> infos;
    for (const Entry& entry : entries()) infos.push_back(entry.info);
    return infos;
  }();
  return registry;
}

std::vector<std::string> fitting_algorithms(const CollectiveRequest& request, const RankLayout& layout) {
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    if (entry.info.kind != request.kind || (entry.needs_nodes && !layout.is_hierarchical())) continue;
    const std::string& name = entry.info.name;
    if (name.starts_with("nvls") && !layout.switch_adds_up) continue;
    if (name == "sharp" && !layout.fabric_adds_up) continue;
    try {
      lay_out(request, name, layout);
      names.push_back(name);
    } catch (const std::invalid_argument&) {  // not for these ranks
    }
  }
  return names;
}

std::unique_ptr<Rounds> lay_out(const CollectiveRequest& request, std::string_view algorithm,
                                const RankLayout& layout) {
  check_request(request, layout.ranks());
  const Entry& entry =
      find_entry(request.kind, algorithm == "auto" || algorithm == "best" ? choose_collective(request, layout)
                                                                          : std::string(algorithm));
  if (layout.ranks() == 1) return std::make_unique<NoRounds>();
  if (entry.needs_nodes && !layout.is_hierarchical()) {
    refuse(request.kind,
           "'" + entry.info.name +
               "' needs several nodes, each with the same number of ranks, two or more, numbered node by node",
           "'ring' serves any ranks");
  }
  std::unique_ptr<Rounds> rounds = entry.layout(request, layout);
  if (rounds->protocol() == Protocol::by_message) {
    const bool asked = request.protocol != Protocol::by_message;
    rounds->set_protocol(asked ? request.protocol : choose_protocol(request, entry.info.name, layout));
  }
  rounds->set_start_seconds(rounds->start_seconds() + layout.start_seconds);
  return rounds;
}

BlockSizes one_block_per_rank(const CollectiveRequest& request, Rank ranks) {
  return request.bytes.size() == 1 ? BlockSizes(ranks, request.bytes.front()) : BlockSizes(request.bytes);
}

const RankLayout::Channel& slowest_channel(const RankLayout& layout) {
  const bool one_node = std::all_of(layout.node_of.begin(), layout.node_of.end(),
                                    [&](std::int32_t node) { return node == layout.node_of.front(); });
  return one_node ? layout.inside : layout.between;
}

}  // namespace dadsim::collectives
