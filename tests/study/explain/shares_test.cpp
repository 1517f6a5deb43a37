// Tests the law of shares: a cause's share of a step is at most the time that the step saves without the cause. Draws
// scenarios of every transport, five in the suite or DADSIM_DRAWS, and runs each with every all-reduce algorithm.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "report/run/causes.hpp"
#include "scenario/document/load.hpp"
#include "study/explain/changes.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

constexpr double kWithoutLimit = 1e6;  // factor on speed that removes a limit
constexpr double kRounding = 0.005;    // shares are printed in whole percent

/// Returns the all-reduce algorithms that a scenario can name, including "auto" and "best".
const std::vector<std::string>& sums() {
  static const std::vector<std::string> all = make_catalog().all_reduces;
  return all;
}

class DrawnScenario {
 public:
  explicit DrawnScenario(std::uint32_t seed) : family_(seed % 5), random_(seed) {}

  std::string text() {
    switch (family_) {
      case 0:
        return cluster(1 << number(1, 2), one_of({"roce-25", "roce-100", "roce-400", "ib-edr", "ib-ndr", "efa-100"}));
      case 1:
        return cluster(number(2, 3), one_of({"ethernet-10g", "ethernet-25g", "ethernet-100g", "25Gbps", "tcpx-200"}));
      case 2:
        return cluster(1, "roce-100");  // all ranks are in one node
      case 3:
        return sites();
      default:
        return regions();
    }
  }

 private:
  std::string cluster(int nodes, const std::string& nic) {
    const int gpus = nodes == 1 ? number(2, 8) : number(1, 4);
    const std::string device = one_of({"v100-sxm2", "a100-sxm4-40", "h100-sxm5", "rtx-3090"});
    const std::string workload = one_of({"resnet-18", "resnet-50", "bert-base-512", "gpt-2-small", "vit-b-16"});
    std::string divided;
    const bool language = workload == "gpt-2-small";
    if (language && gpus % 2 == 0 && maybe()) divided = R"( tensor="2")";
    if (language && divided.empty() && maybe()) divided = R"( sharding="parameters")";
    if (language && divided.empty() && nodes * gpus % 2 == 0 && maybe()) divided = R"( pipeline="2" micro-batch="1")";
    const std::string inside = one_of({"nvlink-2", "nvlink-3", "nvlink-4", "pcie-3", "pcie-4"});
    return scenario(
        fmt::format(R"(<gpu-cluster nodes="{}" gpus="{}" inside="{}" nic="{}" rails="1"/>)", nodes, gpus, inside, nic),
        fmt::format(R"(<worker hosts="gpu-[0-{}]" device="{}"{}/>)", nodes * gpus - 1, device, spread()),
        fmt::format(R"(<timed-as workload="{}" batch="{}" precision="fp16"{}/>)", workload, 1 << number(1, 5), divided),
        one_of({"25MB", "100MB", "5MB"}));
  }

  std::string sites() {
    const int count = number(2, 6);
    const std::string line = one_of({"20Mbps", "100Mbps", "1Gbps"});
    return scenario(
        fmt::format(
            R"(<federation><sites name="site" count="{}" up="{}" down="{}" latency="{}" transport="{}"/></federation>)",
            count, line, one_of({line, "200Mbps"}), one_of({"1ms", "10ms", "40ms"}), one_of({"tcp", "plain", "rdma"})),
        fmt::format(R"(<worker hosts="site-[1-{}]" device="{}"{}/>)", count, one_of({"rtx-3090", "v100-sxm2"}),
                    spread()),
        fmt::format(R"(<timed-as workload="resnet-18" batch="{}"/>)", 1 << number(1, 6)), one_of({"25MB", "100MB"}));
  }

  std::string regions() {
    const int there = number(1, 2);
    return scenario(
        fmt::format(R"(<wan host="{}"><region name="aws:us-east-1" hosts="{}"/><region name="{}" hosts="{}"/></wan>)",
                    one_of({"ethernet-1g", "ethernet-10g"}), there,
                    one_of({"aws:eu-west-1", "aws:ap-northeast-1", "aws:us-west-2"}), there),
        fmt::format(R"(<worker hosts="*" device="{}"{}/>)", one_of({"rtx-3090", "h100-sxm5"}), spread()),
        fmt::format(R"(<timed-as workload="resnet-18" batch="{}"/>)", 1 << number(3, 8)), "25MB");
  }

