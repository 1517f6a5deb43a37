// Tests the output for adapters of which only the rate is given.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "support/human.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;
using test::run_dadsim;
using test::TemporaryFolder;

constexpr const char* kSentence = "A rate without a transport is taken as Ethernet with TCP";

class RateAsTcp : public testing::Test {
 protected:
  RateAsTcp() {
    folder_.write(
        "two.xml",
        R"(<scenario name="two" seed="1"><platform><gpu-cluster nodes="2" gpus="2" inside="nvlink-3" rails="1" nic="100Gbps"/>
           </platform><workers><worker hosts="gpu-*" device="a100-sxm4-80"/></workers><timing-only/>
           <training><adam/></training><timed-as workload="bert-base" batch="8" precision="bf16" tokens="1B"/>
           <run algorithm="gradient-sharing" exchange="peer"/>
           <sweep><vary path="timed-as.batch" values="8 16"/></sweep>
           <goal within="300d"><allow path="timed-as.batch" values="8 16"/></goal></scenario>)");
  }
  /// Returns the printed output with its lines joined.
  std::string printed(const std::vector<std::string>& arguments) {
    const Outcome outcome = run_dadsim(arguments, folder_.path());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::string text;
    for (const char c : outcome.out) {
      if (c != '\n' && c != ' ') {
        text += c;
      } else if (!text.empty() && text.back() != ' ') {
        text += ' ';
      }
    }
    return text;
  }
  double step_of(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"two.xml", "--json", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return nlohmann::json::parse(run_dadsim(arguments, folder_.path()).out)["runs"][0]["step_seconds"];
  }
  TemporaryFolder folder_;
};

// The stated remedy is accepted and gives the stated time.
TEST_F(RateAsTcp, ARunSaysWhatAStepTakesWithRdma) {
  const double by_tcp = step_of({});
  const double by_rdma = step_of({"--set", "platform.gpu-cluster.transport=rdma"});
  EXPECT_LT(by_rdma, 0.95 * by_tcp);
  const std::string text = printed({"two.xml"});
  const std::string said = fmt::format("{}: with transport=\"rdma\" a step of gradient-sharing takes {}, not {}.",
                                       kSentence, human_seconds(by_rdma), human_seconds(by_tcp));
  EXPECT_NE(text.find(said), std::string::npos) << said << " in " << text;
  for (const std::string other : {"transport=rdma", "nic=ethernet-100g", "nic=roce-100", "nodes=1"}) {
    const std::string unsaid = printed({"two.xml", "--set", "platform.gpu-cluster." + other});
    EXPECT_EQ(unsaid.find(kSentence), std::string::npos) << other;
  }
}

TEST_F(RateAsTcp, StudiesSayItToo) {
  const std::string remedy = std::string(kSentence) + "; RDMA adapters need transport=\"rdma\".";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"plan"}, {"sweep", "--out", "s.sqlite"}, {"compare", "--against", "timed-as.batch=16"}}) {
    std::vector<std::string> arguments{words.front(), "two.xml"};
    arguments.insert(arguments.end(), words.begin() + 1, words.end());
    const std::string text = printed(arguments);
    EXPECT_NE(text.find(remedy), std::string::npos) << text;
  }
  EXPECT_EQ(printed({"plan", "two.xml", "--set", "platform.gpu-cluster.transport=rdma"}).find(kSentence),
            std::string::npos);
}

}  // namespace
}  // namespace dadsim::cli
