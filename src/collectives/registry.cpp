#include <algorithm>
#include <optional>

#include "collectives/layouts.hpp"
#include "collectives/libraries.hpp"
#include "collectives/request.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::collectives {
namespace {

/// Lays out a collective of a single rank, without messages.
class NoRounds final : public BlockRounds {
 public:
  NoRounds() : BlockRounds(1, BlockSizes(1, 0)) {}
  std::int64_t count() const override { return 0; }
  void sent(Rank, std::int64_t, std::vector<BlockParcel>&) const override {}
  void received(Rank, std::int64_t, std::vector<BlockParcel>&) const override {}
};

struct CollectiveEntry {
  CollectiveAlgorithm info;
  Layout* layout;
  bool needs_nodes = false;
};

const std::vector<CollectiveEntry>& entries() {
  using enum step::CollectiveKind;
  static const std::string thakur = "Thakur, Rabenseifner, Gropp 2005 (MPICH)";
  static const std::vector<CollectiveEntry> all{
      {{all_reduce, "ring", "blocks of b/N twice around a ring; on nodes, one ring through each rank's adapter",
        "Patarasuk, Yuan 2009; NCCL's channels"},
       ring_all_reduce},
      {{all_reduce, "one-ring", "blocks of b/N twice around a single ring", "Patarasuk, Yuan 2009"},
       one_ring_all_reduce},
      {{all_reduce, "ordered-ring", "blocks of b/N twice around a ring of the fastest pairs, for peers over a WAN",
        "PCCL, Keiblinger et al. 2025"},
       ordered_ring_all_reduce},
      {{all_reduce, "torus", "rings along each axis of a torus, both ways round, over all links at once",
        "Jain, Sabharwal 2010"},
       torus_all_reduce},
      {{all_reduce, "halving-doubling", "reduce-scatter by halving, all-gather by doubling", "Rabenseifner 2004"},
       halving_doubling_all_reduce},
      {{all_reduce, "recursive-doubling", "the whole vector with partners at 1, 2, 4, …", thakur},
       recursive_doubling_all_reduce},
      {{all_reduce, "double-binary-tree", "half of the vector through each of two trees, in segments",
        "Sanders, Speck, Träff 2009; NCCL 2.4"},
       double_binary_tree_all_reduce},
      {{all_reduce, "hierarchical", "rings inside the nodes, then between nodes, then inside again",
        "Ueno, Yokota 2019"},
       hierarchical_all_reduce,
       true},
      {{all_reduce, "hierarchical-pipelined", "hierarchical in segments, inside and between nodes at once",
        "Ueno, Yokota 2019, pipelined"},
       hierarchical_pipelined_all_reduce},
      {{all_reduce, "tree", "rings inside the nodes, two trees between nodes for each rank, in segments", "NCCL 2.4"},
       tree_all_reduce},
      {{all_reduce, "nvls-tree", "switches inside nodes sum and copy, and trees connect the nodes, in segments",
        "NCCL 2.18, Hopper and later"},
       nvls_tree_all_reduce},
      {{all_reduce, "sharp", "switches between nodes sum and copy, in segments",
        "InfiniBand SHARP, Graham et al. 2016; NCCL's CollNet"},
       sharp_all_reduce},
      {{all_reduce, "nvls", "the switch of the node computes the sum and copies, in segments",
        "NCCL 2.17, Hopper and later"},
       nvls_all_reduce},
      {{all_reduce, "gloo", "a ring of segments, two in flight", "gloo"}, gloo_all_reduce},
      {{all_reduce, "direct", "each rank sums the parts of its block, and sends it to all", "two rounds for any N"},
       direct_all_reduce},
      {{all_reduce, "parameter-server", "all ranks send to the root, and the root sends to all ranks",
        "Li et al. 2014"},
       parameter_server_all_reduce},
      {{all_reduce, "gloo-parameter-server", "all ranks send to the root when ready, and a tree distributes the sum",
        "gloo"},
       gloo_parameter_server_all_reduce},
      {{all_reduce, "reduce-broadcast", "the sum goes up a binomial tree and down again", thakur},
       reduce_broadcast_all_reduce},
      {{reduce_scatter, "ring", "blocks of b/N around a ring, or one ring per rank of a node", "Patarasuk, Yuan 2009"},
       ring_reduce_scatter},
      {{reduce_scatter, "torus", "rings along each axis of a torus, both ways round", "Jain, Sabharwal 2010"},
       torus_reduce_scatter},
      {{reduce_scatter, "pat", "a binomial tree per block; blocks between the same two ranks share a message",
        "NCCL 2.23; Jeaugey 2025"},
       pat_reduce_scatter},
      {{reduce_scatter, "nvls", "the switch of the node computes the sum", "NCCL 2.20, Hopper and later"},
       nvls_reduce_scatter},
      {{reduce_scatter, "pairwise", "one partner per round", thakur}, pairwise_reduce_scatter},
      {{reduce_scatter, "recursive-halving", "each round exchanges half as much with a partner half as far", thakur},
       recursive_halving_reduce_scatter},
      {{reduce_scatter, "direct", "each rank gets and sums all parts of its block at once", "one round for any N"},
       direct_reduce_scatter},
      {{all_gather, "ring", "blocks around a ring, or one ring per rank of a node", thakur}, ring_all_gather},
      {{all_gather, "torus", "rings along each axis of a torus, both ways round", "Jain, Sabharwal 2010"},
       torus_all_gather},
      {{all_gather, "pat", "a binomial tree per block; blocks between the same two ranks share a message",
        "NCCL 2.23; Jeaugey 2025"},
       pat_all_gather},
      {{all_gather, "nvls", "the switch of a node copies", "NCCL 2.20, Hopper and later"}, nvls_all_gather},
      {{all_gather, "recursive-doubling",
        "each rank exchanges all blocks gathered so far with the rank at distance 1, 2, 4, …", thakur},
       recursive_doubling_all_gather},
      {{all_gather, "bruck", "each rank sends the blocks gathered so far to the preceding rank at distance 1, 2, 4, …",
        "Bruck et al. 1997"},
       bruck_all_gather},
      {{all_gather, "gloo", "a ring of segments, two in flight", "gloo"}, gloo_all_gather},
      {{all_gather, "direct", "every rank sends its block to every other rank", "one round for any N"},
       direct_all_gather},
      {{all_gather, "hierarchical", "rings between the nodes, then inside", "Ueno, Yokota 2019"},
       hierarchical_all_gather,
       true},
      {{broadcast, "ring", "along the ring in segments, or along one ring per rank of a node", "NCCL's channels"},
       ring_broadcast},
      {{broadcast, "scatter-doubling", "blocks down a binomial tree, then all-gather by doubling", thakur},
       scatter_doubling_broadcast},
      {{broadcast, "scatter-ring", "blocks down a binomial tree, then all-gather around a ring", thakur},
       scatter_ring_broadcast},
      {{broadcast, "flat", "the root sends to all ranks", "one round for any N"}, flat_broadcast},
      {{broadcast, "binomial", "down a binomial tree", thakur}, binomial_broadcast},
      {{broadcast, "chain", "from rank to rank, in segments", "Open MPI coll/base"}, chain_broadcast},
      {{reduce, "ring", "along the ring to the root in segments, or one ring per rank of a node", "NCCL's channels"},
       ring_reduce},
      {{reduce, "binomial", "up a binomial tree", thakur}, binomial_reduce},
      {{reduce, "halving-gather", "reduce-scatter by halving, then blocks up a binomial tree", "Rabenseifner 2004"},
       halving_gather_reduce},
      {{gather, "flat", "all ranks send to the root", "one round for any N"}, flat_gather},
      {{gather, "binomial", "up a binomial tree", thakur}, binomial_gather},
      {{scatter, "flat", "the root sends to all ranks", "one round for any N"}, flat_scatter},
      {{scatter, "binomial", "down a binomial tree", thakur}, binomial_scatter},
      {{all_to_all, "direct", "all messages at once", "one round for any N"}, direct_all_to_all},
      {{all_to_all, "pairwise", "one partner per round", thakur}, pairwise_all_to_all},
      {{neighbour_exchange, "direct", "along the edges of a graph, all at once", "MPI 3.0, neighbourhood collectives"},
       direct_neighbour_exchange},
  };
  return all;
}

/// Returns whether an algorithm needs nodes of equal size, because each shard is summed with its counterparts in all
/// other nodes.
bool needs_even_nodes(std::string_view name) { return name == "nvls-tree" || name == "sharp"; }

const CollectiveEntry* find_entry(step::CollectiveKind kind, std::string_view name) {
  const auto found = std::ranges::find_if(
      entries(), [&](const CollectiveEntry& entry) { return entry.info.kind == kind && entry.info.name == name; });
  return found == entries().end() ? nullptr : &*found;
}

Fault no_such(step::CollectiveKind kind, std::string_view name) {
  std::vector<std::string> names;
  for (const CollectiveEntry& entry : entries()) {
    if (entry.info.kind == kind) names.push_back(entry.info.name);
  }
  names.insert(names.end(), {"auto", "best"});
  return {"there is no algorithm '" + std::string(name) + "'", suggestion(name, names)};
}

}  // namespace

