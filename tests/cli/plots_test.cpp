// Tests --plots, which writes a result's charts and tables into a folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlan = R"(<scenario name="plan &amp; 100 %">
  <platform><gpu-cluster nodes="2" gpus="2" inside="nvlink-3" nic="roce-100"/></platform>
  <workers><worker hosts="gpu-*" device="a100-sxm4-40"/></workers><timing-only/>
  <timed-as workload="gpt-2-medium" batch="8" precision="bf16" attention="flash" tokens="1B"/>
  <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/><costs/>
  <goal within="6h" cost="2000"><allow path="platform.gpu-cluster.nodes" values="1 2 4"/></goal>
  <sweep><vary path="timed-as.batch" values="4 8"/></sweep>
</scenario>)";

class Plots : public testing::Test {
 protected:
  void SetUp() override { folder_.write("plan.xml", kPlan); }
  test::Outcome run(const std::vector<std::string>& arguments) const {
    return test::run_dadsim(arguments, folder_.path());
  }
  std::map<std::string, std::string> files_in(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_.path(name)))
      files[entry.path().filename()] = test::read_file(entry.path());
    return files;
  }
  test::TemporaryFolder folder_;
};

TEST_F(Plots, AreTheSameFilesEachTimeAndReplaceOlderOnes) {
  ASSERT_EQ(run({"plan", "plan.xml", "--plots", "a", "--quiet"}).exit_code, kSuccess);
  folder_.write("b/choices.svg", "an older one");
  folder_.write("b/own.txt", "mine");
  ASSERT_EQ(run({"plan", "plan.xml", "--plots", "b", "--quiet"}).exit_code, kSuccess);
  auto again = files_in("b");
  EXPECT_EQ(again["own.txt"], "mine");
  again.erase("own.txt");
  EXPECT_EQ(files_in("a"), again);
  ASSERT_TRUE(again.contains("choices.svg") && again.contains("choices.csv") && again.contains("answers.tex"));
  const std::string& csv = again["choices.csv"];
  EXPECT_TRUE(csv.starts_with("series,time (s),money (USD),low,high,point\n")) << csv;
  EXPECT_EQ(std::ranges::count(csv, '\n'), 4) << csv;
}

TEST_F(Plots, AreOfRunsLayoutsAndSweepsToo) {
  ASSERT_EQ(run({"plan.xml", "--plots", "run", "--quiet"}).exit_code, kSuccess);
  EXPECT_TRUE(files_in("run").contains("step.svg"));
  EXPECT_NE(files_in("run")["table.tex"].find("gradient-sharing"), std::string::npos);
  ASSERT_EQ(run({"layout", "plan.xml", "--simulate", "3", "--plots", "layout", "--quiet"}).exit_code, kSuccess);
  EXPECT_TRUE(files_in("layout").contains("parts.svg"));
  EXPECT_TRUE(files_in("layout").contains("layouts.tex"));
  EXPECT_TRUE(files_in("layout")["layouts.csv"].starts_with("replicas,batch,tensor,")) << "values, not texts";
  ASSERT_EQ(run({"sweep", "plan.xml", "--plots", "sweep", "--quiet"}).exit_code, kSuccess);
  EXPECT_TRUE(files_in("sweep").contains("scale-seconds.svg"));
  EXPECT_TRUE(files_in("sweep").contains("table.tex"));
}

TEST_F(Plots, NeverReplaceWhatIsReadAndNeedAFolder) {
  folder_.write("in/choices.csv", kPlan);
  const test::Outcome input = run({"plan", "in/choices.csv", "--plots", "in", "--quiet"});
  EXPECT_EQ(input.exit_code, kUsage) << input.err;
  EXPECT_NE(input.err.find("would overwrite the scenario"), std::string::npos) << input.err;
  EXPECT_EQ(files_in("in").size(), 1U);
  const test::Outcome file = run({"plan", "plan.xml", "--plots", "plan.xml"});
  EXPECT_EQ(file.exit_code, kOutputFailed) << file.err;
  const test::Outcome far = run({"plan", "plan.xml", "--plots", "none/far"});
  EXPECT_EQ(far.exit_code, kOutputFailed) << far.err;
  EXPECT_EQ(run({"plan.xml", "--check", "--plots", "c"}).exit_code, kUsage);
  EXPECT_EQ(run({"sweep", "plan.xml", "--learn-only", "--plots", "c"}).exit_code, kUsage);
  EXPECT_FALSE(fs::exists(folder_.path("c")));
}

}  // namespace
}  // namespace dadsim::cli
