// Tests files of measured steps: accepted contents, and refusals with their line.
#include "study/validation/measured_job.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "study/validation/validate_jobs.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

std::string fault_of(const std::string& text) {
  try {
    (void)read_measured_jobs("rows.csv", text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(MeasuredJobs, AreAScenarioAndItsTime) {
  const auto jobs = read_measured_jobs("somewhere/rows.csv",
                                       "# of our cluster\n"
                                       "scenario,set,time\n"
                                       "lab.xml,timed-as.batch=64 seed=2,312ms\n"
                                       "/etc/lab.xml,,1.5s\n");
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].scenario, "somewhere/lab.xml") << "as from the folder of the file";
  EXPECT_EQ(jobs[0].settings, (std::vector<std::string>{"timed-as.batch=64", "seed=2"}));
  EXPECT_DOUBLE_EQ(jobs[0].measured.step_seconds.value(), 0.312);
  EXPECT_EQ(jobs[0].line, 3);
  EXPECT_EQ(jobs[1].scenario, "/etc/lab.xml");
}

TEST(MeasuredJobs, OrWhatIsTimedOnWhichDevices) {
  const auto jobs = read_measured_jobs(
      "rows.csv",
      "name,gpus,device,platform,workload,batch,precision,timed_as,tokens_per_second,mfu\n"
      "\"ours, new\",16,h100-sxm5,nodes=2 gpus=8 inside=nvlink-4 nic=ib-ndr rails=8,gpt-2-medium,8,bf16,tensor=2,1e6,\n"
      ",1,h100-sxm5,,gpt-2-medium,8,,,,41%\n");
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].name, "ours, new");
  EXPECT_EQ(jobs[0].timed_as,
            (std::map<std::string, std::string>{{"precision", "bf16"}, {"tensor", "2"}, {"workload", "gpt-2-medium"}}));
  EXPECT_DOUBLE_EQ(jobs[0].measured.tokens_per_second.value(), 1e6);
  EXPECT_DOUBLE_EQ(jobs[1].measured.utilisation.value(), 0.41);
  const std::string text = scenario_text_of(jobs[0], 4);
  EXPECT_NE(text.find(R"(hosts="gpu-[0-15]")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"(batch="4")"), std::string::npos) << text;
}

TEST(MeasuredJobs, AreRefusedWithTheirLine) {
  const std::map<std::string, std::string> faults{
      {"", "rows.csv: holds no measurements"},
      {"scenario,time\n", "rows.csv:1: no measurement below the columns"},
      {"scenario,tmie\nlab.xml,1s\n", "rows.csv:1: unknown column 'tmie'; did you mean 'time'?"},
      {"scenario,scenario,time\n", "rows.csv:1: column 'scenario' twice"},
      {"scenario\nlab.xml\n", "rows.csv:1: no column has a measured figure"},
      {"time,gpus\n1s,2\n", "rows.csv:1: no column names the measured system"},
      {"scenario,time\nlab.xml\n", "rows.csv:2: 1 cells for 2 columns; scenario,time"},
      {"scenario,time\nlab.xml,312\n", "rows.csv:2: time '312' is not a time"},
      {"scenario,time\nlab.xml,-1s\n", "rows.csv:2: time '-1s' is not a time"},
      {"scenario,time\nlab.xml,\n", "rows.csv:2: nothing was measured"},
      {"scenario,seconds,mfu\nlab.xml,1,0.4\n", "rows.csv:2: several figures were measured"},
      {"scenario,mfu\nlab.xml,41\n", "rows.csv:2: mfu '41' is not a share; write 0.41 or 41%"},
      {"scenario,seconds\nlab.xml,nan\n", "rows.csv:2: seconds 'nan' is not a number"},
      {"scenario,set,time\nlab.xml,batch,1s\n", "rows.csv:2: 'batch' needs PATH=VALUE"},
      {"scenario,time\n\"lab.xml,1s\n", "rows.csv:2: a quote is not closed"},
      {"scenario,device,batch,time\nlab.xml,h100-sxm5,,1s\n",
       "rows.csv:2: a scenario already gives device and workload"},
      {"device,batch,workload,gpus,time\nh100-sxm5,8,gpt-2-medium,4,1s\n", "rows.csv:2: several GPUs need a platform"},
      {"device,batch,workload,gpus,time\nh100-sxm5,x,gpt-2-medium,1,1s\n",
       "rows.csv:2: batch 'x' is not a whole number"},
      {"device,batch,time\nh100-sxm5,8,1s\n", "rows.csv:2: no workload"},
      {"device,batch,timed_as,time\nh100-sxm5,8,bf16,1s\n", "rows.csv:2: 'bf16' needs ATTRIBUTE=VALUE"}};
  for (const auto& [text, fault] : faults) {
    const std::string said = fault_of(text);
    EXPECT_NE(said.find(fault), std::string::npos) << text << said;
  }
  const std::string both = fault_of("scenario,time\nlab.xml,1\nlab.xml,2\n");
  EXPECT_NE(both.find("rows.csv:2:"), std::string::npos) << both;
  EXPECT_NE(both.find("rows.csv:3:"), std::string::npos) << "all that is wrong at once\n" << both;
}

TEST(MeasuredJobs, WhatIsNoScenarioIsSaidOfItsRow) {
  const auto jobs = read_measured_jobs("rows.csv",
                                       "gpus,device,workload,batch,time\n"
                                       "1,h100-sxm5,gpt-2-medium,8,1s\n"
                                       "1,h100-sxm5,gpt-2-huge,8,1s\n"
                                       "1,h1000,gpt-2-medium,8,1s\n");
  try {
    (void)validate_jobs(jobs, false);
    FAIL();
  } catch (const InputError& error) {
    const std::string said = error.what();
    EXPECT_EQ(said.find("rows.csv:2:"), std::string::npos) << said;
    EXPECT_NE(said.find("rows.csv:3:"), std::string::npos) << said;
    EXPECT_NE(said.find("gpt-2-huge"), std::string::npos) << said;
    EXPECT_NE(said.find("rows.csv:4:"), std::string::npos) << said;
  }
}

TEST(MeasuredJobs, PublishedOnesAreBuiltIn) {
  std::set<std::string> tables;
  for (const MeasuredJob& job : published_jobs()) {
    EXPECT_GT(job.measured.step_seconds.value(), 0) << job.name;
    tables.insert(job.table);
  }
  EXPECT_EQ(tables, (std::set<std::string>{"bert-large", "dlperf-amp", "dlperf-gpt", "internevo", "megatron",
                                           "megatron-bridge", "mlperf-v5", "modalities", "mpt"}));
  EXPECT_GE(published_jobs().size(), 317U);
}

/// A measured rate or utilisation is compared with the same step as a measured time.
TEST(MeasuredJobs, RatesAreHeldAgainstTheSameStep) {
  const std::string of = "1,h100-sxm5,gpt-2-medium,8,bf16,";
  const auto validated = [&](const std::string& figure, const std::string& cell) {
    const auto jobs =
        read_measured_jobs("rows.csv", "gpus,device,workload,batch,precision," + figure + "\n" + of + cell + "\n");
    return validate_jobs(jobs, false).tables.at(0).rows.at(0);
  };
  const report::ValidatedRow by_time = validated("time", "200ms");
  EXPECT_DOUBLE_EQ(by_time.measured, 0.2);
  EXPECT_GT(by_time.predicted, 0);
  EXPECT_LT(by_time.band.low, 1);
  EXPECT_EQ(by_time.category.substr(0, 8), "compute.");
  EXPECT_NEAR(validated("samples_per_second", "40").measured, 0.2, 1e-12);
  EXPECT_NEAR(validated("tokens_per_second", "40960").measured, 0.2, 1e-12);
  const double half = validated("mfu", "20%").measured;
  EXPECT_NEAR(validated("mfu", "0.4").measured, half / 2, 1e-12);
}

/// If a job is measured twice and its batch cannot be divided as stated, both rows are refused.
TEST(MeasuredJobs, EqualJobsThatDoNotGoAreBothRefused) {
  const auto jobs = read_measured_jobs("rows.csv",
                                       "gpus,device,workload,batch,micro-batch,precision,time\n"
                                       "1,h100-sxm5,gpt-2-medium,8,3,bf16,1s\n"
                                       "1,h100-sxm5,gpt-2-medium,8,3,bf16,2s\n");
  const report::Validation validation = validate_jobs(jobs, false);
  ASSERT_EQ(validation.tables.at(0).rows.size(), 2U);
  for (const report::ValidatedRow& row : validation.tables[0].rows) {
    ASSERT_TRUE(row.refused) << row.line;
    EXPECT_NE(row.refused->what, "");
  }
}

}  // namespace
}  // namespace dadsim::study
