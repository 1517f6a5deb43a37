// Compares the choices of NCCL's tuner with its formulas, computed by hand (NVIDIA/nccl 2.28, src/graph/tuning.cc).
// Tests that algorithms which a cluster cannot run are never chosen.
#include <gtest/gtest.h>

#include <set>

#include "collectives/nvls.hpp"
#include "gpu_layouts.hpp"

namespace dadsim::collectives {
namespace {

using step::CollectiveKind;
using enum spec::GpuGeneration;

struct Expected {
  double bytes;
  const char* choice;
  double microseconds;
};

void expect_choices(CollectiveKind kind, const GpuNodes& nodes, const std::vector<Expected>& all) {
  for (const Expected& one : all) {
    const CollectiveChoice taken = taken_by_library(kind, one.bytes, nodes.layout());
    const std::string protocol = to_string(taken.protocol);
    EXPECT_EQ(taken.algorithm + (protocol.empty() ? "" : " " + protocol), one.choice) << one.bytes;
    // Reference times have two to four digits.
    EXPECT_NEAR(1e6 * taken.seconds, one.microseconds, 0.015 * one.microseconds) << one.choice << ' ' << one.bytes;
  }
}

TEST(Nccl, AllReducesOfA100WithOneAdapterOf200) {
  expect_choices(CollectiveKind::all_reduce, {.nodes = 4},
                 {{64 * kKibi, "tree LL", 73},
                  {kMebi, "tree LL128", 234},
                  {16 * kMebi, "ring LL128", 1622},
                  {64 * kMebi, "ring Simple", 6017},
                  {kGibi, "ring Simple", 87.1e3}});
  expect_choices(CollectiveKind::all_reduce, {.nodes = 2}, {{kGibi, "tree Simple", 48.7e3}});
}

TEST(Nccl, AllReducesOverSockets) {
  expect_choices(CollectiveKind::all_reduce, {.nodes = 4, .gigabits = 100, .generation = volta, .sockets = true},
                 {{64 * kKibi, "ring LL", 100},
                  {kMebi, "ring LL", 417},
                  {64 * kMebi, "ring Simple", 11.4e3},
                  {kGibi, "ring Simple", 174e3}});
  expect_choices(CollectiveKind::all_reduce, {.nodes = 2, .gigabits = 10, .sockets = true},
                 {{64 * kKibi, "tree Simple", 191},
                  {kMebi, "ring Simple", 1920},
                  {16 * kMebi, "tree Simple", 22e3},
                  {64 * kMebi, "tree Simple", 76e3},
                  {kGibi, "tree Simple", 0.97e6}});
}

TEST(Nccl, OneGpuToANode) {
  const GpuNodes nodes{.nodes = 8, .gpus = 1};
  expect_choices(CollectiveKind::all_reduce, nodes,
                 {{64 * kKibi, "tree LL", 74}, {kMebi, "ring LL128", 216}, {64 * kMebi, "ring Simple", 5180}});
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    expect_choices(kind, nodes, {{64 * kKibi, "pat Simple", 46}, {kMebi, "pat Simple", 101}});
    EXPECT_EQ(taken_by_library(kind, 64 * kMebi, nodes.layout()).algorithm, "ring");
  }
}

TEST(Nccl, GathersAndScattersOfSeveralGpusToANode) {
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    expect_choices(kind, {.nodes = 4},
                   {{64 * kKibi, "ring LL", 76},
                    {kMebi, "ring LL128", 128},
                    {16 * kMebi, "ring LL128", 818},
                    {64 * kMebi, "ring Simple", 2930},
                    {kGibi, "ring Simple", 43.6e3}});
  }
}

TEST(Nccl, HopperAddsUpInItsSwitches) {
  const GpuNodes one{.nodes = 1, .generation = hopper};
  for (const double bytes : {64 * kKibi, kMebi}) {
    EXPECT_EQ(taken_by_library(CollectiveKind::all_reduce, bytes, one.layout()).algorithm, "ring") << bytes;
  }
  for (const double bytes : {16 * kMebi, kGibi}) {
    EXPECT_EQ(taken_by_library(CollectiveKind::all_reduce, bytes, one.layout()).algorithm, "nvls") << bytes;
  }
  const GpuNodes two{.nodes = 2, .rails = 8, .gigabits = 400, .generation = hopper};
  const GpuNodes four{.nodes = 4, .rails = 8, .gigabits = 400, .generation = hopper};
  expect_choices(CollectiveKind::all_reduce, four,
                 {{16 * kMebi, "tree LL128", 185.6}, {kGibi, "nvls-tree Simple", 5887}});
  EXPECT_EQ(taken_by_library(CollectiveKind::all_reduce, 16 * kMebi, two.layout()).algorithm, "nvls-tree");
  EXPECT_EQ(taken_by_library(CollectiveKind::all_reduce, 64 * kMebi, four.layout()).algorithm, "nvls-tree");
  EXPECT_EQ(taken_by_library(CollectiveKind::all_reduce, 64 * kKibi, two.layout()).algorithm, "tree");
}

