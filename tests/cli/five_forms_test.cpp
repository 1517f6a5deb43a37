// Expects that all five forms of an answer (table, JSON, CSV, page and sweep) are about the workload that was asked
// for. Uses small versions of shipped scenarios.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/process.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

struct AskedWorkload {
  std::string scenario, workload, metric;
  std::vector<std::string> changes;
};

std::string asked_name(const testing::TestParamInfo<AskedWorkload>& tested) {
  std::string name = tested.param.scenario;
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Returns the fields of a CSV row without quoted commas.
std::map<std::string, std::string> row_of_csv(const std::string& csv, std::size_t row) {
  std::istringstream lines(csv);
  std::vector<std::vector<std::string>> cells;
  for (std::string line; std::getline(lines, line);) {
    cells.emplace_back(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.back().emplace_back();
      } else {
        cells.back().back() += c;
      }
    }
  }
  std::map<std::string, std::string> fields;
  for (std::size_t i = 0; i < cells.at(0).size(); ++i) fields[cells[0][i]] = cells.at(row).at(i);
  return fields;
}

class FiveForms : public testing::TestWithParam<AskedWorkload> {
 protected:
  std::vector<std::string> with_changes(std::vector<std::string> arguments) const {
    for (const std::string& change : GetParam().changes) arguments.insert(arguments.end(), {"--set", change});
    return arguments;
  }
  test::TemporaryFolder folder_;
};

TEST_P(FiveForms, SpeakOfTheWorkload) {
  const AskedWorkload& asked = GetParam();
  const bool known = asked.metric == "time-at-scale";
  const std::string source = DADSIM_SOURCE_DIR "/scenarios/" + asked.scenario + ".xml";
  const test::Outcome run = test::run_dadsim(
      with_changes({source, "--verbose", "--json", "r.json", "--csv", "r.csv", "--report", "r.html", "--no-sliders"}),
      folder_.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;

  const auto json = nlohmann::json::parse(test::read_file(folder_.path("r.json")));
  EXPECT_EQ(json["answer"]["of"], asked.workload);
  EXPECT_EQ(json["answer"]["metric"], asked.metric);
  ASSERT_FALSE(json["answer"]["ranking"].empty());
  const std::string first = json["answer"]["statements"][0]["words"];
  EXPECT_NE(first.find(asked.workload), std::string::npos) << first;
  std::string last;  // the last statement that names the learned network
  for (const auto& one : json["answer"]["statements"]) {
    if (one["values"].contains("learned_on")) last = one["words"];
  }
  EXPECT_TRUE(last.starts_with("On the learning network (")) << json["answer"]["statements"];

  // The table begins with the same sentence, and names the learned network after the workload.
  std::string table = run.out;
  for (std::size_t at = 0; (at = table.find("\n  ", at)) != std::string::npos;) table.replace(at, 3, " ");
  EXPECT_TRUE(table.starts_with(first)) << run.out;
  const std::size_t of_workload = table.find("as " + asked.workload);
  const std::size_t of_learned = table.find("\nOn the learning network (");
  ASSERT_NE(of_workload, std::string::npos) << run.out;
  ASSERT_NE(of_learned, std::string::npos) << run.out;
  EXPECT_LT(of_workload, of_learned);
  EXPECT_EQ(table.find("(none)"), std::string::npos);

  for (const auto& one : json["runs"]) {
    const auto& scale = one["at_scale"];
    // Gradient sharing always has relative steps of 1, even if the small network did not learn with it.
    if (one["algorithm"] == "gradient-sharing") {
      EXPECT_EQ(one["relative_steps"], 1) << one["label"];
    } else if (one["algorithm"] != "pooled" && one["relative_steps"].is_null()) {
      const std::string why = scale["why_not"]["words"];
      EXPECT_TRUE(why.find("did not reach the target") == std::string::npos || why.find("best ") != std::string::npos ||
                  why.find("seeds") != std::string::npos)
          << why;
    }
    EXPECT_EQ(one["scale_seconds"].is_null(), !known || one["relative_steps"].is_null());
  }

  const auto row = row_of_csv(test::read_file(folder_.path("r.csv")), 1);
  EXPECT_TRUE(row.at("timed_as").starts_with(asked.workload)) << row.at("timed_as");
  EXPECT_NE(row.at("step_seconds"), "");
  EXPECT_EQ(!row.at("scale_seconds").empty(), known);

  const std::string page = test::read_file(folder_.path("r.html"));
  EXPECT_NE(page.find(first.substr(0, first.find('('))), std::string::npos) << first;
}

TEST_P(FiveForms, SweepsSpeakOfTheWorkload) {
  const AskedWorkload& asked = GetParam();
  const bool known = asked.metric == "time-at-scale";
  std::string text = test::read_file(DADSIM_SOURCE_DIR "/scenarios/" + asked.scenario + ".xml");
  const std::string folder = "../platforms/";
  if (const std::size_t at = text.find(folder); at != std::string::npos)
    text.replace(at, folder.size(), DADSIM_SOURCE_DIR "/platforms/");
  text.insert(text.rfind("</scenario>"), R"(<sweep><vary path="seed" values="1 2"/></sweep>)");
  folder_.write("asked.xml", text);
  const test::Outcome sweep = test::run_dadsim(with_changes({"sweep", "asked.xml", "--csv", "s.csv"}), folder_.path());
  ASSERT_EQ(sweep.exit_code, 0) << sweep.err;
  std::string table = sweep.out;
  for (std::size_t at = 0; (at = table.find("\n  ", at)) != std::string::npos;) table.replace(at, 3, " ");
  EXPECT_NE(table.find((known ? "times to accuracy of " : "steps of ") + asked.workload), std::string::npos) << table;
  EXPECT_NE(table.find(known ? "time to accuracy" : "a step"), std::string::npos) << table;
  EXPECT_EQ(table.find("(none)"), std::string::npos) << table;
  const auto row = row_of_csv(test::read_file(folder_.path("s.csv")), 1);
  EXPECT_TRUE(row.at("workload").starts_with(asked.workload)) << row.at("workload");
}

INSTANTIATE_TEST_SUITE_P(Shipped, FiveForms,
                         testing::Values(AskedWorkload{"imagenet",
                                                       "resnet-50",
                                                       "time-at-scale",
                                                       {"data.digits.train=640", "data.digits.test=200",
                                                        "training.epochs=2", "training.seeds=2",
                                                        "training.target-accuracy=0.2"}},
                                         AskedWorkload{"bert-1024",
                                                       "bert-large",
                                                       "time-per-step",
                                                       {"workers.worker.hosts=gpu-[0-15]", "data.digits.train=1024",
                                                        "data.digits.test=200"}},
                                         AskedWorkload{"hospitals",
                                                       "resnet-50",
                                                       "time-per-step",
                                                       {"timed-as.workload=resnet-50", "data.digits.train=400",
                                                        "data.digits.test=200", "training.epochs=1"}}),
                         asked_name);

}  // namespace
}  // namespace dadsim::cli
