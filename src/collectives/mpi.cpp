// Algorithms of MPI libraries, by the thresholds of MPICH (pmodels/mpich 4.x, maint/tuning/coll/mpir/generic.json and
// the MPIR_CVAR_…_MSG_SIZE variables; Thakur, Rabenseifner, Gropp 2005). Open MPI's `tuned` component
// (coll_tuned_decision_fixed.c) has the same algorithms with other limits: Rabenseifner's all-reduce from 8 KiB on
// instead of 2 KiB, halving up to 256 KiB instead of 512.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/blocks.hpp"
#include "collectives/libraries.hpp"

namespace dadsim::collectives {
namespace {

constexpr double kKibibyte = 1024;

const char* all_reduce(double bytes) { return bytes <= 2 * kKibibyte ? "recursive-doubling" : "halving-doubling"; }

/// `bytes`: sum over all ranks.
const char* all_gather(double bytes, Rank n) {
  if (is_power_of_two(n) && bytes < 512 * kKibibyte) return "recursive-doubling";
  return bytes < 80 * kKibibyte ? "bruck" : "ring";
}

const char* reduce_scatter(double bytes) { return bytes < 512 * kKibibyte ? "recursive-halving" : "pairwise"; }

const char* broadcast(double bytes, Rank n) {
  if (bytes < 12 * kKibibyte || n < 8) return "binomial";
  return bytes < 512 * kKibibyte && is_power_of_two(n) ? "scatter-doubling" : "scatter-ring";
}

const char* reduce(double bytes) { return bytes <= 2 * kKibibyte ? "binomial" : "halving-gather"; }

/// `bytes`: bytes from one rank to another.
const char* all_to_all(double bytes) { return bytes <= 32 * kKibibyte ? "direct" : "pairwise"; }

const char* choice(const CollectiveRequest& request, Rank n) {
  using step::CollectiveKind;
  const double bytes = counted_bytes(request, n);
  switch (request.kind) {
    case CollectiveKind::all_reduce:
      return all_reduce(bytes);
    case CollectiveKind::all_gather:
      return all_gather(bytes, n);
    case CollectiveKind::reduce_scatter:
      return reduce_scatter(bytes);
    case CollectiveKind::broadcast:
      return broadcast(bytes, n);
    case CollectiveKind::reduce:
      return reduce(bytes);
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return "binomial";
    case CollectiveKind::all_to_all:
      return all_to_all(one_block_per_rank(request, n).largest());
    case CollectiveKind::neighbour_exchange:
    case CollectiveKind::stage_send:
      break;
  }
  return messages_at_once(request.kind);
}

/// MPICH's algorithms for a kind, with MPICH's names and the variable that selects one.
struct Family {
  const char* variable;
  std::vector<std::pair<const char*, const char*>> names;
};

Family family_of(step::CollectiveKind kind) {
  switch (kind) {
    case step::CollectiveKind::all_reduce:
      return {"ALLREDUCE",
              {{"recursive-doubling", "recursive_doubling"}, {"halving-doubling", "reduce_scatter_allgather"}}};
    case step::CollectiveKind::all_gather:
      return {"ALLGATHER", {{"recursive-doubling", "recursive_doubling"}, {"bruck", "brucks"}, {"ring", "ring"}}};
    case step::CollectiveKind::reduce_scatter:
      return {"REDUCE_SCATTER", {{"recursive-halving", "recursive_halving"}, {"pairwise", "pairwise"}}};
    case step::CollectiveKind::broadcast:
      return {"BCAST",
              {{"binomial", "binomial"},
               {"scatter-doubling", "scatter_recursive_doubling_allgather"},
               {"scatter-ring", "scatter_ring_allgather"}}};
    case step::CollectiveKind::reduce:
      return {"REDUCE", {{"binomial", "binomial"}, {"halving-gather", "reduce_scatter_gather"}}};
    default:
      return {};
  }
}

}  // namespace

std::vector<CollectiveChoice> mpi_choices(const CollectiveRequest& request, const RankLayout& layout) {
  const Rank n = layout.ranks();
  const std::string taken = choice(request, n);
  std::vector<CollectiveChoice> choices{{taken}};
  const Family family = family_of(request.kind);
  for (const auto& [name, own] : family.names) {
    const bool fits = request.kind != step::CollectiveKind::all_gather || is_power_of_two(n) ||
                      name != std::string_view("recursive-doubling");
    if (name == taken || !fits) continue;
    choices.push_back(
        {name, Protocol::by_message, 1, std::string("MPIR_CVAR_") + family.variable + "_INTRA_ALGORITHM=" + own});
  }
  return choices;
}

}  // namespace dadsim::collectives
