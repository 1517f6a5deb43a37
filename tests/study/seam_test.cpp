#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/temporary_folder.hpp"

// Tests that two ways of timing a method agree: learning first and then timing, and simulating it as a World program
// that is learned afterwards.

namespace dadsim::study {
namespace {

report::Result result_of_seam(const std::string& text) {
  const test::TemporaryFolder folder;
  return run_experiment(scenario::load_scenario(folder.write("seam.xml", text), {}, make_catalog()), false);
}

std::string seam_scenario(const std::string& platform, const std::string& optimizer, const std::string& runs) {
  return R"(<?xml version="1.0" encoding="UTF-8"?>
<scenario name="seam" seed="3">
  )" + platform +
         R"(
  <data><digits train="600" test="200"/><split by="dirichlet" alpha="0.5"/></data>
  <model><dense units="24" activation="relu"/><dense units="10"/></model>
  <training batch="16" epochs="2" target-accuracy="0.9" evaluate-every="3">)" +
         optimizer + "</training>\n" + runs + "</scenario>\n";
}

const std::string kHospitals = std::string("<platform file=\"") + DADSIM_SOURCE_DIR +
                               "/platforms/hospitals.xml\" transport=\"tcp\"/>\n"
                               "<workers><worker hosts=\"hospital-[1-5]\" device=\"rtx-3090\"/>\n"
                               "<aggregator host=\"hub\" device=\"xeon-8380\"/></workers>";

void expect_same(const report::RunResult& learned_first, const report::RunResult& event_driven) {
  ASSERT_TRUE(event_driven.event_driven.has_value());
  ASSERT_FALSE(learned_first.event_driven.has_value());
  EXPECT_EQ(event_driven.steps, learned_first.steps);
  EXPECT_NEAR(event_driven.total_seconds / learned_first.total_seconds, 1, 1e-9);
  EXPECT_EQ(event_driven.total_bytes, learned_first.total_bytes);
  ASSERT_EQ(event_driven.curve.size(), learned_first.curve.size());
  for (std::size_t i = 0; i < event_driven.curve.size(); ++i) {
    EXPECT_EQ(event_driven.curve[i].step, learned_first.curve[i].step);
    EXPECT_NEAR(event_driven.curve[i].loss / learned_first.curve[i].loss, 1, 1e-6);
    EXPECT_EQ(event_driven.curve[i].accuracy, learned_first.curve[i].accuracy);
    EXPECT_NEAR(event_driven.curve[i].seconds, learned_first.curve[i].seconds, 1e-9 * learned_first.total_seconds);
    EXPECT_EQ(event_driven.curve[i].bytes, learned_first.curve[i].bytes);
  }
}

TEST(Seam, GradientSharingAsAWorldProgramHasTheNumbersAndTheTimes) {
  const report::Result result =
      result_of_seam(seam_scenario(kHospitals, "<adam learning-rate=\"1e-3\"/>",
                                   "<run algorithm=\"gradient-sharing\"/>\n"
                                   "<run algorithm=\"partial-gradient-sharing\" barrier=\"true\"/>\n"));
  expect_same(result.runs[0], result.runs[1]);
}

TEST(Seam, SoHaveDadAndRankDad) {
  const report::Result result = result_of_seam(seam_scenario(
      kHospitals, "<sgd learning-rate=\"0.1\" momentum=\"0.9\"/>",
      "<run algorithm=\"dad\"/>\n<run algorithm=\"partial-dad\" barrier=\"true\"/>\n"
      "<run algorithm=\"rank-dad\" cap=\"4\"/>\n<run algorithm=\"partial-rank-dad\" cap=\"4\" barrier=\"true\"/>\n"
      "<run algorithm=\"dad\" label=\"c\"><compress method=\"fp16\"/></run>\n"
      "<run algorithm=\"partial-dad\" label=\"d\" barrier=\"true\"><compress method=\"fp16\"/></run>\n"));
  expect_same(result.runs[0], result.runs[1]);
  expect_same(result.runs[2], result.runs[3]);
  expect_same(result.runs[4], result.runs[5]);
}

TEST(Seam, ItHoldsOnAFabricWithJitterToo) {
  const std::string cluster =
      "<platform><gpu-cluster nodes=\"2\" gpus=\"2\" inside=\"nvlink-4\" nic=\"ib-ndr\"/></platform>\n"
      "<network><jitter spatial=\"0.2\" temporal=\"0.1\"/></network>\n"
      "<workers><worker hosts=\"gpu-[0-2]\" device=\"h100-sxm5\"/><aggregator host=\"gpu-3\" "
      "device=\"h100-sxm5\"/></workers>";
  const report::Result result = result_of_seam(seam_scenario(
      cluster, "<sgd learning-rate=\"0.1\"/>",
      "<run algorithm=\"gradient-sharing\"/>\n<run algorithm=\"partial-gradient-sharing\" barrier=\"true\"/>\n"));
  expect_same(result.runs[0], result.runs[1]);
}

}  // namespace
}  // namespace dadsim::study
