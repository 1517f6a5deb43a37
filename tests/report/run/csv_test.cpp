
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "report/run/figure_values.hpp"
#include "report/sample.hpp"

namespace dadsim::report {
namespace {

/// Returns the cells of a CSV, in which no text has a line break.
std::vector<std::vector<std::string>> cells_of(const std::string& csv) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream stream(csv);
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string>& cells = lines.emplace_back(1);
    bool quoted = false;
    for (const char one : line) {
      if (one == '"') quoted = !quoted;
      if (one == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += one;
      }
    }
  }
  return lines;
}

std::string cell(const std::string& csv, std::size_t line, const std::string& column) {
  const auto lines = cells_of(csv);
  const auto found = std::ranges::find(lines[0], column);
  EXPECT_NE(found, lines[0].end()) << column;
  EXPECT_EQ(lines[line].size(), lines[0].size());
  return found == lines[0].end() ? "" : lines[line].at(static_cast<std::size_t>(found - lines[0].begin()));
}

TEST(Csv, HasOneLinePerRunAndEvaluation) {
  Result result = sample_result();
  result.runs.push_back(sample_run("pooled", "pooled"));
  const std::string csv = to_csv(result);
  const std::string timed_as = "\"MLP 4-3-2 (23 parameters), batch 32 per worker\",";
  const std::string two = "\ntwo sites,18446744073709551615,";
  EXPECT_EQ(std::ranges::count(csv, '\n'), 7);
  for (const std::string& line :
       {two + "rank-dad,0,0,0,0,2.5,0.1,0.5,0,0," + timed_as + "rank-dad,true,aggregator,false,2,3,0.94,",
        two + "rank-dad,2,1,6.5,14000,0.75,0.96,0.99,5.416666666666667,8.125," + timed_as + "rank-dad,true,",
        two + "rank-dad,3,1.5,9,16000,0.5,0.94,0.985,7.5,11.25," + timed_as + "rank-dad,true,",
        two + "pooled,0,0,0,0,2.5,0.1,0.5,,," + timed_as + "pooled,false,,false,2,3,0.94,",
        two + "pooled,3,1.5,9,16000,0.5,0.94,0.985,,," + timed_as + "pooled,false,,"}) {
    EXPECT_NE(csv.find(line), std::string::npos) << line << "\nin\n" << csv;
  }
  EXPECT_EQ(cell(csv, 3, "step_seconds"), "3");
  EXPECT_EQ(cell(csv, 3, "scale_low"), "");
}

TEST(Csv, CountsEpochsOfEventDrivenRunsByWhatWasTrainedWith) {
  Result result = sample_result();
  result.runs = {sample_event_driven_run()};
  const std::string csv = to_csv(result);
  EXPECT_NE(csv.find(",simulated,1,0.75,7,4000,1.5,0.5,0.8,,,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",simulated,3,2.25,30,9000,0.5,0.96,0.99,,,"), std::string::npos) << csv;
}

TEST(Csv, SaysWhetherCompressionBites) {
  Result result = sample_result();
  EXPECT_EQ(cell(to_csv(result), 1, "compression_is_lossy"), "");
  result.runs[0].is_lossy = false;
  EXPECT_EQ(cell(to_csv(result), 1, "compression_is_lossy"), "false");
  result.runs[0].is_lossy = true;
  EXPECT_EQ(cell(to_csv(result), 1, "compression_is_lossy"), "true");
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
  EXPECT_NE(to_csv(result).find(",rank-dad,0,,0,0,,0.1,,0,0,"), std::string::npos) << to_csv(result);
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
  EXPECT_EQ(documented + csv_names_of_figures(1), csv.substr(0, csv.find('\n'))) << "the label stands before";
}

}  // namespace
}  // namespace dadsim::report
