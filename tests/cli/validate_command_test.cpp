// Tests `dadsim validate` on published tables and on the user's own measurements.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim {
namespace {

using test::run_dadsim;

TEST(ValidateCommand, ListsWhatWasPublished) {
  const test::Outcome outcome = run_dadsim({"validate", "--list"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part : {"dlperf-gpt         12 rows, up to 32 devices", "modalities         53 rows, up to 256"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << outcome.out;
}

TEST(ValidateCommand, SaysWhatIsWrong) {
  const test::Outcome name = run_dadsim({"validate", "dlperf-gtp"});
  EXPECT_EQ(name.exit_code, 2);
  EXPECT_NE(name.err.find("no published table is called 'dlperf-gtp'; did you mean 'dlperf-gpt'?"), std::string::npos)
      << name.err;
  EXPECT_EQ(run_dadsim({"validate", "mpt", "mpt"}).exit_code, 2);
  EXPECT_EQ(run_dadsim({"validate", "mpt", "--devices", "few"}).exit_code, 2);
  const test::TemporaryFolder folder;
  const std::string path = folder.write("ours.csv", "scenario,time\nlab.xml,312\n");
  const test::Outcome row = run_dadsim({"validate", path});
  EXPECT_EQ(row.exit_code, 3);
  EXPECT_NE(row.err.find("ours.csv:2: time '312' is not a time; "), std::string::npos) << row.err;
  EXPECT_EQ(run_dadsim({"validate", "not/there.csv"}).exit_code, 3);
  const test::Outcome scenario =
      run_dadsim({"validate", folder.write("theirs.csv", "scenario,time\nnot-there.xml,312ms\n")});
  EXPECT_EQ(scenario.exit_code, 3);
  EXPECT_NE(scenario.err.find("theirs.csv:2: no scenario '"), std::string::npos) << scenario.err;
}

TEST(ValidateCommand, HoldsMeasurementsOfOnesOwn) {
  const test::TemporaryFolder folder;
  const std::string path =
      folder.write("ours.csv",
                   "name,gpus,device,platform,workload,batch,precision,time\n"
                   "one,1,a100-sxm4-80,,gpt-2-medium,8,bf16,150ms\n"
                   "two,2,a100-sxm4-80,nodes=1 gpus=2 inside=nvlink-3 nic=ib-hdr,gpt-2-medium,8,bf16,9s\n");
  const std::string json = folder.path("ours.json");
  const test::Outcome outcome = run_dadsim({"validate", path, "--json", json});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" of 2 measurements lie in the band of their prediction"), std::string::npos)
      << outcome.out;
  const auto table = nlohmann::json::parse(test::read_file(json))["tables"][0];
  EXPECT_EQ(table["name"], path);
  EXPECT_EQ(table["predicted"], 2);
  EXPECT_EQ(table["rows"][1]["inside"], false);
  EXPECT_EQ(table["rows"][1]["line"], 3);
  EXPECT_LT(table["rows"][0]["predicted_s"], table["rows"][1]["predicted_s"]);
}

}  // namespace
}  // namespace dadsim
