// Tests <evaluation>: when corrections help, and when they hurt.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;
using test::run_dadsim;
using CorrectionJson = nlohmann::ordered_json;

constexpr const char* kNorm = R"(<dense units="32"/><batch-norm activation="relu"/>)";
constexpr const char* kNoNorm = R"(<dense units="32" activation="relu"/>)";

std::string four_sites(const std::string& hidden) {
  return R"(<scenario name="Four" seed="3">
  <platform><federation><sites name="site" count="4" up="10Mbps" down="10Mbps" latency="5ms"/></federation></platform>
  <workers><worker hosts="site-[1-4]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="1200" test="800"/></data>
  <model>)" +
         hidden + R"(<dense units="10"/></model>
  <training batch="20" epochs="8" target-accuracy="0.5"><sgd learning-rate="0.1"/></training>
  <evaluation batch="200 8" quantiles="32" label-alpha="0.05"><site-shift corruption="gain-offset" severity="5"/></evaluation>
  <run algorithm="fedavg" rounds="6"/>
  <run algorithm="gradient-sharing"/>
</scenario>
)";
}

class Correction : public testing::Test {
 protected:
  CorrectionJson result(const std::string& hidden, std::vector<std::string> arguments = {}) const {
    const std::string scenario = folder_.write("four.xml", four_sites(hidden));
    arguments.insert(arguments.begin(), {scenario, "--quiet", "--json", "-"});
    const Outcome outcome = run_dadsim(arguments);
    EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.err;
    CorrectionJson json = CorrectionJson::parse(outcome.out);
    json.erase("wall_clock");
    return json;
  }
  test::TemporaryFolder folder_;
};

const CorrectionJson& row_of(const CorrectionJson& evaluation, const std::string& corruption, bool skewed,
                             std::int64_t batch) {
  for (const CorrectionJson& row : evaluation["rows"]) {
    if (row["corruption"] == corruption && row["label_alpha"].is_null() != skewed && row["batch"] == batch) return row;
  }
  throw std::logic_error("no such row");
}

TEST_F(Correction, MendsInstrumentsAndHurtsWhereClassesAreSkewed) {
  const CorrectionJson json = result(kNorm);
  const CorrectionJson& run = json["runs"][0];
  const CorrectionJson& evaluation = run["evaluation"];
  EXPECT_EQ(evaluation["arms"],
            CorrectionJson::parse(R"(["source", "batch statistics", "DMC on norms", "DMC on inputs"])"));
  EXPECT_EQ(evaluation["rows"].size(), 8U);
  EXPECT_EQ(evaluation["quantiles"], 32);
  EXPECT_EQ(evaluation["quantile_bytes"], CorrectionJson::parse(R"({"inputs": 100352.0, "norms": 4096.0})"));
  EXPECT_EQ(evaluation["samples"], CorrectionJson::parse(R"({"all": 800, "fewest": 200, "most": 200})"));
  const auto accuracy = [&](const char* corruption, bool skewed, std::int64_t batch, std::size_t arm) {
    return row_of(evaluation, corruption, skewed, batch)["accuracies"][arm].get<double>();
  };
  // On unchanged held-back data, dealt to the sites, the accuracy is that of the curve's last point.
  EXPECT_NEAR(accuracy("none", false, 200, 0), run["curve"].back()["accuracy"].get<double>(), 1e-9);
  EXPECT_EQ(accuracy("none", false, 8, 0), accuracy("none", false, 200, 0));
  // An accuracy over 800 samples has a standard deviation of at most 1.8 points.
  EXPECT_GT(accuracy("gain-offset", false, 200, 3), accuracy("gain-offset", false, 200, 0) + 0.1);
  EXPECT_EQ(row_of(evaluation, "gain-offset", false, 200)["best"], "DMC on inputs");
  EXPECT_LT(accuracy("none", true, 200, 3), accuracy("none", true, 200, 0) - 0.1);
  EXPECT_EQ(row_of(evaluation, "none", true, 200)["best"], "source");
  EXPECT_EQ(row_of(evaluation, "none", true, 200)["below_source"],
            CorrectionJson::parse(R"(["batch statistics", "DMC on norms", "DMC on inputs"])"));
  EXPECT_LT(accuracy("none", false, 8, 3), accuracy("none", false, 200, 3) - 0.05);
  // Learned-first runs have no correction, which the result states.
  EXPECT_FALSE(json["runs"][1].contains("evaluation"));
  EXPECT_NE(json["assumptions"].dump().find("tried only on the last models of event-driven runs"), std::string::npos);
}

TEST_F(Correction, OffersWhatTheNetworkAllowsAndDoesNotDependOnThreads) {
  const CorrectionJson one = result(kNoNorm, {"--threads", "1"});
  const CorrectionJson& evaluation = one["runs"][0]["evaluation"];
  EXPECT_EQ(evaluation["arms"], CorrectionJson::parse(R"(["source", "DMC on inputs"])"));
  EXPECT_EQ(evaluation["quantile_bytes"]["norms"], 0.0);
  EXPECT_EQ(result(kNoNorm, {"--threads", "3"}), one);
}

TEST_F(Correction, IsTold) {
  const Outcome outcome = run_dadsim({folder_.write("four.xml", four_sites(kNorm))});
  EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  EXPECT_NE(outcome.out.find("fedavg: accuracy of its last model on shifted data, % (* best, ↓ below source)\n"),
            std::string::npos);
  EXPECT_NE(outcome.out.find("gain-offset 5, classes ~ Dir(0.05)"), std::string::npos);
  EXPECT_NE(outcome.out.find("fedavg: DMC on inputs lowers the accuracy in "), std::string::npos);
}

}  // namespace
}  // namespace dadsim::cli