// Between nodes, NVLS has one channel per adapter, and requires at least two channels.
TEST(Nccl, HopperWithOneAdapterHasNoNvlsTree) {
  for (const Rank nodes : {2, 3, 4}) {
    for (const bool sockets : {false, true}) {
      const RankLayout layout = GpuNodes{.nodes = nodes, .generation = hopper, .sockets = sockets}.layout();
      for (double bytes = 1; bytes < 1e12; bytes *= 4) {
        EXPECT_NE(taken_by_library(CollectiveKind::all_reduce, bytes, layout).algorithm, "nvls-tree") << bytes;
      }
    }
  }
}

// A rack of 72 GPUs is one node: a ring takes 71 steps, its switch takes one.
TEST(Nccl, AWholeRackGathersThroughItsSwitch) {
  const RankLayout layout = GpuNodes{.nodes = 1, .gpus = 72, .generation = blackwell}.layout();
  EXPECT_EQ(taken_by_library(CollectiveKind::all_gather, kMebi, layout).algorithm, "nvls");
  EXPECT_EQ(taken_by_library(CollectiveKind::reduce_scatter, 16 * kMebi, layout).algorithm, "nvls");
  EXPECT_EQ(taken_by_library(CollectiveKind::all_gather, 64 * kGibi, layout).algorithm, "ring");
}

// Five published all-reduces on such racks took as long as a ring.
TEST(Nccl, AWholeRackAddsUpInARing) {
  const RankLayout rack = GpuNodes{.nodes = 1, .gpus = 72, .generation = blackwell}.layout();
  const RankLayout host = GpuNodes{.nodes = 1, .gpus = 8, .generation = blackwell}.layout();
  for (const double bytes : {16 * kMebi, kGibi, 8 * kGibi}) {
    EXPECT_EQ(taken_by_library(CollectiveKind::all_reduce, bytes, rack).algorithm, "ring") << bytes;
    EXPECT_EQ(taken_by_library(CollectiveKind::all_reduce, bytes, host).algorithm, "nvls") << bytes;
  }
}

TEST(Nccl, HasNoLl128OverSocketsAndWithoutNvlink) {
  RankLayout layouts[] = {GpuNodes{.nodes = 4, .sockets = true}.layout(), GpuNodes{.nodes = 1}.layout()};
  layouts[1].nvlink_inside = false;
  for (const RankLayout& layout : layouts) {
    for (const CollectiveChoice& choice :
         library_choices(request_for(CollectiveKind::all_reduce, layout.ranks(), false), layout)) {
      EXPECT_NE(choice.protocol, Protocol::ll128);
    }
  }
}

/// A fabric of the sweep below; adapters have this many Gbit/s.
struct Fabric {
  double gigabits;
  bool sockets;
};

