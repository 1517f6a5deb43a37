// Tests that documented options work together: every pair of options of `dadsim collective`, and every pair of
// attributes of <network>, with every algorithm of every operation. A deadlock fails the test.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/collective_options.hpp"
#include "cli/command_line.hpp"
#include "cli/process.hpp"
#include "collectives/collective.hpp"
#include "sim/star.hpp"

namespace dadsim::cli {
namespace {

using nlohmann::json;
using test::Outcome;
using test::TemporaryFile;

using Arguments = std::vector<std::string>;

/// Runs the program in a fork of this process, because over a thousand runs would spend most of their time on loading
/// libraries.
Outcome combined(Arguments arguments) {
  arguments.insert(arguments.begin(), "dadsim");
  std::fflush(nullptr);
  return test::run_child([&] {
    const int code = run_command_line(static_cast<int>(arguments.size()), test::words_of(arguments).data());
    std::cout.flush();
    std::fflush(nullptr);
    return code;
  });
}

/// Values of an option, as command-line arguments or attributes; the first value leaves the option out.
using Factor = std::vector<Arguments>;
/// index of the chosen value of every factor
using Row = std::vector<std::size_t>;

/// Returns rows in which any two values of two factors occur together at least once, unless they exclude each other. In
/// each row, one factor after the other takes the value that adds most new pairs.
template <class Together>
std::vector<Row> pairs_of(const std::vector<Factor>& factors, const Together& together) {
  using Pair = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
  std::set<Pair> open;
  for (std::size_t a = 0; a < factors.size(); ++a) {
    for (std::size_t b = a + 1; b < factors.size(); ++b) {
      for (std::size_t i = 0; i < factors[a].size(); ++i) {
        for (std::size_t j = 0; j < factors[b].size(); ++j) {
          if (together(factors[a][i], factors[b][j])) open.emplace(a, i, b, j);
        }
      }
    }
  }
  std::vector<Row> rows;
  while (!open.empty()) {
    const auto [a, i, b, j] = *open.begin();
    constexpr std::size_t kOpen = static_cast<std::size_t>(-1);
    Row row(factors.size(), kOpen);
    row[a] = i;
    row[b] = j;
    for (std::size_t f = 0; f < factors.size(); ++f) {
      if (row[f] != kOpen) continue;
      std::size_t best = 0;
      int most = -1;
      for (std::size_t v = 0; v < factors[f].size(); ++v) {
        int fresh = 0;
        bool fits = true;
        for (std::size_t g = 0; g < factors.size() && fits; ++g) {
          if (row[g] == kOpen || g == f) continue;
          const bool before = g < f;
          fits = before ? together(factors[g][row[g]], factors[f][v]) : together(factors[f][v], factors[g][row[g]]);
          fresh += static_cast<int>(before ? open.contains({g, row[g], f, v}) : open.contains({f, v, g, row[g]}));
        }
        if (fits && fresh > most) std::tie(most, best) = std::pair(fresh, v);
      }
      row[f] = best;
    }
    for (std::size_t g = 0; g < row.size(); ++g) {
      for (std::size_t h = g + 1; h < row.size(); ++h) open.erase({g, row[g], h, row[h]});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Returns a cluster of four GPUs in one or two nodes, whose switches can sum inside nodes and between them. Every
/// algorithm fits one of the two clusters.
std::string cluster(const char* nic, int nodes) {
  return fmt::format(
      R"(<cluster-platform><gpu-cluster nodes="{}" gpus="{}" inside="nvlink-4" rails="2" nic="{}"><one-switch sharp="true"/>)"
      R"(</gpu-cluster></cluster-platform>)",
      nodes, 4 / nodes, nic);
}

bool has(const Arguments& value, std::string_view word) { return std::ranges::find(value, word) != value.end(); }

/// Returns false for two options that exclude each other according to the documentation.
bool go_together(const Arguments& a, const Arguments& b) {
  const auto both = [&](const char* one, const char* other) {
    return (has(a, one) && has(b, other)) || (has(a, other) && has(b, one));
  };
  return !both("--cold", "flow") && !both("--cold", "closed-form") && !both("--ranks", "--hosts");
}

class Collectives : public testing::TestWithParam<collectives::CollectiveAlgorithm> {};

/// Gloo's receivers announce that they are ready. With --rendezvous, the two sides once waited for each other.
TEST_P(Collectives, EveryTwoOptionsGiveATime) {
  const collectives::CollectiveAlgorithm& algorithm = GetParam();
  std::string operation = to_string(algorithm.kind);
  const bool along_pairs = algorithm.kind == step::CollectiveKind::neighbour_exchange;
  const TemporaryFile tcp(cluster("ethernet-10g", 2));
  const TemporaryFile rdma(cluster("roce-100", 2));
  const TemporaryFile one_node(cluster("roce-100", 1));
  const TemporaryFile pod(R"(<cluster-platform><gpu-cluster nodes="4" gpus="1" rails="4" nic="ici-v6e">
      <torus link="ici-v6e" dimensions="2x2"/></gpu-cluster></cluster-platform>)");
  Factor fidelities{{}};
  for (const std::string& name : spec::all_names<spec::Fidelity>()) fidelities.push_back({"--fidelity", name});
  std::vector<Factor> factors{{{"--platform", tcp.path()},
                               {"--platform", rdma.path()},
                               {"--platform", one_node.path()},
                               {"--platform", pod.path()}},
                              fidelities,
                              {{}, {"--rendezvous"}},
                              {{}, {"--cold"}},
                              {{}, {"--per-rank"}},
                              {{"--sizes", "1KB"}, {"--sizes", "3,64KB"}},
                              {{}, {"--ranks", "2"}, {"--hosts", "gpu-[1-3]"}},
                              {{}, {"--transport", "plain"}}};
  if (algorithm.kind != step::CollectiveKind::reduce_scatter && algorithm.kind != step::CollectiveKind::all_gather &&
      algorithm.kind != step::CollectiveKind::all_to_all && !along_pairs) {
    factors.push_back({{}, {"--root", "1"}});
  }
  if (along_pairs) factors.push_back({{"--pairs", "0>1,1>0"}, {"--pairs", "1>0"}});
  std::size_t timed = 0;
  for (const Row& row : pairs_of(factors, go_together)) {
    Arguments arguments{"collective", "--op", operation, "--algorithm", algorithm.name, "--quiet", "--json", "-"};
    for (std::size_t f = 0; f < row.size(); ++f)
      arguments.insert(arguments.end(), factors[f][row[f]].begin(), factors[f][row[f]].end());
    SCOPED_TRACE(fmt::format("dadsim {}", fmt::join(arguments, " ")));
    const Outcome outcome = combined(arguments);
    if (outcome.exit_code == 2) {  // the algorithm does not support these ranks
      EXPECT_NE(outcome.err.find("; "), std::string::npos) << outcome.err;
      continue;
    }
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const json& size : json::parse(outcome.out)["sizes"]) {
      ASSERT_TRUE(size["time_us"].is_number()) << outcome.out;
      EXPECT_GT(size["time_us"].get<double>(), 0);
    }
    ++timed;
  }
  EXPECT_GT(timed, 0U) << "it fits no platform here";
}

INSTANTIATE_TEST_SUITE_P(Combinations, Collectives, testing::ValuesIn(collectives::collective_registry()),
                         [](const auto& one) {
                           std::string name = std::string(to_string(one.param.kind)) + "_" + one.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// Combines each transport of a SimGrid file's links with --rendezvous, for every all-reduce and all-gather.
TEST(Combinations, TransportsOfASimGridFileWithRendezvous) {
  const TemporaryFile star(test::Star{.workers = 3, .rate = 1e8, .latency = 1e-4}.xml());
  for (const collectives::CollectiveAlgorithm& algorithm : collectives::collective_registry()) {
    if (algorithm.kind != step::CollectiveKind::all_reduce && algorithm.kind != step::CollectiveKind::all_gather)
      continue;
    for (const char* transport : {"plain", "tcp", "rdma", "nvlink"}) {
      const Outcome outcome =
          combined({"collective", "--platform", star.path(), "--op", to_string(algorithm.kind), "--algorithm",
                    algorithm.name, "--hosts", "w[0-2]", "--transport", transport, "--rendezvous", "--sizes", "1KB"});
      EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 2)
          << to_string(algorithm.kind) << " " << algorithm.name << " " << transport << ": " << outcome.err;
    }
  }
}

/// Gloo's algorithms wait for their receivers in any case, so --rendezvous changes the time of a ring but not theirs.
TEST(Combinations, RendezvousAddsNothingToCollectivesThatHaveIt) {
  for (const char* nic : {"ethernet-1g", "roce-100"}) {
    const TemporaryFile platform(
        fmt::format(R"(<cluster-platform><gpu-cluster nodes="4" gpus="1" nic="{}"/></cluster-platform>)", nic));
    const auto times = [&](const char* operation, const char* algorithm, bool rendezvous) {
      Arguments arguments{"collective", "--platform", platform.path(), "--op",   operation, "--algorithm",
                          algorithm,    "--sizes",    "1KB:1MB:32",    "--json", "-"};
      if (rendezvous) arguments.emplace_back("--rendezvous");
      const Outcome outcome = combined(arguments);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      return json::parse(outcome.out)["sizes"];
    };
    for (const auto& [operation, algorithm] : {std::pair{"all-reduce", "gloo"}, {"all-gather", "gloo"}}) {
      EXPECT_EQ(times(operation, algorithm, true), times(operation, algorithm, false)) << algorithm << " " << nic;
    }
    EXPECT_NE(times("all-reduce", "ring", true), times("all-reduce", "ring", false)) << nic;
  }
}

/// Tests the attributes of <network> with the algorithms that a run can name.
class Networks : public testing::TestWithParam<collectives::CollectiveAlgorithm> {};

TEST_P(Networks, EveryTwoAttributesGiveATime) {
  const collectives::CollectiveAlgorithm& algorithm = GetParam();
  Factor fidelities{{}};
  for (const std::string& name : spec::all_names<spec::Fidelity>())
    fidelities.push_back({fmt::format("fidelity=\"{}\"", name)});
  const std::vector<Factor> factors{fidelities,
                                    {{}, {"message-budget=\"1\""}},
                                    {{}, {"timed-steps=\"8\""}},
                                    {{}, {"rendezvous=\"true\""}},
                                    {{}, {"spatial=\"0.2\""}},
                                    {{}, {"temporal=\"0.2\""}},
                                    {{"nic=\"ethernet-10g\""}, {"nic=\"roce-100\""}},
                                    {{"gradient-sharing"}, {"dad"}}};
  const auto together = [](const Arguments& a, const Arguments& b) {
    const bool budget = has(a, "message-budget=\"1\"") || has(b, "message-budget=\"1\"");
    const auto is_fixed = [](const Arguments& one) {
      return !one.empty() && one[0].starts_with("fidelity") && one[0] != "fidelity=\"auto\"";
    };
    return !budget || (!is_fixed(a) && !is_fixed(b));
  };
  std::size_t timed = 0;
  for (const Row& row : pairs_of(factors, together)) {
    std::string network;
    std::string jitter;
    const auto said = [&](std::size_t f) { return factors[f][row[f]].empty() ? "" : factors[f][row[f]][0] + " "; };
    for (std::size_t f = 0; f < 4; ++f) network += said(f);
    for (std::size_t f = 4; f < 6; ++f) jitter += said(f);
    const TemporaryFile file(fmt::format(
        R"(<scenario name="combined" seed="1">
  <platform><gpu-cluster nodes="2" gpus="2" inside="nvlink-4" rails="2" {}><one-switch sharp="true"/></gpu-cluster></platform>
  <workers><worker hosts="gpu-[0-3]" device="h100-sxm5"/></workers>
  <network {}>{}</network>
  <timing-only/>
  <training><sgd/></training>
  <timed-as workload="resnet-18" batch="2"/>
  <run algorithm="{}" exchange="peer" {}="{}"/>
</scenario>)",
        said(6), network, jitter.empty() ? "" : fmt::format("<jitter {}/>", jitter), factors[7][row[7]][0],
        to_string(algorithm.kind), algorithm.name));
    const Outcome outcome = combined({file.path(), "--quiet", "--json", "-"});
    SCOPED_TRACE(fmt::format("{}{}{} {}", network, jitter, said(6), factors[7][row[7]][0]));
    if (outcome.exit_code == 3) {  // the algorithm does not support these ranks
      EXPECT_NE(outcome.err.find("; "), std::string::npos) << outcome.err;
      continue;
    }
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_GT(json::parse(outcome.out)["runs"][0]["step_seconds"].get<double>(), 0);
    ++timed;
  }
  if (algorithm.name != "nvls" && algorithm.name != "torus") {
    EXPECT_GT(timed, 0U);
  }
}

std::vector<collectives::CollectiveAlgorithm> those_of_runs() {
  std::vector<collectives::CollectiveAlgorithm> some;
  for (const collectives::CollectiveAlgorithm& one : collectives::collective_registry()) {
    if (one.kind == step::CollectiveKind::all_reduce || one.kind == step::CollectiveKind::all_gather)
      some.push_back(one);
  }
  return some;
}

INSTANTIATE_TEST_SUITE_P(Combinations, Networks, testing::ValuesIn(those_of_runs()), [](const auto& one) {
  std::string name = std::string(to_string(one.param.kind)) + "_" + one.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace dadsim::cli
