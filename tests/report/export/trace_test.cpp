#include "report/export/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "report/sample.hpp"

namespace dadsim::report {
namespace {

using TraceJson = nlohmann::json;
using Activity = step::Timeline::Activity;
using Stream = step::Timeline::Stream;

/// Returns a timeline of two out of eight workers and a link; one name needs escaping.
step::Timeline sample_timeline() {
  step::Timeline timeline;
  timeline.seconds = 0.5;
  timeline.last = 0;
  timeline.fidelity = "message";
  timeline.labels = {{Activity::computing, "fc1 forward", "fc1", "forward", ""},
                     {Activity::communicating, "all-reduce fc1 (ring)", "fc1", "all-reduce", "ring"},
                     {Activity::waiting, "wait for all-reduce fc1 (ring)", "fc1", "all-reduce", "ring"},
                     {Activity::carrying, "carrying", "", "", ""}};
  timeline.tracks = {{Stream::compute, 0, "worker 0 (a) compute"},
                     {Stream::send, 0, "worker 0 (a) network"},
                     {Stream::compute, 7, "worker 7 (\"h\"\n\xff) compute"},
                     {Stream::link, -1, "up\\0"}};
  timeline.spans = {{0, 0, 0, 0.25, 1e9},
                    {0, 2, 0.25, 0.25, 0},
                    {1, 1, 0.25, 0.25, 1e6},
                    {2, 0, 0, 0.3, 1e9},
                    {3, 3, 0.3, 0.2, 5e5, true}};
  timeline.workers = 8;
  timeline.workers_shown = 2;
  timeline.links = timeline.links_shown = 1;
  timeline.cut = 1;
  return timeline;
}

Result sample_traced() {
  Result result = sample_result();
  result.trace_steps = {1, 3, 9};
  const auto timeline = std::make_shared<const step::Timeline>(sample_timeline());
  result.runs[0].traced = {{1, true, 0, timeline}, {3, false, 6.5, timeline}};
  result.runs.push_back(result.runs[0]);
  result.runs[1].spec.label = "second";
  step::Timeline flows = sample_timeline();
  flows.fidelity = "flow";
  flows.spans.pop_back();
  flows.tracks.pop_back();
  flows.links = flows.links_shown = flows.cut = 0;
  flows.workers = flows.workers_shown;
  result.runs[1].traced = {{1, false, 0, std::make_shared<const step::Timeline>(std::move(flows))}};
  return result;
}

TEST(Trace, KeepsTheRulesOfTheFormat) {
  const TraceJson trace = TraceJson::parse(to_trace(sample_traced()));
  EXPECT_EQ(trace["displayTimeUnit"], "ms");
  EXPECT_EQ(trace["otherData"]["dadsim"], "0.1.0");
  std::set<int> processes;
  std::map<std::pair<int, int>, std::string> threads;
  std::map<std::pair<int, int>, double> end;
  int spans = 0;
  for (const TraceJson& event : trace["traceEvents"]) {
    ASSERT_TRUE(event["pid"].is_number_integer() && event["tid"].is_number_integer() && event["name"].is_string());
    const std::pair<int, int> thread{event["pid"], event["tid"]};
    if (event["ph"] == "M") {
      if (event["name"] == "process_name") processes.insert(thread.first);
      if (event["name"] == "thread_name") threads[thread] = event["args"]["name"];
      continue;
    }
    ++spans;
    ASSERT_EQ(event["ph"], "X");
    EXPECT_TRUE(processes.contains(thread.first));
    EXPECT_TRUE(threads.contains(thread)) << event;
    EXPECT_GE(event["dur"].get<double>(), 0);
    EXPECT_TRUE(event["cat"].is_string() && event["args"].is_object());
    EXPECT_GE(event["ts"].get<double>(), end[thread] - 1e-6) << event;  // in order, without overlap
    end[thread] = event["ts"].get<double>() + event["dur"].get<double>();
  }
  EXPECT_EQ(processes.size(), 2U);
  EXPECT_EQ(spans, 6 + 6 + 5);
  EXPECT_EQ(threads.at({1, 0}), "training steps");
  EXPECT_EQ(threads.at({1, 4}), "link up\\0");
  EXPECT_EQ(threads.at({1, 3}), "worker 7 (\"h\"\n\xEF\xBF\xBD) compute");
}

TEST(Trace, SpansSayWhatTheyAre) {
  const TraceJson trace = TraceJson::parse(to_trace(sample_traced()));
  std::vector<TraceJson> first;  // events of the first run
  for (const TraceJson& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["pid"] == 1) first.push_back(event);
  }
  EXPECT_EQ(first[0], TraceJson::parse(R"json({"ph": "X", "name": "step 1 (new connections)", "cat": "step", "pid": 1,
      "tid": 0, "ts": 0.0, "dur": 500000.0, "args": {"fidelity": "message"}})json"));
  EXPECT_EQ(first[1], TraceJson::parse(R"json({"ph": "X", "name": "fc1 forward", "cat": "compute", "pid": 1, "tid": 1,
      "ts": 0.0, "dur": 250000.0,
      "args": {"layer": "fc1", "kind": "forward", "flops": 1e9, "flops_per_second": 4e9}})json"));
  EXPECT_EQ(first[2],
            TraceJson::parse(R"json({"ph": "X", "name": "wait for all-reduce fc1 (ring)", "cat": "wait", "pid": 1,
      "tid": 1, "ts": 250000.0, "dur": 250000.0,
      "args": {"layer": "fc1", "kind": "all-reduce", "algorithm": "ring"}})json"));
  EXPECT_EQ(first[3], TraceJson::parse(R"json({"ph": "X", "name": "all-reduce fc1 (ring)", "cat": "network", "pid": 1,
      "tid": 2, "ts": 250000.0, "dur": 250000.0, "args": {"layer": "fc1", "kind": "all-reduce", "algorithm": "ring",
      "bytes": 1e6, "bytes_per_second": 4e6}})json"));
  EXPECT_EQ(first[5], TraceJson::parse(R"json({"ph": "X", "name": "carrying", "cat": "link", "pid": 1, "tid": 4,
      "ts": 300000.0, "dur": 200000.0, "args": {"bytes": 500000.0, "cut_off": true}})json"));
  // Step 3 starts at its own date, not after the first step.
  EXPECT_EQ(first[6]["name"], "step 3");
  EXPECT_EQ(first[6]["ts"], 6.5e6);
  EXPECT_EQ(first[7]["ts"], 6.5e6);
}

TEST(Trace, SaysWhatIsLeftOut) {
  const Result result = sample_traced();
  const std::vector<std::string> expected{
      "rank-dad: the run has 3 steps and no step 9",
      "rank-dad: 2 of 8 workers have tracks",
      "rank-dad: step 1: 1 of its spans continue after the last worker ends; they are cut off there",
      "rank-dad: step 3: 1 of its spans continue after the last worker ends; they are cut off there",
      "second: the run has 3 steps and no step 9",
      "second: links have no tracks; collectives were timed as flows, not message by message"};
  EXPECT_EQ(left_out_of_trace(result), expected);
  EXPECT_EQ(TraceJson::parse(to_trace(result))["otherData"]["left_out"], TraceJson(expected));
}

TEST(Trace, StaysSmall) {
  Result result = sample_traced();
  step::Timeline large = sample_timeline();
  large.cut = 0;
  large.workers = large.workers_shown;
  large.spans.clear();
  for (std::size_t i = 0; i < kMostTraceSpans / 2; ++i) {
    large.spans.push_back({0, 0, 0.123456789012345 * static_cast<double>(i), 0.0123456789012345, 123456789});
  }
  const auto timeline = std::make_shared<const step::Timeline>(std::move(large));
  result.trace_steps = {1, 2, 3};
  result.runs.resize(1);
  result.runs[0].traced = {{1, false, 0, timeline}, {2, false, 1, timeline}, {3, false, 2, timeline}};
  EXPECT_LT(to_trace(result).size(), 100'000'000U);
  EXPECT_EQ(left_out_of_trace(result),
            std::vector<std::string>{"rank-dad: step 3 does not fit into a trace of 300000 spans"});
}

TEST(Trace, OfAnEventDrivenRunHasAProcessPerNode) {
  Result result = sample_traced();
  result.runs.push_back(sample_event_driven_run());
  const TraceJson trace = TraceJson::parse(to_trace(result));
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> threads;
  std::map<std::pair<int, int>, double> end;
  std::vector<TraceJson> spans;
  for (const TraceJson& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "thread_name") threads[{event["pid"], event["tid"]}] = event["args"]["name"];
    if (event["ph"] != "X" || event["pid"] < 3) continue;
    const std::pair<int, int> thread{event["pid"], event["tid"]};
    EXPECT_TRUE(threads.contains(thread)) << event;
    EXPECT_GE(event["ts"].get<double>(), end[thread] - 1e-6) << event;  // in order, without overlap
    end[thread] = event["ts"].get<double>() + event["dur"].get<double>();
    spans.push_back(event);
  }
  EXPECT_EQ(processes, (std::map<int, std::string>{{1, "rank-dad"},
                                                   {2, "second"},
                                                   {3, "simulated: worker 0 (a)"},
                                                   {4, "simulated: worker 1 (b \"quoted\")"},
                                                   {5, "simulated: aggregator (hub)"}}));
  ASSERT_EQ(spans.size(), 6U);
  EXPECT_EQ(spans[0], TraceJson::parse(R"({"ph": "X", "name": "client", "cat": "compute", "pid": 3, "tid": 1,
      "ts": 1000000.0, "dur": 3000000.0, "args": {"first_step": 0}})"));
  EXPECT_EQ(spans[1], TraceJson::parse(R"json({"ph": "X", "name": "update to aggregator (hub)", "cat": "lost", "pid": 4,
      "tid": 3, "ts": 8000000.0, "dur": 2000000.0, "args": {"bytes": 500, "number": 2, "failed": true}})json"));
  EXPECT_EQ(spans[2]["name"], "down");
  // Two simultaneous messages are on two tracks, and the next message is on the first track again.
  EXPECT_EQ(threads.at({5, 3}), "sending");
  EXPECT_EQ(threads.at({5, 4}), "sending, 2");
  EXPECT_EQ(spans[5]["tid"], 3);
  const std::vector<std::string> left_out = left_out_of_trace(result);
  EXPECT_TRUE(std::ranges::none_of(left_out, [](const std::string& one) { return one.starts_with("simulated"); }));
  result.runs.back().event_driven->log.spans_left_out = 94;
  EXPECT_EQ(left_out_of_trace(result).back(),
            "simulated: the first 6 of 100 spans of the simulation are included, until 18.0 s");
}

TEST(Trace, OfNothingIsATraceToo) {
  Result result = sample_result();
  result.trace_steps = {1};
  result.runs[0].steps = 0;
  const TraceJson trace = TraceJson::parse(to_trace(result));
  for (const TraceJson& event : trace["traceEvents"]) EXPECT_EQ(event["ph"], "M");
  EXPECT_EQ(left_out_of_trace(result), std::vector<std::string>{"rank-dad: the run has 0 steps and no step 1"});
}

}  // namespace
}  // namespace dadsim::report