  std::string scenario(const std::string& platform, const std::string& workers, const std::string& timed_as,
                       const std::string& bucket) {
    return fmt::format(R"(<scenario name="drawn" seed="1"><platform>{}</platform>
      <workers memory="ignore">{}</workers><network{}/><timing-only/>
      {}
      <run algorithm="gradient-sharing" exchange="peer" bucket="{}"/></scenario>)",
                       platform, workers, maybe() ? R"( fidelity="flow")" : "", timed_as, bucket);
  }

  std::string spread() { return maybe() ? R"( speed-spread="0.2")" : ""; }
  int number(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint32_t>(high - low + 1));
  }
  bool maybe() { return random_() % 2 == 0; }
  std::string one_of(const std::vector<std::string>& all) { return all[random_() % all.size()]; }
  std::uint32_t family_;
  std::mt19937 random_;
};

/// Kinds of causes, and the change of the cluster that removes them.
struct Removed {
  std::vector<std::string> kinds;
  void (*make)(sim::Cluster&);
};

const std::map<std::string, Removed>& removals() {
  static const std::map<std::string, Removed> all{
      {"computing",
       {{"compute"},
        [](sim::Cluster& cluster) {
          for (spec::DeviceSpec& device : cluster.devices) device.slowdown /= kWithoutLimit;
        }}},
      {"the network",
       {{"bandwidth", "latency", "queueing"},
        [](sim::Cluster& cluster) {
          change_links(cluster, {{"*", kWithoutLimit, 0}});
        }}},
  };
  return all;
}

class Shares {
 public:
  int looked_at = 0, with_overlap = 0;

  void check(const std::string& text, const std::string& sums) {
    const scenario::Scenario scenario = [&] {
      return scenario::ScenarioSource("drawn.xml", text).load({"run[1].all-reduce=" + sums}, make_catalog());
    }();
    const Learned learned = learn_scenario(scenario, nullptr, false);
    const report::Result result = time_scenario(scenario, learned, cluster_of(scenario), false);
    const report::RunResult& run = result.runs.front();
    // Keeps the chosen algorithms, since `auto` would choose others without the links' limits.
    scenario::Scenario settled = scenario;
    keep_sums(result, settled);
    const auto timed = [&](const sim::Cluster& cluster) {
      return time_scenario(settled, learned, cluster, false).runs.front();
    };
    ++looked_at;
    double whole = 0;
    for (const step::Bound& bound : run.bounds) {
      whole += bound.share;
      if (bound.kind == "overlap") ++with_overlap;
    }
    EXPECT_NEAR(whole, 1, 1e-6) << text;
    for (const auto& [name, removed] : removals()) {
      double share = 0;
      for (const report::Cause& cause : causes_of(run)) {
        if (std::ranges::count(removed.kinds, cause.kind) > 0) share += cause.share;
      }
      sim::Cluster cluster = cluster_of(scenario);
      removed.make(cluster);
      keep_fidelity(result, cluster);
      const double saving = 1 - timed(cluster).step_seconds / run.step_seconds;
      EXPECT_LE(share, std::max(0.0, saving) + kRounding)
          << name << " with " << sums << ", " << run.network.fidelity << "\n"
          << causes_in_words(run) << "\n"
          << text;
    }
  }
};

int shares_drawn() {
  const char* wanted = std::getenv("DADSIM_DRAWS");
  return wanted == nullptr ? 5 : std::atoi(wanted);
}

class DrawnShares : public testing::TestWithParam<int> {};

TEST_P(DrawnShares, AreNeverMoreThanWhatIsSavedWithoutTheirCause) {
  const std::string text = DrawnScenario(static_cast<std::uint32_t>(GetParam())).text();
  Shares shares;
  std::vector<std::string> refused;
  for (const std::string& algorithm : sums()) {
    try {
      shares.check(text, algorithm);
    } catch (const InputError& error) {  // the algorithm does not support these nodes
      refused.push_back(fmt::format("{}: {}", algorithm, error.what()));
    } catch (const sim::SimulationError& error) {
      refused.push_back(fmt::format("{}: {}", algorithm, error.what()));
    }
  }
  fmt::print("{} steps, {} with overlap, {} refused\n", shares.looked_at, shares.with_overlap, refused.size());
  EXPECT_GT(shares.looked_at, 0) << text << "\n" << fmt::format("{}", fmt::join(refused, "\n"));
}

INSTANTIATE_TEST_SUITE_P(Draws, DrawnShares, testing::Range(0, shares_drawn()));
// Flow refuses the first step of draw 21, and draw 126 without computing. The saving is then simulated message by
// message.
INSTANTIATE_TEST_SUITE_P(WhereFlowIsRefused, DrawnShares, testing::Values(21, 126));

TEST(Shares, HoldWhereATreeOverTcpWasTakenForComputing) {
  std::ifstream file(DADSIM_SOURCE_DIR "/scenarios/questions/gpus.xml");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::string slow = text;
  slow.replace(slow.find("25Gbps"), 6, "ethernet-10g");
  Shares shares;
  shares.check(slow, "tree");
  EXPECT_EQ(shares.with_overlap, 1);
}

}  // namespace
}  // namespace dadsim::study
