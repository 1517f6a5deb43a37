#include "report/csv.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include "report/sample.hpp"

namespace dadsim::report {
namespace {

TEST(Csv, HasOneLinePerRunAndEvaluation) {
  Result result = sample_result();
  result.runs.push_back(sample_run("pooled", "pooled"));
  EXPECT_EQ(
      to_csv(result),
      "scenario,seed,run,algorithm,exchange,workers,step,epoch,seconds,bytes,loss,accuracy,auc,seconds_low,seconds_"
      "high,compression_bites,timed_as,step_seconds,scale_seconds,scale_low,scale_high\n"
      "two sites,18446744073709551615,rank-dad,rank-dad,aggregator,2,0,0,0,0,2.5,0.1,0.5,0,0,,,3,,,\n"
      "two "
      "sites,18446744073709551615,rank-dad,rank-dad,aggregator,2,2,1,6.5,14000,0.75,0.96,0.99,5.416666666666667,8.125,"
      ",,3,,,\n"
      "two sites,18446744073709551615,rank-dad,rank-dad,aggregator,2,3,1.5,9,16000,0.5,0.94,0.985,7.5,11.25,,,3,,,\n"
      "two sites,18446744073709551615,pooled,pooled,,2,0,0,0,0,2.5,0.1,0.5,,,,,3,,,\n"
      "two sites,18446744073709551615,pooled,pooled,,2,2,1,6.5,14000,0.75,0.96,0.99,,,,,3,,,\n"
      "two sites,18446744073709551615,pooled,pooled,,2,3,1.5,9,16000,0.5,0.94,0.985,,,,,3,,,\n");
}

TEST(Csv, CountsEpochsOfEventDrivenRunsByWhatWasTrainedWith) {
  Result result = sample_result();
  result.runs = {sample_played_run()};
  const std::string csv = to_csv(result);
  EXPECT_NE(csv.find(",played,fedavg,aggregator,2,1,0.75,7,4000,1.5,0.5,0.8,,,,,10,,,\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",played,fedavg,aggregator,2,3,2.25,30,9000,0.5,0.96,0.99,,,,,10,,,\n"), std::string::npos) << csv;
}

TEST(Csv, SaysWhetherCompressionBites) {
  Result result = sample_result();
  result.runs[0].bites = false;
  EXPECT_NE(to_csv(result).find(",0.1,0.5,0,0,no,,3,,,\n"), std::string::npos) << to_csv(result);
  result.runs[0].bites = true;
  EXPECT_NE(to_csv(result).find(",0.1,0.5,0,0,yes,,3,,,\n"), std::string::npos);
}

TEST(Csv, QuotesWhatNeedsIt) {
  Result result = sample_result();
  result.scenario_name = "five, \"slow\"\nlinks";
  result.runs[0].curve.resize(1);
  EXPECT_NE(to_csv(result).find("\n\"five, \"\"slow\"\"\nlinks\",18446744073709551615,rank-dad,"), std::string::npos);
}

TEST(Csv, LeavesNumbersThatAreNoneEmpty) {
  Result result = sample_result();
  result.runs[0].curve.resize(1);
  result.runs[0].curve[0].loss = std::numeric_limits<double>::infinity();
  result.runs[0].curve[0].auc = std::numeric_limits<double>::quiet_NaN();
  result.runs[0].steps_per_epoch = 0;
  EXPECT_NE(to_csv(result).find(",2,0,,0,0,,0.1,,0,0,,,3,,,\n"), std::string::npos) << to_csv(result);
}

TEST(Csv, DocumentsItsColumnsInOrder) {
  std::ifstream file(DADSIM_SOURCE_DIR "/docs/output-csv.md");
  ASSERT_TRUE(file);
  std::string documented;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    if (!documented.empty()) documented += ',';
    documented += line.substr(3, line.find('`', 3) - 3);
  }
  const std::string csv = to_csv(sample_result());
  EXPECT_EQ(documented, csv.substr(0, csv.find('\n')));
}

}  // namespace
}  // namespace dadsim::report