// On clusters of 2 to 16 nodes with 2, 4 or 8 GPUs and 1 to 8 adapters, the chosen algorithm must exist in NCCL and be
// the choice of its formulas.
TEST(Nccl, TakesNothingThatItDoesNotHave) {
  const std::set<std::string> all_reduces{"ring", "tree", "nvls-tree"};
  for (const Fabric& fabric : {Fabric{25, true}, Fabric{200, false}, Fabric{100, false}}) {
    for (const spec::GpuGeneration generation : {volta, ampere, hopper, blackwell}) {
      for (const Rank nodes : {2, 3, 4, 8, 16}) {
        for (const Rank gpus : {2, 4, 8}) {
          for (Rank rails = 1; rails <= gpus; rails *= 2) {
            const RankLayout layout = GpuNodes{.nodes = nodes,
                                               .gpus = gpus,
                                               .rails = rails,
                                               .gigabits = fabric.gigabits,
                                               .generation = generation,
                                               .sockets = fabric.sockets}
                                          .layout();
            for (double bytes = 1024; bytes <= 4e9; bytes *= 16) {
              const CollectiveChoice sum = taken_by_library(CollectiveKind::all_reduce, bytes, layout);
              EXPECT_TRUE(all_reduces.contains(sum.algorithm)) << sum.algorithm;
              for (const CollectiveKind part : {CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
                const CollectiveChoice taken = taken_by_library(part, bytes, layout);
                EXPECT_EQ(taken.algorithm, "ring");
              }
              for (const CollectiveKind one : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
                EXPECT_EQ(taken_by_library(one, bytes, layout).algorithm, "ring");
              }
            }
          }
        }
      }
    }
  }
}

// In a ring, a reduce-scatter or all-gather has half of the all-reduce's rounds, with the same blocks.
TEST(Nccl, APartOfAnAllReduceHasHalfOfItsRing) {
  for (const Rank rails : {1, 2, 8}) {
    const RankLayout layout = GpuNodes{.nodes = 4, .rails = rails}.layout();
    CollectiveRequest request = request_for(CollectiveKind::all_reduce, layout.ranks(), false);
    request.bytes = {kGibi};
    const auto rounds = [&](CollectiveKind kind, double bytes) {
      request.kind = kind;
      request.bytes = {bytes};
      return lay_out(request, "auto", layout)->count();
    };
    const std::int64_t whole = rounds(CollectiveKind::all_reduce, kGibi);
    EXPECT_EQ(2 * rounds(CollectiveKind::reduce_scatter, kGibi), whole);
    EXPECT_EQ(2 * rounds(CollectiveKind::all_gather, kGibi / layout.ranks()), whole);
  }
}

TEST(Nccl, WritesAllMessagesOfACollectiveByOneProtocol) {
  const RankLayout layout = GpuNodes{.nodes = 4}.layout();
  CollectiveRequest request = request_for(CollectiveKind::all_reduce, layout.ranks(), false);
  const auto protocol = [&](double bytes, const char* algorithm) {
    request.bytes = {bytes};
    return lay_out(request, algorithm, layout)->protocol();
  };
  EXPECT_EQ(protocol(64 * kMebi, "auto"), Protocol::simple);
  EXPECT_EQ(protocol(16 * kMebi, "auto"), Protocol::ll128);
  EXPECT_EQ(protocol(1024, "ring"), Protocol::ll);
  EXPECT_EQ(protocol(1024, "hierarchical"), Protocol::by_message) << "NCCL has no such algorithm";
  request.protocol = Protocol::simple;
  EXPECT_EQ(protocol(1024, "ring"), Protocol::simple) << "as people set NCCL_PROTO";
}

TEST(Nccl, SaysHowPeopleSetWhatItHas) {
  const RankLayout layout = GpuNodes{.nodes = 4}.layout();
  std::set<std::string> settings;
  for (const CollectiveChoice& one :
       library_choices(request_for(CollectiveKind::all_reduce, layout.ranks(), false), layout)) {
    settings.insert(one.setting);
  }
  EXPECT_EQ(settings, (std::set<std::string>{"NCCL_ALGO=Tree NCCL_PROTO=LL", "NCCL_ALGO=Tree NCCL_PROTO=LL128",
                                             "NCCL_ALGO=Tree NCCL_PROTO=Simple", "NCCL_ALGO=Ring NCCL_PROTO=LL",
                                             "NCCL_ALGO=Ring NCCL_PROTO=LL128", "NCCL_ALGO=Ring NCCL_PROTO=Simple"}));
}

TEST(RingPipeline, BroadcastsAndReducesThroughEveryAdapter) {
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    for (const auto& [nodes, gpus] : {std::pair<Rank, Rank>{1, 8}, {2, 2}, {3, 4}, {2, 8}, {5, 3}}) {
      for (const Rank root : {0, 1, nodes * gpus - 1}) {
        for (const bool sockets : {false, true}) {
          const GpuNodes on{.nodes = nodes, .gpus = gpus, .rails = gpus, .sockets = sockets};
          const Case what = lay_out_case(request_for(kind, nodes * gpus, false, root, 40), "ring", on.layout());
          EXPECT_EQ(CarryOut(what).wrong(), "") << what.name();
          EXPECT_EQ(what.rounds->lanes(), nodes > 1 ? gpus : 1);
        }
      }
    }
  }
}

TEST(RingOverSockets, HasAConnectionForEachAdapter) {
  for (const Rank rails : {1, 2, 4, 8}) {
    const RankLayout layout = GpuNodes{.nodes = 3, .rails = rails, .sockets = true}.layout();
    const Case what = lay_out_case(request_for(CollectiveKind::all_reduce, 24, false), "ring", layout);
    EXPECT_EQ(what.rounds->lanes(), rails);
    EXPECT_EQ(CarryOut(what).wrong(), "");
    std::set<Rank> leaves;  // adapters over which ranks send to another node
    std::vector<Transfer> transfers;
    for (Rank rank = 0; rank < 8; ++rank) {
      transfers.clear();
      what.rounds->sends(rank, 0, transfers);
      for (const Transfer& one : transfers) {
        if (one.peer / 8 != 0) leaves.insert(rank * rails / 8);
      }
    }
    EXPECT_EQ(leaves.size(), static_cast<std::size_t>(rails));
  }
}

TEST(NvlsOneWay, LoadsAPortWithTheBlocksOfTheOthers) {
  const Rank n = 8;
  CollectiveRequest request = request_for(CollectiveKind::all_gather, n, false);
  request.bytes = {1e9};
  const auto rounds = lay_out(request, "nvls", ranks_on_nodes(n));
  std::vector<Transfer> transfers;
  for (std::int64_t round = 0; round < rounds->count(); ++round) rounds->sends(3, round, transfers);
  double sent = 0;
  for (const Transfer& one : transfers) sent += one.bytes;
  EXPECT_NEAR(sent, (n - 1) * 1e9 / nvls_efficiency(), 1);
}

}  // namespace
}  // namespace dadsim::collectives
