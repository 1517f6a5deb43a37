// Tests sites that consist of several devices. A site is present if all its hosts are up and connected. A network that
// is divided among several sites needs all of them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "study/setting/division_cases.hpp"

namespace dadsim::study {
namespace {

using namespace test_division;

/// Returns, for each of four sites, the share of steps in which the site took part. Each of the eight hosts is a node.
std::vector<double> attended(const std::string& division, const std::string& failures) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("scenario.xml");
  std::ofstream(path) << R"(<scenario name="divided" seed="1">
  <platform><gpu-cluster nodes="8" gpus="1" nic="10Gbps"/></platform>
  <workers><worker hosts="gpu-[0-7]" device="a100-sxm4-80"/></workers>
  <data><digits train="80" test="10"/></data><model><dense units="10"/></model><training batch="2" epochs="2"/>
  <timed-as workload="decoder" layers="2" hidden="128" heads="4" kv-heads="2" feed-forward="256" vocabulary="512"
            sequence="64" batch="4" )" +
                             division + "/>\n" + failures + R"(
  <run algorithm="gradient-sharing" exchange="peer" absent="without"/>
</scenario>)";
  const report::Result result = run_experiment(load_scenario(path, {}, make_catalog()), false);
  const report::RunResult& run = result.runs.front();
  std::vector<double> shares;
  for (const auto count : run.event_driven->participation.took_part)
    shares.push_back(static_cast<double>(count) / static_cast<double>(run.steps));
  return shares;
}

TEST(DividedSites, AreAwayWithAnyOfTheirHosts) {
  const std::vector<double> second_gone{1, 0, 1, 1};
  for (const char* host : {"gpu-2", "gpu-3"}) {
    const std::string outage =
        "<failures><outage hosts=\"" + std::string(host) + "\" from=\"0s\" for=\"1h\"/></failures>";
    EXPECT_EQ(attended("tensor=\"2\"", outage), second_gone) << host;
    EXPECT_EQ(attended("context=\"2\"", outage), second_gone) << host;
  }
  EXPECT_EQ(attended("pipeline=\"2\" micro-batch=\"2\"",
                     R"(<failures><outage hosts="gpu-5" from="0s" for="1h"/></failures>)"),
            second_gone);
}

TEST(DividedSites, AreThereInAStepWhenAllTheirHostsAre) {
  const std::vector<double> shares =
      attended("tensor=\"2\"", R"(<availability hosts="gpu-3" by="steps" chance="0.3"/>)");
  EXPECT_EQ(shares[0], 1);
  EXPECT_LT(shares[1], 0.8);
  EXPECT_GT(shares[1], 0);
}

TEST(DividedSites, AreCutOffWithTheLineOfAnyOfTheirHosts) {
  EXPECT_EQ(attended("tensor=\"2\"", R"(<failures><outage links="node-3 *" from="0s" for="1h"/></failures>)"),
            (std::vector<double>{1, 0, 1, 1}));
}

TEST(DividedSites, WhatTheyDivideIsNotGoneOnWithout) {
  const auto run = [](const std::string& absent, const std::string& more = "") {
    return "<run algorithm=\"gradient-sharing\" exchange=\"peer\" absent=\"" + absent + "\" " + more +
           "/><failures><outage hosts=\"gpu-3\" from=\"0s\" for=\"1s\"/></failures>";
  };
  const std::string experts = R"(expert-parallel="4")";
  EXPECT_NE(fault_of(experts, 8, run("without")).find("each worker has experts that no other worker has"),
            std::string::npos);
  EXPECT_EQ(fault_of(experts, 8, run("wait")), "");
  EXPECT_EQ(fault_of(R"(tensor="2" sequence-parallel="true" expert-parallel="2")", 8, run("without")), "")
      << "every site has all experts";
  for (const std::string half : {R"(sharding="optimizer" sharding-group="2")", R"(sharding="parameters")"}) {
    EXPECT_NE(fault_of(half, 0, run("retry", R"(absent-patience="10ms")"))
                  .find("each worker has a part of the states that no other worker has"),
              std::string::npos)
        << half;
    EXPECT_EQ(fault_of(half, 0, run("wait")), "") << half;
  }
  EXPECT_EQ(fault_of(R"(sharding="optimizer" sharding-group="1")", 0, run("without")), "");
}

TEST(DividedSites, CarryCollectivesOutAmongTheGroupsThatTheyMake) {
  const auto run = [](const std::string& more) {
    return "<run algorithm=\"gradient-sharing\" exchange=\"peer\" " + more + "/>";
  };
  const std::string hierarchical = run(R"(all-reduce="hierarchical")");
  EXPECT_EQ(fault_of("", 0, hierarchical), "");
  EXPECT_EQ(fault_of(R"(tensor="2")", 0, hierarchical), "") << "inside a layer devices take what the library does";
  EXPECT_EQ(fault_of(R"(pipeline="2" micro-batch="2")", 0, run(R"(all-reduce="double-binary-tree")")), "");
  EXPECT_NE(fault_of(R"(pipeline="2" micro-batch="2")", 0, hierarchical).find("'hierarchical' needs several nodes"),
            std::string::npos)
      << "a stage is one node";
  EXPECT_EQ(fault_of(R"(pipeline="2" micro-batch="2")", 0, run(R"(all-reduce="ring")")), "");
  const std::string out = R"(<failures><outage hosts="gpu-3" from="0s" for="1s"/></failures>)";
  EXPECT_NE(fault_of("", 0, run(R"(all-reduce="hierarchical" absent="without")") + out).find("while sites are absent"),
            std::string::npos);
  EXPECT_EQ(fault_of("", 0, hierarchical + out), "");
  EXPECT_EQ(fault_of("", 0, run(R"(all-reduce="ring" absent="without")") + out), "");
}

}  // namespace
}  // namespace dadsim::study
