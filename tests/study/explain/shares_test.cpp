// The law of shares: what a cause has of a step is never more than what the step saves without that cause. Of drawn
// scenarios, some in the suite, 200 with DADSIM_DRAWS=200, each with every algorithm that carries out its sums. Over
// TCP a library lays out other sockets for links without limits, and steps that begin together lose more: there one
// case is held to the law, the one whose shares were printed wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

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

constexpr double kWithoutLimit = 1e6;  // times as fast
constexpr double kRounding = 0.005;    // shares are told in whole hundredths

const std::vector<std::string> kSums{"auto",
                                     "ring",
                                     "one-ring",
                                     "tree",
                                     "double-binary-tree",
                                     "direct",
                                     "hierarchical",
                                     "halving-doubling",
                                     "parameter-server",
                                     "best"};

class DrawnCluster {
 public:
  explicit DrawnCluster(std::uint32_t seed) : random_(seed) {}

  std::string text() {
    const int nodes = 1 << number(1, 2);
    const int gpus = number(1, 4);
    const std::string nic = one_of({"roce-25", "roce-100", "roce-400", "ib-edr", "ib-ndr", "efa-100"});
    const std::string device = one_of({"v100-sxm2", "a100-sxm4-40", "h100-sxm5", "rtx-3090"});
    const std::string workload = one_of({"resnet-18", "resnet-50", "bert-base-512", "gpt-2-small", "vit-b-16"});
    std::string divided;
    const bool language = workload == "gpt-2-small";
    if (language && gpus % 2 == 0 && maybe()) divided = R"( tensor="2")";
    if (language && divided.empty() && maybe()) divided = R"( sharding="parameters")";
    if (language && divided.empty() && nodes * gpus % 2 == 0 && maybe()) divided = R"( pipeline="2" micro-batch="1")";
    const std::string fidelity = maybe() ? R"( fidelity="flow")" : "";
    return fmt::format(R"(<scenario name="drawn" seed="1">
      <platform><gpu-cluster nodes="{}" gpus="{}" inside="{}" nic="{}" rails="1"/></platform>
      <workers memory="ignore"><worker hosts="gpu-[0-{}]" device="{}"{}/></workers><network{}/><timing-only/>
      <timed-as workload="{}" batch="{}" precision="fp16"{}/>
      <run algorithm="gradient-sharing" exchange="peer" bucket="{}"/></scenario>)",
                       nodes, gpus, one_of({"nvlink-2", "nvlink-3", "pcie-3", "pcie-4"}), nic, nodes * gpus - 1, device,
                       maybe() ? R"( speed-spread="0.2")" : "", fidelity, workload, 1 << number(1, 5), divided,
                       one_of({"25MB", "100MB", "5MB"}));
  }

 private:
  int number(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint32_t>(high - low + 1));
  }
  bool maybe() { return random_() % 2 == 0; }
  std::string one_of(const std::vector<std::string>& all) { return all[random_() % all.size()]; }
  std::mt19937 random_;
};

/// What the causes of a step are without.
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
    // What chooses by the links would choose something else without them.
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
      EXPECT_LE(share, saving + kRounding) << name << " with " << sums << ", " << run.network.fidelity << "\n"
                                           << causes_in_words(run) << "\n"
                                           << text;
    }
  }
};

TEST(Shares, AreNeverMoreThanWhatIsSavedWithoutTheirCause) {
  const char* draws = std::getenv("DADSIM_DRAWS");
  const int count = draws == nullptr ? 4 : std::atoi(draws);
  Shares shares;
  int refused = 0;
  for (int seed = 0; seed < count; ++seed) {
    const std::string text = DrawnCluster(static_cast<std::uint32_t>(seed)).text();
    SCOPED_TRACE(fmt::format("draw {}", seed));
    for (const std::string& sums : kSums) {
      try {
        shares.check(text, sums);
      } catch (const InputError& error) {  // one that needs other nodes
        ++refused;
        if (std::getenv("DADSIM_PRINT_DRAWS") != nullptr) fmt::print("{}: {}\n", sums, error.what());
      }
    }
  }
  fmt::print("{} steps, {} with overlap, {} refused\n", shares.looked_at, shares.with_overlap, refused);
  EXPECT_GT(shares.looked_at, 6 * count);
}

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
