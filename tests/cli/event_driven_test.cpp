// Tests event-driven runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"

namespace dadsim::cli {
namespace {

using namespace std::chrono_literals;
using test::Outcome;
using test::read_file;
using test::run_dadsim;
using EventJson = nlohmann::ordered_json;

/// Returns a scenario with these runs at eight sites, the last three of which have slow links.
std::string eight_sites(const std::string& runs, const std::string& training = "batch=\"16\" epochs=\"2\"") {
  return R"(<?xml version="1.0" encoding="UTF-8"?>
<scenario name="Eight" seed="3">
  <platform>
    <federation>
      <sites name="site" count="5" up="10Mbps" down="10Mbps" latency="5ms"/>
      <sites name="far" count="3" up="500kbps" down="2Mbps" latency="40ms"/>
    </federation>
  </platform>
  <workers>
    <worker hosts="site-[1-5] far-[1-3]" device="rtx-3090"/>
    <aggregator host="hub" device="xeon-8380"/>
  </workers>
  <data><digits train="400" test="100"/></data>
  <model><dense units="16"/><dense units="10"/></model>
  <training )" +
         training + " target-accuracy=\"0.5\"/>\n" + runs + "\n</scenario>\n";
}

constexpr const char* kRuns =
    "<run algorithm=\"gradient-sharing\"/>\n"
    "<run algorithm=\"fedavg\" rounds=\"4\" label=\"plain\"/>\n"
    "<run algorithm=\"fedavg\" rounds=\"6\" fraction=\"0.5\" over-selection=\"1.5\" deadline=\"0.5\" "
    "label=\"hurried\"/>";

class EventDriven : public testing::Test {
 protected:
  std::string write(const std::string& runs) const { return folder_.write("eight.xml", eight_sites(runs)); }
  /// Returns the JSON of a run without wall-clock times.
  EventJson result(const std::string& scenario, std::vector<std::string> arguments = {}) const {
    const std::string file = folder_.path("result.json");
    arguments.insert(arguments.begin(), {scenario, "--quiet", "--json", file});
    const Outcome outcome = run_dadsim(arguments);
    EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.err;
    EventJson json = EventJson::parse(read_file(file));
    json.erase("wall_clock");
    return json;
  }
  test::TemporaryFolder folder_;
};

TEST_F(EventDriven, ResultsDoNotDependOnThreadsOrOnChance) {
  const std::string scenario = write(kRuns);
  const EventJson one = result(scenario, {"--threads", "1"});
  for (const char* threads : {"1", "2", "4"}) EXPECT_EQ(result(scenario, {"--threads", threads}), one) << threads;
}

TEST_F(EventDriven, FiguresFitTogether) {
  const EventJson json = result(write(kRuns));
  EXPECT_FALSE(json["runs"][0].contains("event_run"));
  for (const std::size_t i : {1U, 2U}) {
    const EventJson& run = json["runs"][i];
    const EventJson& event_driven = run["event_run"];
    EXPECT_GT(run["steps"].get<int>(), 0);
    const EventJson& took = event_driven["contributions"];
    const auto told = took["used"].get<int>() + took["late"].get<int>() + took["failed"].get<int>();
    EXPECT_LE(told, took["asked"].get<int>());
    EXPECT_EQ(event_driven["parts"].size(), static_cast<std::size_t>(told));
    EXPECT_EQ(event_driven["parts_left_out"], 0);
    int used = 0;
    for (const EventJson& one : event_driven["per_worker"]["used"]) used += one.get<int>();
    EXPECT_EQ(used, took["used"].get<int>());
    const EventJson& bytes = event_driven["bytes"];
    EXPECT_DOUBLE_EQ(run["total_bytes"].get<double>(), bytes["received"].get<double>() + bytes["lost"].get<double>());
    EXPECT_NEAR(event_driven["busy_seconds"].get<double>() + event_driven["idle_seconds"].get<double>() +
                    run["down_seconds"].get<double>(),
                8 * run["total_seconds"].get<double>(), 1e-9);
    EXPECT_EQ(run["curve"].back()["seconds"], run["total_seconds"]);
    // Bytes of links are reported per update, as all other figures are.
    double on_links = 0;
    for (const EventJson& use : run["link_use"]) on_links += use["bytes_per_step"].get<double>();
    const double sent_per_update = run["total_bytes"].get<double>() / run["steps"].get<double>();
    EXPECT_GT(on_links, 0.9 * sent_per_update);
    EXPECT_LT(on_links, 4.1 * sent_per_update);  // a message crosses several links
  }
  EXPECT_EQ(json["runs"][1]["event_run"]["contributions"]["late"], 0);
  EXPECT_GT(json["runs"][2]["event_run"]["contributions"]["late"].get<int>(), 0);
  EXPECT_GT(json["runs"][2]["wasted_bytes"].get<double>(), 0);
  const auto says = [](const EventJson& statements, const char* kind) {
    return std::ranges::any_of(statements, [&](const EventJson& one) { return one["kind"] == kind; });
  };
  EXPECT_TRUE(says(json["assumptions"], "barrier"));
  EXPECT_TRUE(says(json["assumptions"], "event-driven"));
  const EventJson alone = result(write("<run algorithm=\"fedavg\" rounds=\"1\"/>"));
  EXPECT_FALSE(says(alone["assumptions"], "barrier"));
}

TEST_F(EventDriven, TimingOnlyGivesTheSameTimesAndNoAccuracies) {
  const std::string scenario = write(
      "<run algorithm=\"fedavg\" rounds=\"4\"/>\n"
      "<run algorithm=\"fedavg\" rounds=\"6\" fraction=\"0.5\" deadline=\"0.5\" label=\"hurried\"/>");
  const EventJson learned = result(scenario);
  const EventJson timed = result(scenario, {"--timing-only"});
  EXPECT_EQ(timed["timing_only"], true);
  for (std::size_t i = 0; i < 2; ++i) {
    const EventJson& a = learned["runs"][i];
    const EventJson& b = timed["runs"][i];
    EXPECT_EQ(a["total_seconds"], b["total_seconds"]);
    EXPECT_EQ(a["total_bytes"], b["total_bytes"]);
    EXPECT_EQ(a["event_run"]["parts"], b["event_run"]["parts"]);
    EXPECT_EQ(a["curve"].size(), b["curve"].size());
    EXPECT_GT(a["event_run"]["learning"]["learned"].get<int>(), 0);
    EXPECT_EQ(b["event_run"]["learning"]["learned"], 0);
    EXPECT_TRUE(b["final_accuracy"].is_null());
    EXPECT_TRUE(b["curve"].back()["loss"].is_null());
    EXPECT_EQ(b["target_reached"], false);
  }
  const Outcome table = run_dadsim({scenario, "--timing-only"});
  EXPECT_EQ(table.exit_code, kSuccess);
  EXPECT_NE(table.out.find(" rounds an hour. A round takes "), std::string::npos) << table.out;
  EXPECT_EQ(table.out.find("nan"), std::string::npos) << table.out;
}

TEST_F(EventDriven, TimingOnlyTimesWhatIsLearnedFirstTooAndRefusesWhatAsksForAccuracies) {
  Outcome outcome = run_dadsim({write(kRuns), "--timing-only", "--quiet", "--json", "-"});
  ASSERT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  const EventJson both = EventJson::parse(outcome.out);
  EXPECT_EQ(both["runs"][0]["algorithm"], "gradient-sharing");
  EXPECT_GT(both["runs"][0]["step_seconds"].get<double>(), 0);
  EXPECT_TRUE(both["runs"][0]["final_accuracy"].is_null());
  const std::string scenario = write("<run algorithm=\"fedavg\" rounds=\"2\"/>");
  outcome = run_dadsim({scenario, "--timing-only", "--set", "training.stop=target"});
  EXPECT_EQ(outcome.exit_code, kWrongInput);
  EXPECT_NE(outcome.err.find("needs accuracies"), std::string::npos) << outcome.err;
}

TEST_F(EventDriven, ATraceIsOfTheWholePlayAndChangesNothing) {
  const std::string scenario = write(kRuns);
  const std::string file = folder_.path("trace.json");
  const EventJson traced = result(scenario, {"--trace", file});
  EXPECT_EQ(traced, result(scenario));
  const EventJson trace = EventJson::parse(read_file(file));
  double busy = 0;
  for (const EventJson& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["cat"] == "compute" && event["name"] == "client" && event["pid"] > 1 &&
        event["pid"] <= 9) {
      busy += event["dur"].get<double>() / 1e6;
    }
  }
  EXPECT_NEAR(busy, traced["runs"][1]["event_run"]["busy_seconds"].get<double>(), 1e-6);
}

