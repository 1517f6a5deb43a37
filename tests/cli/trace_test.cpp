// Tests traces of a shipped scenario.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/arguments.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/process.hpp"

namespace dadsim::cli {
namespace {

using Json = nlohmann::json;

/// Returns a result without its wall-clock times.
Json without_wall_clock(const std::string& text) {
  Json json = Json::parse(text);
  json.erase("wall_clock");
  return json;
}

TEST(TraceOption, OnInfiniBandCommunicationIsPartlyHidden) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "trace.json").string();
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments =
        test::small({"scenarios/infiniband.xml", "--json", "-", "--set", "run[gradient-sharing].bucket=0B"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const test::Outcome outcome = test::run_dadsim(arguments);
    EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.err;
    return outcome;
  };
  const test::Outcome traced = run({"--trace", file, "--trace-steps", "1-2"});
  EXPECT_EQ(without_wall_clock(traced.out), without_wall_clock(run({}).out));  // equal to the last bit
  const Json result = Json::parse(traced.out);
  const Json trace = Json::parse(test::read_file(file));

  // Sums the microseconds of the first step, by run, worker and category.
  ASSERT_EQ(result["runs"].size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const Json& told = result["runs"][i];
    double step = 0;  // microseconds of the first step
    std::map<std::string, std::map<std::string, double>> spent_by;
    std::map<int, std::string> tracks;
    for (const Json& event : trace["traceEvents"]) {
      if (event["pid"] != static_cast<int>(i) + 1) continue;
      if (event["name"] == "thread_name") tracks[event["tid"]] = event["args"]["name"];
      if (event["ph"] != "X") continue;
      if (event["name"] == "step 1") step = event["dur"];
      const std::string& track = tracks.at(event["tid"]);
      if (event["ts"].get<double>() < step && track.starts_with("worker ")) {
        spent_by[track.substr(0, track.find(' ', 7))][event["cat"]] += event["dur"].get<double>();
      }
    }
    EXPECT_DOUBLE_EQ(step, 1e6 * told["first_step_seconds"].get<double>());
    // A worker computes, or waits for the whole sum. Trees serve some workers before others, and the last one ends the
    // step.
    double last = 0;
    for (auto& [worker, its] : spent_by) {
      EXPECT_LE(its["compute"] + its["wait"], step * (1 + 1e-9)) << worker;
      last = std::max(last, its["compute"] + its["wait"]);
    }
    EXPECT_GE(last, 0.99 * step);
    EXPECT_EQ(spent_by.size(), 16U);
    std::map<std::string, double>& spent = spent_by["worker 0"];
    const std::string label = told["label"];
    EXPECT_GT(spent["network"], 0) << label;
    EXPECT_LT(spent["wait"], spent["network"]) << label;
    if (label == "gradient-sharing") {
      EXPECT_GT(spent["wait"], 0);
    }
  }
}

std::vector<std::int64_t> steps_of(const std::string& text) {
  const char* arguments[] = {"dadsim", "a.xml", "--trace", "t.json", "--trace-steps", text.c_str()};
  return parse_options(6, arguments).trace_steps;
}

TEST(TraceOption, TakesStepsAndRangesOfThem) {
  EXPECT_EQ(steps_of("3"), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(steps_of("10-12,1,11"), (std::vector<std::int64_t>{1, 10, 11, 12}));
  const char* plain[] = {"dadsim", "a.xml", "--trace", "t.json"};
  EXPECT_EQ(parse_options(4, plain).trace_steps, (std::vector<std::int64_t>{1, 2}));
  for (const char* wrong : {"", "0", "1,", "-3", "3-", "x", "1;2", "5-4", "1-101", "99999999999999999999"}) {
    EXPECT_THROW(steps_of(wrong), UsageError) << wrong;
  }
  const char* alone[] = {"dadsim", "a.xml", "--trace-steps", "1"};
  EXPECT_THROW(parse_options(4, alone), UsageError);
}

}  // namespace
}  // namespace dadsim::cli