const std::vector<CollectiveAlgorithm>& collective_registry() {
  static const std::vector<CollectiveAlgorithm> registry = [] {
    std::vector<CollectiveAlgorithm> infos;
    for (const CollectiveEntry& entry : entries()) infos.push_back(entry.info);
    return infos;
  }();
  return registry;
}

std::vector<std::string> fitting_algorithms(const CollectiveRequest& request, const RankLayout& layout) {
  std::vector<std::string> names;
  if (fault_in(request, layout.ranks())) return names;
  for (const CollectiveEntry& entry : entries()) {
    if (entry.info.kind != request.kind || (entry.needs_nodes && !layout.is_hierarchical())) continue;
    const std::string& name = entry.info.name;
    if (name.starts_with("nvls") && !layout.switch_adds_up) continue;
    if (name == "sharp" && !layout.fabric_adds_up) continue;
    if (name == "ordered-ring" && layout.ring_order.empty()) continue;
    if (name == "torus" && layout.torus.empty()) continue;
    if (needs_even_nodes(name) && has_uneven_nodes(layout)) continue;
    names.push_back(name);
  }
  return names;
}

std::optional<Fault> fault_of(const CollectiveRequest& request, std::string_view algorithm, const RankLayout& layout) {
  if (std::optional<Fault> fault = fault_in(request, layout.ranks())) return fault;
  if (algorithm == "auto" || algorithm == "best") return {};
  const CollectiveEntry* entry = find_entry(request.kind, algorithm);
  if (entry == nullptr) return no_such(request.kind, algorithm);
  if (needs_even_nodes(algorithm) && has_uneven_nodes(layout)) {
    return Fault{"'" + entry->info.name + "' needs nodes of one size, numbered node by node",
                 "use 'tree' or 'ring' for nodes of any size"};
  }
  if (layout.ranks() > 1 && entry->info.name == "torus" && layout.torus.empty()) {
    return Fault{"'torus' needs single chips that fill a grid of one torus", "use 'ring' for any ranks"};
  }
  if (layout.ranks() == 1 || !entry->needs_nodes || layout.is_hierarchical()) return {};
  return Fault{"'" + entry->info.name +
                   "' needs several nodes, each with the same number of ranks, two or more, numbered node by node",
               "use 'ring' for any ranks"};
}

