// Tests studies of federations that learn nothing: they report rounds, not targets.
#include <gtest/gtest.h>

#include <string>

#include "cli/process.hpp"

namespace dadsim::cli {
namespace {

TEST(RoundsAlone, SweepsAndExplanationsSpeakOfRounds) {
  const test::TemporaryFolder folder;
  folder.write(
      "f.xml",
      R"(<scenario name="f" seed="1"><platform><federation><sites name="c" count="4" up="100Mbps" down="100Mbps" latency="9ms"/>
         </federation></platform><workers><worker hosts="c-[1-4]" device="rtx-3090"/><aggregator host="hub"
         device="xeon-8380"/></workers><timing-only/><timed-as workload="resnet-18" batch="8"/>
         <run algorithm="fedavg" local-steps="4" fraction="0.5" rounds="2"/><run label="few" algorithm="fedavg" local-steps="1"
         fraction="0.5" rounds="2"/><sweep><vary path="platform.federation.sites.up" values="10Mbps 100Mbps"/></sweep></scenario>)");
  const test::Outcome sweep = test::run_dadsim({"sweep", "f.xml", "--out", "f.sqlite"}, folder.path());
  ASSERT_EQ(sweep.exit_code, 0) << sweep.err;
  EXPECT_NE(sweep.out.find("shortest round"), std::string::npos) << sweep.out;
  EXPECT_NE(sweep.out.find("rounds of resnet-18"), std::string::npos) << sweep.out;
  EXPECT_EQ(sweep.out.find("shortest step"), std::string::npos) << sweep.out;
  const test::Outcome explained = test::run_dadsim({"explain", "f.xml"}, folder.path());
  ASSERT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_NE(explained.out.find("What if (change; time of the round):"), std::string::npos) << explained.out;
  EXPECT_EQ(explained.out.find("target"), std::string::npos) << explained.out;
}

TEST(RoundsAlone, OfAPayloadHaveAName) {
  const test::TemporaryFolder folder;
  folder.write(
      "p.xml",
      R"(<scenario name="p" seed="1"><platform><federation><sites name="c" count="7" up="100Mbps" down="100Mbps" latency="9ms"/>
         </federation></platform><workers><worker hosts="c-[1-7]" device="rtx-3090"/><aggregator host="hub"
         device="xeon-8380"/></workers><timing-only payload="1.3GB" step-time="2s"/>
         <run algorithm="fedavg" local-steps="4" rounds="3"/></scenario>)");
  folder.write(
      "r.xml",
      R"(<scenario name="r" seed="1"><platform><federation><sites name="c" count="7" up="100Mbps" down="100Mbps"
         latency="9ms"/></federation></platform><workers><worker hosts="c-[1-7]" device="rtx-3090"/><aggregator host="hub"
         device="xeon-8380"/></workers><timing-only/><timed-as workload="resnet-18" batch="8"/>
         <run algorithm="fedavg" local-steps="4" rounds="3"/></scenario>)");
  const test::Outcome run = test::run_dadsim({"p.xml", "--verbose"}, folder.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("Timed as a payload of 1.30 GB"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("sized as ."), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("sit idle"), std::string::npos) << "all take part: " << run.out;
  const test::Outcome compared = test::run_dadsim({"compare", "p.xml", "r.xml"}, folder.path());
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_NE(compared.out.find("a payload of 1.30 GB or resnet-18"), std::string::npos) << compared.out;
}

}  // namespace
}  // namespace dadsim::cli
