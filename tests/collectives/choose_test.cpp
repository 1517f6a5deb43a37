// Tests which algorithm `auto` chooses for MPI, and the rules that apply to all libraries.
#include <gtest/gtest.h>

#include "collectives/closed_form.hpp"
#include "gpu_layouts.hpp"

namespace dadsim::collectives {
namespace {

using step::CollectiveKind;

std::string chosen(CollectiveKind kind, double bytes, const RankLayout& layout) {
  CollectiveRequest request = request_for(kind, layout.ranks(), false);
  request.bytes = {bytes};
  return choose_collective(request, layout);
}

/// `bytes` is the total over all ranks.
std::string by_mpi(CollectiveKind kind, double bytes, Rank n, Rank per_node = 1) {
  return chosen(kind, whole_vector(kind) ? bytes : bytes / n, ranks_on_nodes(n, per_node));
}

// The tuning of MPICH (pmodels/mpich, maint/tuning/coll/mpir/generic.json) never chooses a ring for an all-reduce.
TEST(Mpi, SumsByDoublingAndThenByHalvingAndDoubling) {
  for (const Rank n : {4, 5, 12, 64, 1024}) {
    EXPECT_EQ(by_mpi(CollectiveKind::all_reduce, 2 * kKibi, n), "recursive-doubling") << n;
    for (const double bytes : {3 * kKibi, 1e6, 1e9}) {
      EXPECT_EQ(by_mpi(CollectiveKind::all_reduce, bytes, n), "halving-doubling") << n;
    }
  }
  EXPECT_EQ(by_mpi(CollectiveKind::all_reduce, 1e6, 32, 8), "halving-doubling") << "whatever the nodes";
}

TEST(Mpi, GathersByDoublingBruckAndTheRing) {
  EXPECT_EQ(by_mpi(CollectiveKind::all_gather, 8, 8), "recursive-doubling");
  EXPECT_EQ(by_mpi(CollectiveKind::all_gather, 511 * kKibi, 8), "recursive-doubling");
  EXPECT_EQ(by_mpi(CollectiveKind::all_gather, 512 * kKibi, 8), "ring");
  EXPECT_EQ(by_mpi(CollectiveKind::all_gather, 79 * kKibi, 6), "bruck");
  EXPECT_EQ(by_mpi(CollectiveKind::all_gather, 80 * kKibi, 6), "ring");
}

TEST(Mpi, ScattersSumsByHalvingAndThenPairwise) {
  EXPECT_EQ(by_mpi(CollectiveKind::reduce_scatter, 511 * kKibi, 6), "recursive-halving");
  EXPECT_EQ(by_mpi(CollectiveKind::reduce_scatter, 512 * kKibi, 6), "pairwise");
}

TEST(Mpi, BroadcastsThroughATreeAndThenInBlocks) {
  EXPECT_EQ(by_mpi(CollectiveKind::broadcast, 11 * kKibi, 16), "binomial");
  EXPECT_EQ(by_mpi(CollectiveKind::broadcast, 1e9, 7), "binomial");
  EXPECT_EQ(by_mpi(CollectiveKind::broadcast, 12 * kKibi, 16), "scatter-doubling");
  EXPECT_EQ(by_mpi(CollectiveKind::broadcast, 12 * kKibi, 12), "scatter-ring");
  EXPECT_EQ(by_mpi(CollectiveKind::broadcast, 1e9, 16), "scatter-ring");
}

TEST(Mpi, ReducesThroughATreeAndThenInBlocks) {
  EXPECT_EQ(by_mpi(CollectiveKind::reduce, 2 * kKibi, 12), "binomial");
  EXPECT_EQ(by_mpi(CollectiveKind::reduce, 1e9, 12), "halving-gather");
}

TEST(Mpi, OtherKinds) {
  const RankLayout layout = ranks_on_nodes(8);
  for (const double bytes : {0.0, 8.0, 1e9}) {
    EXPECT_EQ(chosen(CollectiveKind::gather, bytes, layout), "binomial");
    EXPECT_EQ(chosen(CollectiveKind::scatter, bytes, layout), "binomial");
    EXPECT_EQ(chosen(CollectiveKind::neighbour_exchange, bytes, layout), "direct");
  }
  EXPECT_EQ(chosen(CollectiveKind::all_to_all, 32 * kKibi, layout), "direct");
  EXPECT_EQ(chosen(CollectiveKind::all_to_all, 33 * kKibi, layout), "pairwise");
}

TEST(Mpi, NamesItsOtherAlgorithmsAndTheVariableThatTakesThem) {
  CollectiveRequest request = request_for(CollectiveKind::all_reduce, 8, false);
  request.bytes = {1e6};
  const std::vector<CollectiveChoice> choices = library_choices(request, ranks_on_nodes(8));
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[1].algorithm, "recursive-doubling");
  EXPECT_EQ(choices[1].setting, "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling");
}

RankLayout mesh(Rank nodes, Rank gpus, spec::CollectiveLibrary library) {
  RankLayout layout = GpuNodes{.nodes = nodes, .gpus = gpus, .rails = gpus}.layout();
  layout.library = library;
  layout.meshed_nodes = true;
  layout.nvlink_inside = library == spec::CollectiveLibrary::nccl;
  return layout;
}

TEST(Rccl, TakesAllLinksOfAMeshAtOnce) {
  const RankLayout node = mesh(1, 8, spec::CollectiveLibrary::rccl);
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
    EXPECT_EQ(chosen(kind, 1e8, node), "direct") << to_string(kind);
  }
}

