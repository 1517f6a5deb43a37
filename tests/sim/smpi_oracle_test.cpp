#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/declared.hpp"
#include "sim/smpi_collective.hpp"

// Compares collectives with those of SMPI, SimGrid's MPI, which follow the MPI libraries. Both run on one platform with
// the same bandwidth sharing. SMPI adds a message's latency before its bytes, dadsim after them. Without queues between
// messages of a pair, both give latency plus bytes over rate. SMPI adds an envelope of 16 bytes to every message, below
// 0.1 % at these sizes.

namespace dadsim::sim {
namespace {

using test::by_smpi;

double by_dadsim(const spec::PlatformSpec& platform, step::CollectiveKind kind, const std::string& algorithm,
                 double bytes) {
  const std::vector<CollectiveJob> jobs{test::job(kind, algorithm, bytes)};
  return time_collectives(test::workers_on(platform, spec::Fidelity::message), jobs).timings.at(0).seconds;
}

constexpr double kMostDeviation = 1e-3;  // relative deviation

class Smpi : public testing::TestWithParam<std::tuple<std::string, std::pair<int, int>>> {};

/// Returns a platform whose hosts have one adapter of 100 Gbit/s and 1 µs each.
spec::PlatformSpec network(const std::string& name, int hosts) {
  const spec::LinkSpec nic = test::line(12.5e9, 1e-6);
  spec::GpuClusterSpec cluster = test::cluster_of(hosts, 1, nic, nic);
  // Both trees have eight hosts per leaf. The narrow tree has half as many lines up as down, so messages share lines.
  if (name == "fat_tree") cluster.fabric = test::fat_tree(8, nic);
  if (name == "narrow_fat_tree") cluster.fabric = test::fat_tree(8, nic, 2);
  return {"", cluster, {}, {}};
}

TEST_P(Smpi, CollectivesTakeTheSameTime) {
  const auto& [name, size] = GetParam();
  const auto [ranks, block] = size;  // block: bytes per rank
  const spec::PlatformSpec platform = network(name, ranks);
  const double vector = static_cast<double>(block) * ranks;
  const auto compare = [&](const char* what, double own, double theirs) {
    EXPECT_NEAR(own, theirs, kMostDeviation * theirs) << what;
    RecordProperty(what, fmt::format("{:.3e}", own / theirs - 1));
    fmt::print("{}: {:.6g} s, SMPI {:.6g} s, {:+.4f} %\n", what, own, theirs, 100 * (own / theirs - 1));
  };
  using enum step::CollectiveKind;
  const std::pair<std::string, test::AllReduce> all_reduces[] = {
      {"ring", simgrid::smpi::allreduce__lr},
      {"recursive-doubling", simgrid::smpi::allreduce__rdb},
      {"halving-doubling", simgrid::smpi::allreduce__rab_rdb},
  };
  for (const auto& [algorithm, function] : all_reduces) {
    compare(algorithm.c_str(), by_dadsim(platform, all_reduce, algorithm, vector),
            by_smpi(platform, function, nullptr, block / 4));
  }
  const std::pair<std::string, test::AllGather> all_gathers[] = {
      {"ring", simgrid::smpi::allgather__NTSLR},
      {"recursive-doubling", simgrid::smpi::allgather__rdb},
  };
  for (const auto& [algorithm, function] : all_gathers) {
    compare(("all-gather " + algorithm).c_str(), by_dadsim(platform, all_gather, algorithm, block),
            by_smpi(platform, nullptr, function, block / 4));
  }
}

const auto case_name = [](const auto& given) {
  const auto& [ranks, block] = std::get<1>(given.param);
  return fmt::format("{}_{}_ranks_{}_bytes", std::get<0>(given.param), ranks, block);
};

// SMPI's `rab_rdb` (MPICH's) is Rabenseifner's algorithm by halving and doubling; `rab1` and `rab2` send parts directly
// to their owners. SMPI's `NTSLR` gathers around a ring, while its `ring` changes partners every round.
INSTANTIATE_TEST_SUITE_P(Oracle, Smpi,
                         testing::Combine(testing::Values("one_switch", "fat_tree", "narrow_fat_tree"),
                                          testing::Values(std::pair{16, 4096}, std::pair{16, 65536},
                                                          std::pair{64, 4096}, std::pair{64, 16384})),
                         case_name);
// Most messages share lines on this platform.
INSTANTIATE_TEST_SUITE_P(LargeOracle, Smpi, testing::Values(std::tuple{"narrow_fat_tree", std::pair{256, 4096}}),
                         case_name);

}  // namespace
}  // namespace dadsim::sim
