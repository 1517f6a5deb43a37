// Tests `dadsim calibrate --row`, which sets the speed of workers from one measured step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "support/temporary_folder.hpp"
#include "support/whole_file.hpp"

namespace dadsim {
namespace {

using test::run_dadsim;

std::string scenario_with(const std::string& worker, int gpus) {
  return fmt::format(
      R"(<scenario name="s"><platform><gpu-cluster nodes="2" gpus="8" inside="nvlink-4" nic="ib-ndr" rails="8"/></platform>
         <workers><worker hosts="gpu-[0-{}]" device="h100-sxm5"{}/></workers><timing-only/><training><adamw/></training>
         <timed-as workload="gpt-2-medium" precision="bf16" attention="flash" batch="8"/>
         <run algorithm="gradient-sharing" exchange="peer"/></scenario>)",
      gpus - 1, worker);
}

double seconds_of_step(const test::TemporaryFolder& folder, const std::string& scenario) {
  const std::string json = folder.path("out.json");
  const test::Outcome outcome = run_dadsim({folder.write("s.xml", scenario), "--json", json, "--quiet"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return nlohmann::json::parse(whole_file(json).value())["runs"][0]["step_seconds"].get<double>();
}

TEST(CalibrateRow, FindsTheSpeedThatAStepWasTakenWith) {
  const test::TemporaryFolder folder;
  const double seconds = seconds_of_step(folder, scenario_with(R"( speed="0.8")", 16));
  const std::string scenario = folder.write("plain.xml", scenario_with("", 16));
  const test::Outcome outcome = run_dadsim({"calibrate", scenario, "--row", fmt::format("{:.6g}s", seconds)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string said = "speed=\"";
  const std::size_t at = outcome.out.find(said);
  ASSERT_NE(at, std::string::npos) << outcome.out;
  EXPECT_NEAR(std::atof(outcome.out.c_str() + at + said.size()), 0.8, 0.002) << outcome.out;
  EXPECT_NE(outcome.out.find("Nine of ten measured steps"), std::string::npos) << outcome.out;
  const test::Outcome data =
      run_dadsim({"calibrate", scenario, "--row", fmt::format("{:.6g}s", seconds), "--json", "-"});
  EXPECT_NEAR(nlohmann::json::parse(data.out)["speed"].get<double>(), 0.8, 0.002) << data.out;
}

TEST(CalibrateRow, RefusesWhatTellsNothing) {
  const test::TemporaryFolder folder;
  const std::string scenario = folder.write("plain.xml", scenario_with("", 16));
  EXPECT_EQ(run_dadsim({"calibrate", scenario, "--row", "312"}).exit_code, 2);
  EXPECT_EQ(run_dadsim({"calibrate", scenario, "--row", "-3tokens/s"}).exit_code, 2);
  EXPECT_EQ(run_dadsim({"calibrate", scenario, "--row", "312ms", "--like", "h100-sxm5"}).exit_code, 2);
  const std::string slower = folder.write("slower.xml", scenario_with(R"( speed="0.8")", 16));
  EXPECT_NE(run_dadsim({"calibrate", slower, "--row", "312ms"}).err.find("sets the speed of workers"),
            std::string::npos);
}

}  // namespace
}  // namespace dadsim