std::unique_ptr<Rounds> lay_out(const CollectiveRequest& request, std::string_view name, const RankLayout& layout) {
  std::string algorithm(name);
  if (std::optional<Fault> fault = fault_of(request, algorithm, layout))
    throw RefusedCollective(request.kind, *std::move(fault));
  if (algorithm == "auto" || algorithm == "best") {
    algorithm = choose_collective(request, layout);
    if (std::optional<Fault> fault = fault_of(request, algorithm, layout))
      throw RefusedCollective(request.kind, *std::move(fault));
  }
  const CollectiveEntry& entry = *find_entry(request.kind, algorithm);
  if (layout.ranks() == 1) return std::make_unique<NoRounds>();
  std::unique_ptr<Rounds> rounds = entry.layout(request, layout);
  if (rounds->protocol() == Protocol::by_message) {
    const bool asked = request.protocol != Protocol::by_message;
    rounds->set_protocol(asked ? request.protocol : choose_protocol(request, entry.info.name, layout));
  }
  rounds->set_start_seconds(rounds->start_seconds() + layout.start_seconds +
                            socket_start_seconds(entry.info.name, layout));
  rounds->set_post_seconds(socket_post_seconds(request, entry.info.name, rounds->protocol(), layout) +
                           beside_kernels_post_seconds(request, entry.info.name, layout));
  return rounds;
}

}  // namespace dadsim::collectives