TEST(Rccl, HasRingsAndTreesBetweenNodes) {
  const RankLayout nodes = mesh(4, 8, spec::CollectiveLibrary::rccl);
  EXPECT_EQ(chosen(CollectiveKind::all_reduce, 8, nodes), "tree");
  EXPECT_EQ(chosen(CollectiveKind::all_reduce, 1e11, nodes), "ring");
  for (const double bytes : {8.0, 1e6, 1e9}) {
    EXPECT_EQ(chosen(CollectiveKind::reduce_scatter, bytes, nodes), "ring");
    EXPECT_EQ(chosen(CollectiveKind::all_gather, bytes, nodes), "ring");
    EXPECT_EQ(chosen(CollectiveKind::broadcast, bytes, nodes), "ring");
  }
}

// On a mesh, NCCL has only rings, which are closed and laid out so that they use every link.
TEST(Nccl, TakesClosedRingsThroughAllLinksOfAMesh) {
  for (const Rank gpus : {4, 8}) {
    const RankLayout node = mesh(1, gpus, spec::CollectiveLibrary::nccl);
    EXPECT_EQ(chosen(CollectiveKind::all_reduce, 1e9, node), "ring");
    const auto rounds = lay_out(request_for(CollectiveKind::all_reduce, gpus, false), "auto", node);
    EXPECT_GE(rounds->lanes(), gpus - 1);
  }
}

TEST(Auto, TiesGoToTheSameOneAlways) {
  for (const CollectiveAlgorithm& algorithm : collective_registry()) {
    for (const Rank n : {1, 2, 4}) {
      for (const RankLayout& layout : {ranks_on_nodes(n), GpuNodes{.nodes = n, .gpus = 1}.layout()}) {
        const std::string first = chosen(algorithm.kind, 0, layout);
        EXPECT_EQ(chosen(algorithm.kind, 0, layout), first);
      }
    }
  }
}

TEST(Auto, LaysOutWhatItChose) {
  for (const Rank n : {1, 2, 6, 16}) {
    for (const CollectiveAlgorithm& algorithm : collective_registry()) {
      for (const RankLayout& layout :
           {ranks_on_nodes(n), GpuNodes{.nodes = n, .gpus = 1}.layout(), GpuNodes{.nodes = n, .gpus = 4}.layout()}) {
        const CollectiveRequest request = request_for(algorithm.kind, layout.ranks(), true);
        const auto laid_out = lay_out(request, "auto", layout);
        const auto named = lay_out(request, choose_collective(request, layout), layout);
        EXPECT_EQ(laid_out->count(), named->count());
        EXPECT_EQ(laid_out->protocol(), named->protocol());
        EXPECT_EQ(closed_form_seconds(*laid_out, 1, 1), closed_form_seconds(*named, 1, 1));
      }
    }
  }
}

}  // namespace
}  // namespace dadsim::collectives
