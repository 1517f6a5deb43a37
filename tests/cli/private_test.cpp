// Runs scenarios/private.xml: results state ε, noise costs accuracy, and carriers and masks save bytes.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/chosen_runs.hpp"
#include "cli/process.hpp"
#include "quick_kernels.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

TEST(Private, FourHospitalsAtTheSamePrivacy) {
  const test::QuickKernels quick;
  // Keeps the runs that have expectations below. The others, with sparser or low-rank noise, are private in the same
  // way.
  const test::TemporaryFolder folder;
  const std::string scenario = folder.write(
      "private.xml", test::with_runs("private", {"clipped, no noise", "DP-SGD", "DP-SGD, noise of the aggregator",
                                                 "DP-SGD, every site private by itself", "LSG, half"}));
  const test::Outcome outcome = test::run_dadsim({scenario, "--json", "-"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json result = nlohmann::json::parse(outcome.out);
  std::map<std::string, double> accuracy;
  for (const auto& run : result["runs"]) {
    const std::string label = run["label"];
    accuracy[label] = run["final_accuracy"];
    const std::string notes = run["notes"].dump();
    EXPECT_EQ(notes.find("spent ε = 1 at δ = 1e-05") == std::string::npos, label == "clipped, no noise") << notes;
    EXPECT_EQ(notes.find("shuffled"), std::string::npos) << "batches are drawn by chance";
  }
  const double dense = accuracy.at("DP-SGD");
  EXPECT_GT(accuracy.at("clipped, no noise"), dense);
  EXPECT_GT(dense, 0.5);
  // Noise of the aggregator has the same variance but other random numbers.
  EXPECT_NEAR(accuracy.at("DP-SGD, noise of the aggregator"), dense, 0.05);
  EXPECT_LT(accuracy.at("DP-SGD, every site private by itself"), dense);
}

TEST(Private, RefusesBeforeLearning) {
  const auto refused = [](const std::vector<std::string>& arguments) {
    const test::Outcome outcome = test::run_dadsim(arguments);
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_NE(refused({"scenarios/private.xml", "--check", "--set", "run[3].exchange=peer"}).find("needs an aggregator"),
            std::string::npos);
  EXPECT_NE(refused({"scenarios/private.xml", "--check", "--set", "run[2].epsilon=1e-8"}).find("a larger epsilon"),
            std::string::npos);
  const test::TemporaryFolder folder;
  const auto scenario = [&](const std::string& hidden, const std::string& run) {
    return folder.write("small.xml", R"(<scenario name="Small">
  <platform><federation><sites name="site" count="2" up="10Mbps" down="10Mbps" latency="5ms"/></federation></platform>
  <workers><worker hosts="site-[1-2]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="200" test="100"/></data>
  <model>)" + hidden + R"(<dense units="10"/></model>
  <training batch="10" batches="poisson" epochs="1"><sgd learning-rate="0.1"/></training>
  )" + run + "\n</scenario>\n");
  };
  EXPECT_NE(
      refused({scenario(R"(<dense units="8"/><batch-norm/>)", R"(<run algorithm="dp-sgd"/>)")}).find("batch norms"),
      std::string::npos);
  EXPECT_NE(refused({scenario("", R"(<run algorithm="flare"/>)"), "--check"}).find("poisson"), std::string::npos);
  EXPECT_EQ(test::run_dadsim({scenario("", R"(<run algorithm="fedavg"/>)"), "--check"}).exit_code, 0);
  EXPECT_NE(refused({scenario("", R"(<run algorithm="dp-fedavg" level="sample"/>)"), "--check"}).find("per-site"),
            std::string::npos);
  EXPECT_NE(refused({scenario("", R"(<run algorithm="dp-fedavg" drop-outs="0.2"/>)"), "--check"}).find("local"),
            std::string::npos);
  EXPECT_NE(refused({scenario("", R"(<run algorithm="dp-fedavg" epsilon="1e-8"/>)"), "--check"}).find("larger epsilon"),
            std::string::npos);
  EXPECT_NE(refused({scenario(R"(<dense units="8"/><batch-norm/>)", R"(<run algorithm="dp-fedavg"/>)"), "--check"})
                .find("running statistics"),
            std::string::npos);
  EXPECT_NE(
      refused({scenario("", R"(<run algorithm="rgp"><compress method="fp16"/></run>)"), "--check"}).find("compress"),
      std::string::npos);
}

}  // namespace
}  // namespace dadsim::cli
