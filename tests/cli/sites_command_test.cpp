// Tests `dadsim sites`, which finds the fastest algorithm between sites on slow lines.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/chosen_runs.hpp"
#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "quick_kernels.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;
using test::read_file;

class SitesCommand : public testing::Test {
 protected:
  Outcome dadsim(const std::vector<std::string>& arguments) const {
    return test::run_dadsim(arguments, folder_.path());
  }
  void refused(const std::vector<std::string>& arguments, const std::string& says) const {
    const Outcome outcome = dadsim(arguments);
    EXPECT_EQ(outcome.exit_code, kUsage) << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
  }
  test::TemporaryFolder folder_;
};

std::vector<std::string> order_of(const nlohmann::json& result) {
  std::vector<std::string> order;
  for (const nlohmann::json& place : result["answer"]["ranking"]) order.push_back(place["run"]);
  return order;
}

// Given as arguments, the lines of platforms/hospitals.xml must lead to the same learning and times.
TEST_F(SitesCommand, HospitalsLinesGiveTheVerdictOfTheirScenario) {
  const test::QuickKernels quick;
  const Outcome asked = dadsim({"sites", "5", "--up", "20Mbps,20Mbps,10Mbps,20Mbps,10Mbps", "--down",
                                "100Mbps,100Mbps,50Mbps,100Mbps,50Mbps", "--round-trip", "16ms,20ms,30ms,10ms,24ms",
                                "--json", "sites.json", "--write", "sites.xml"});
  ASSERT_EQ(asked.exit_code, kSuccess) << asked.err;
  const nlohmann::json sites = nlohmann::json::parse(read_file(folder_.path() / "sites.json"));
  // Runs that share nothing take no part in the ranking.
  const std::string ranked =
      test::with_runs("hospitals", {"gradient-sharing", "dad", "edad", "rank-dad (cap 16)", "rank-dad (cap 8)"});
  const Outcome own = dadsim({folder_.write("hospitals.xml", ranked), "--set", "training.stop=target", "--json", "-"});
  ASSERT_EQ(own.exit_code, kSuccess) << own.err;
  const nlohmann::json hospitals = nlohmann::json::parse(own.out);
  EXPECT_EQ(order_of(sites), order_of(hospitals));
  EXPECT_EQ(sites["answer"]["statements"][0]["subjects"], hospitals["answer"]["statements"][0]["subjects"]);
  for (std::size_t i = 0; i < hospitals["answer"]["ranking"].size(); ++i) {
    const double seconds = hospitals["answer"]["ranking"][i]["seconds"].get<double>();
    EXPECT_NEAR(sites["answer"]["ranking"][i]["seconds"].get<double>() / seconds, 1, 0.02) << order_of(sites)[i];
  }
  for (const char* words : {"reaches 95 % first", "to the target", "messages reveal", "Assumed: Digits are learned",
                            "dadsim explain sites.xml"})
    EXPECT_NE(asked.out.find(words), std::string::npos) << words << '\n' << asked.out;
}

TEST_F(SitesCommand, WrongValuesAreToldWithWhatWouldBeRight) {
  refused({"sites"}, "no number of sites is given");
  refused({"sites", "1", "--up", "20Mbps"}, "N '1' is out of range; a whole number from 2 to 1000");
  refused({"sites", "5"}, "--up RATE is missing");
  refused({"sites", "5", "--up", "20 Mbps"}, "--up: '20 Mbps' is no rate; did you mean '20Mbps'?");
  refused({"sites", "5", "--up", "20Mbps,10Mbps"}, "--up: 2 values for 5 sites");
  refused({"sites", "5", "--up", "20Mbps", "--round-trip", "20"}, "--round-trip: '20' is no time");
  refused({"sites", "5", "--up", "20Mbps", "--target", "risk"}, "--target needs --data FILE.csv");
  refused({"sites", "5", "--up", "20Mbps", "--device", "h900"}, "--device: 'h900' is unknown");
  refused({"sites", "5", "--up", "0Mbps"}, "--up: '0Mbps' carries nothing; a bandwidth above 0");
  refused({"sites", "5", "--up", "20Mbps", "--down", "0"}, "--down: '0' carries nothing; a bandwidth above 0");
}

// Messages must not mention the file that the command writes for itself, nor its attributes.
TEST_F(SitesCommand, FaultsOfTheScenarioBehindAreSaidOfOptions) {
  const test::QuickKernels quick;
  std::ofstream(folder_.path() / "few.csv") << "a,b,kind\n1,2,x\n2,3,y\n5,1,x\n";
  const std::vector<std::tuple<std::vector<std::string>, int, std::string>> faults{
      {{"--model", "llama-8b"}, kWrongInput, "--model: llama-3.1-8b, run 'gradient-sharing': needs "},
      {{"--data", "few.csv"}, kUsage, "--data: 2 training samples for 7 workers; use at least one for each worker"}};
  for (const auto& [options, code, says] : faults) {
    std::vector<std::string> arguments{"sites", "7", "--up", "20Mbps"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = dadsim(arguments);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with(says)) << outcome.err;
    for (const char* words : {"sites.xml", "=\"", "<"})
      EXPECT_EQ(outcome.err.find(words), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(dadsim({"sites", "2", "--up", "20Mbps", "--model", "resnet-50"}).exit_code, kSuccess) << "the remedy";
}

TEST_F(SitesCommand, LearnsFromATable) {
  const test::QuickKernels quick;
  std::string rows = "a,b,kind\n";
  for (int i = 0; i < 300; ++i)
    rows += std::to_string(i % 3) + "," + std::to_string(i % 7) + ",k" + std::to_string(i % 3) + "\n";
  std::ofstream(folder_.path() / "table.csv") << rows;
  const Outcome outcome =
      dadsim({"sites", "2", "--up", "4g-up", "--data", "table.csv", "--write", "t.xml", "--json", "t.json"});
  ASSERT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  const std::string text = read_file(folder_.path() / "t.xml");
  EXPECT_NE(text.find("<dense units=\"3\"/>"), std::string::npos) << "three kinds\n" << text;
  EXPECT_NE(text.find("up=\"4g-up\""), std::string::npos) << text;
  const Outcome again = dadsim({"t.xml", "--json", "-"});
  ASSERT_EQ(again.exit_code, kSuccess) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["answer"],
            nlohmann::json::parse(read_file(folder_.path() / "t.json"))["answer"])
      << "the scenario of the answer";
}

}  // namespace
}  // namespace dadsim::cli
