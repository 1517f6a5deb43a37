#include "collectives/nccl_facts.hpp"

#include <cmath>
#include <cstddef>
#include <map>
#include <string>

#include "collectives/libraries.hpp"
#include "collectives/nccl_caps.csv.hpp"
#include "collectives/nccl_channel_speeds.csv.hpp"
#include "collectives/nccl_constants.csv.hpp"
#include "collectives/nccl_generations.csv.hpp"
#include "collectives/nccl_latencies.csv.hpp"
#include "collectives/nccl_tree_shares.csv.hpp"
#include "spec/fact_cells.hpp"
#include "support/split.hpp"

namespace dadsim::collectives {
namespace nccl {
namespace {

std::vector<double> numbers_in(const FactTable::Row& row, std::string_view column) {
  std::vector<double> numbers;
  for (const std::string& word : words_of(row.text(column))) numbers.push_back(row.number_of(word, column));
  return numbers;
}

std::map<Algorithm, AlgorithmLatencies> read_latencies() {
  using Member = Latencies AlgorithmLatencies::*;
  std::map<Algorithm, AlgorithmLatencies> all;
  const FactTable table(tables::kNcclLatencies,
                        {"algorithm", "of", "ll [us]", "ll128 [us]", "simple [us]", "date", "source"}, 2);
  for (const FactTable::Row& row : table.rows()) {
    const auto of = row.one_of<Member>("of", {{"base", &AlgorithmLatencies::base},
                                              {"nvlink", &AlgorithmLatencies::over_nvlink},
                                              {"pcie", &AlgorithmLatencies::over_pcie},
                                              {"network", &AlgorithmLatencies::between}});
    const double simple = row.number("simple [us]");
    all[spec::named_in<Algorithm>(row, "algorithm")].*
        of = {row.number_or("ll [us]", simple), row.number_or("ll128 [us]", simple), simple};
  }
  return all;
}

/// Reads the table of caps, keyed by GPU generation or CPU, and by the capped quantity.
std::map<std::string, std::map<std::string, ByNodes>> read_caps() {
  std::map<std::string, std::map<std::string, ByNodes>> caps;
  const FactTable table(tables::kNcclCaps,
                        {"of", "cap", "one node [GB/s]", "two nodes [GB/s]", "more nodes [GB/s]", "date", "source"}, 2);
  for (const FactTable::Row& row : table.rows()) {
    caps[row.text("of")][row.text("cap")] = {row.number_or("one node [GB/s]", 0), row.number_or("two nodes [GB/s]", 0),
                                             row.number_or("more nodes [GB/s]", 0)};
  }
  return caps;
}

std::map<spec::GpuGeneration, Generation> read_generations() {
  auto caps = read_caps();
  const FactTable speeds(tables::kNcclChannelSpeeds, {"list", "speeds [GB/s]", "date", "source"});
  const FactTable table(tables::kNcclGenerations, {"generation", "channel [GB/s]", "cpu", "plateau", "nvls efficiency",
                                                   "nvls channels", "speeds", "date", "source"});
  std::map<spec::GpuGeneration, Generation> all;
  for (const FactTable::Row& row : table.rows()) {
    auto& own = caps[row.text("generation")];
    const ByNodes& by_cpu = caps[row.text("cpu")]["ll"];
    all[spec::named_in<spec::GpuGeneration>(row, "generation")] = {
        .tree = own["tree"],
        .ring_ll128 = own["ring-ll128"],
        .tree_ll128 = own["tree-ll128"],
        .nvls_tree = own["nvls-tree"],
        .ll = {own["ll"][0], by_cpu[1], by_cpu[2]},
        .channel = row.number("channel [GB/s]"),
        .amd_cpu = row.one_of<bool>("cpu", {{"amd", true}, {"intel", false}}),
        .plateau = row.number("plateau"),
        .nvls_efficiency = row.number("nvls efficiency"),
        .nvls_channels = row.number("nvls channels"),
        .speeds = numbers_in(row.row_of("speeds", speeds), "speeds [GB/s]")};
  }
  return all;
}

}  // namespace

const AlgorithmLatencies& latencies_of(Algorithm algorithm) {
  static const std::map<Algorithm, AlgorithmLatencies> kLatencies = read_latencies();
  return kLatencies.at(algorithm);
}

const Generation& generation_of(spec::GpuGeneration generation) {
  static const std::map<spec::GpuGeneration, Generation> kGenerations = read_generations();
  return kGenerations.at(generation);
}

const Constants& constants() {
  static const auto kConstants =
      read_constants<Constants>(tables::kNcclConstants, {{"ring ll", &Constants::ring_ll},
                                                         {"ring ll128", &Constants::ring_ll128},
                                                         {"tree simple", &Constants::tree_simple},
                                                         {"tree ll", &Constants::tree_ll},
                                                         {"tree ll128 one node", &Constants::tree_ll128_one_node},
                                                         {"tree ll128", &Constants::tree_ll128},
                                                         {"collnet direct", &Constants::collnet_direct},
                                                         {"collnet gather", &Constants::collnet_gather},
                                                         {"pat", &Constants::pat},
                                                         {"pat levels", &Constants::pat_levels},
                                                         {"pat rank", &Constants::pat_rank},
                                                         {"post", &Constants::post},
                                                         {"post amd", &Constants::post_amd},
                                                         {"post simple", &Constants::post_simple},
                                                         {"post beside", &Constants::post_beside},
                                                         {"post beside ampere", &Constants::post_beside_ampere},
                                                         {"plateau from", &Constants::plateau_from},
                                                         {"split", &Constants::split}});
  return kConstants;
}

}  // namespace nccl

double tree_share_of_bandwidth(Protocol protocol, double bytes) {
  static const std::map<Protocol, std::vector<double>> kShares = [] {
    std::map<Protocol, std::vector<double>> all;
    const FactTable table(tables::kNcclTreeShares, {"protocol", "shares", "date", "source"});
    for (const FactTable::Row& row : table.rows()) {
      const auto protocol_of_row = row.one_of<Protocol>(
          "protocol", {{"ll", Protocol::ll}, {"ll128", Protocol::ll128}, {"simple", Protocol::simple}});
      all[protocol_of_row] = nccl::numbers_in(row, "shares");
    }
    return all;
  }();
  if (!(bytes >= 64) || protocol == Protocol::by_message) return 1;
  const auto size = static_cast<std::size_t>(std::ilogb(bytes / 64));
  const std::vector<double>& shares = kShares.at(protocol);
  return size < shares.size() ? shares[size] : 1;
}

}  // namespace dadsim::collectives