TEST_F(EventDriven, InterruptedItLeavesNothingHalfWritten) {
  const std::string scenario = write("<run algorithm=\"fedavg\" rounds=\"1000000\"/>");
  const std::filesystem::path file = folder_.path("result.json");
  for (const bool timing_only : {false, true}) {
    std::vector<std::string> arguments{scenario, "--json", file.string()};
    if (timing_only) arguments.emplace_back("--timing-only");
    const Outcome outcome = run_dadsim(arguments, DADSIM_SOURCE_DIR, 1500ms);
    EXPECT_EQ(outcome.exit_code, kInterrupted) << outcome.err;
    EXPECT_NE(outcome.err.find("interrupted"), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(file));
  }
}

TEST_F(EventDriven, ExplainPlaysAgain) {
  const std::string scenario = write("<run algorithm=\"fedavg\" rounds=\"3\"/>");
  const std::string file = folder_.path("explained.json");
  const Outcome outcome = run_dadsim({"explain", scenario, "--json", file});
  ASSERT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  EXPECT_NE(outcome.out.find("Event-driven runs are the exception"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("of its workers' time"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("twice the bandwidth of the links far-#"), std::string::npos) << outcome.out;
}

TEST_F(EventDriven, SeedsGiveItNoRelativeSteps) {
  const std::string scenario = write(kRuns);
  const EventJson json = result(scenario, {"--set", "training.seeds=2"});
  EXPECT_TRUE(json["runs"][0].contains("at_scale"));
  EXPECT_FALSE(json["runs"][1].contains("at_scale"));
  const Outcome table = run_dadsim({scenario, "--verbose", "--set", "training.seeds=2"});
  EXPECT_NE(table.out.find("plain: no relative steps, since its learning depends"), std::string::npos) << table.out;
}

/// Returns a platform file with three sites at a hub, each with a line of 100 kB/s. Site 1 is off for ten of every
/// thirty seconds, and the line of site 2 for one of every ten.
std::string star_with_states() {
  std::string body = "<host id=\"hub\" speed=\"1Gf\"/>\n";
  for (const char* site : {"1", "2", "3"}) {
    const std::string name = site;
    body += "<host id=\"site-" + name + "\" speed=\"1Gf\"" + (name == "1" ? " state_file=\"host.txt\"" : "") +
            "/>\n<link id=\"line-" + name + "\" bandwidth=\"100kBps\" latency=\"1ms\"/>\n";
  }
  for (const char* site : {"1", "2", "3"}) {
    body += std::string("<route src=\"hub\" dst=\"site-") + site + "\"><link_ctn id=\"line-" + site + "\"/></route>\n";
  }
  return "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n<zone id=\"zone\" routing=\"Full\">\n" +
         body +
         "</zone>\n<trace id=\"line\" periodicity=\"10\">\n5 0\n6 1\n</trace>\n"
         "<trace_connect kind=\"LINK_AVAIL\" trace=\"line\" element=\"line-2\"/>\n</platform>\n";
}

TEST_F(EventDriven, StateProfilesOfAPlatformFileArePlayed) {
  folder_.write("star.xml", star_with_states());
  folder_.write("host.txt", "PERIODICITY 30\n10 0\n20 1\n");
  const std::string scenario = folder_.write("star-scenario.xml", R"(<?xml version="1.0" encoding="UTF-8"?>
<scenario name="Star" seed="3">
  <platform file="star.xml"/>
  <workers>
    <worker hosts="site-[1-3]" device="rtx-3090"/>
    <aggregator host="hub" device="xeon-8380"/>
  </workers>
  <data><digits train="300" test="100"/></data>
  <model><dense units="16"/><dense units="10"/></model>
  <training batch="16" epochs="2" target-accuracy="0.99"/>
  <run algorithm="gradient-sharing"/>
  <run algorithm="fedavg" rounds="60" deadline="3"/>
</scenario>
)");
  const EventJson json = result(scenario);
  bool told = false;
  for (const EventJson& statement : json["assumptions"]) told = told || statement["kind"] == "broken-steps";
  EXPECT_TRUE(told);
  EXPECT_GT(json["runs"][0]["event_run"]["outages"]["hosts"], 0) << "they break off steps too";
  const EventJson& run = json["runs"][1];
  EXPECT_EQ(run["steps"], 60);
  const auto seconds = run["total_seconds"].get<double>();
  ASSERT_GT(seconds, 60);
  // The site goes off at 10 + 30 k s for ten seconds, and the line at 5 + 10 k s for one.
  const auto starts = [&](double first, double period) { return std::floor((seconds - first) / period) + 1; };
  const EventJson& outages = run["event_run"]["outages"];
  EXPECT_EQ(outages["hosts"].get<double>(), starts(10, 30)) << outages.dump();
  EXPECT_EQ(outages["links"].get<double>(), starts(5, 10)) << outages.dump();
  const double whole = std::floor(seconds / 30);
  const double part = std::clamp(seconds - 30 * whole - 10, 0.0, 10.0);
  EXPECT_NEAR(run["down_seconds"].get<double>(), 10 * whole + part, 1e-6);
}

}  // namespace
}  // namespace dadsim::cli
