// Tests which models a framework cannot send or hold, and how it changes the time of a round.
#include <gtest/gtest.h>

#include <string>

#include "protocols/registry.hpp"
#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

/// Returns a scenario of three clients whose lines differ.
std::string of_framework(const std::string& framework, const std::string& payload, const std::string& server) {
  return R"(<scenario name="Three clients" seed="1"><platform><federation>
<sites name="a" count="2" up="100Mbps" down="400Mbps" latency="1ms" transport="plain"/>
<sites name="b" count="1" up="50Mbps" down="200Mbps" latency="5ms" transport="plain"/></federation></platform>
<framework )" +
         framework + R"(/><workers><worker hosts="a-[1-2] b-1" device="rtx-3090"/><aggregator host="hub" device=")" +
         server + R"("/></workers><timing-only payload=")" + payload +
         R"("/><run algorithm="fedavg" rounds="2" local-steps="1"/></scenario>)";
}

std::string framework_faults(const std::string& text) {
  std::string faults;
  try {
    scenario::ScenarioSource("scenario.xml", text).load({}, make_catalog());
  } catch (const InputError& error) {
    for (const Diagnostic& one : error.diagnostics()) faults += one.what + "\n";
  }
  return faults;
}

double seconds_with(const std::string& framework) {
  const scenario::Scenario scenario =
      scenario::ScenarioSource("scenario.xml", of_framework(framework, "10MB", "xeon-8380")).load({}, make_catalog());
  return run_experiment(scenario, false).runs.front().step_seconds;
}

TEST(FrameworkCheck, RefusesModelsThatAreLongerThanAMessage) {
  const std::string faults = framework_faults(of_framework(R"(name="flower" version="1.19")", "3GB", "xeon-8380"));
  EXPECT_NE(faults.find("in one message, but flower 1.19 sends at most"), std::string::npos) << faults;
  EXPECT_EQ(framework_faults(of_framework(R"(name="flower")", "3GB", "xeon-8380")), "") << "1.20 sends pieces";
  EXPECT_EQ(framework_faults(of_framework(R"(name="flower" version="1.19")", "2GB", "xeon-8380")), "");
}

TEST(FrameworkCheck, RefusesServersThatCannotHoldTheirClients) {
  // The server holds the models of three clients and two more: five models of 3 GB exceed 8 GB.
  const std::string faults = framework_faults(of_framework(R"(name="nvflare")", "3GB", "jetson-tx2"));
  EXPECT_NE(faults.find("the server of nvflare 2.7.1 holds 5 models of"), std::string::npos) << faults;
  EXPECT_EQ(framework_faults(of_framework(R"(name="nvflare" server-models="0")", "2GB", "jetson-tx2")), "");
}

// sends="state" requires state besides parameters. Every model then carries it, among peers too.
TEST(FrameworkCheck, SendsWhatThereIsOfAState) {
  EXPECT_NE(framework_faults(of_framework(R"(sends="state")", "10MB", "xeon-8380"))
                .find("<framework sends=\"state\"> has no effect: a payload sets the bytes"),
            std::string::npos);
  const auto timed_as = [](const std::string& framework, const std::string& workload, const std::string& run) {
    std::string text = of_framework(framework, "10MB", "xeon-8380");
    const std::size_t begin = text.find("<timing-only");
    text.replace(begin, text.rfind("</scenario>") - begin,
                 "<timing-only/><timed-as workload=\"" + workload + "\" batch=\"4\"/>" + run);
    return text;
  };
  const std::string fedavg = R"(<run algorithm="fedavg" rounds="2" local-steps="1"/>)";
  EXPECT_NE(framework_faults(timed_as(R"(sends="state")", "vit-b-16", fedavg)).find("the network has no tied layers"),
            std::string::npos);
  EXPECT_EQ(framework_faults(timed_as(R"(name="flower")", "vit-b-16", fedavg)), "") << "the framework's own";
  for (const std::string& run :
       {fedavg, std::string(R"(<run algorithm="ad-psgd" graph="complete" updates="4"/>)"),
        std::string(R"(<run algorithm="diloco" period="2" rounds="2"/>)"),
        std::string(R"(<run algorithm="streaming-diloco" period="4" fragments="2" rounds="2"/>)"),
        std::string(R"(<run algorithm="async-sgd" updates="4"/>)")}) {
    const auto bytes_of = [&](const std::string& framework) {
      return run_experiment(scenario::ScenarioSource("scenario.xml", timed_as(framework, "resnet-50", run))
                                .load({}, make_catalog()),
                            false)
          .runs.front()
          .total_bytes;
    };
    EXPECT_GT(bytes_of(R"(sends="state")"), 1.0005 * bytes_of("")) << run;
  }
}

TEST(FrameworkCheck, EachCostIsInTheRound) {
  const double none = seconds_with("");
  // The slowest client receives 10 MB at 200 Mbit/s and sends at 50 Mbit/s.
  EXPECT_NEAR(none, 0.4 + 1.6 + 0.01, 0.01);
  EXPECT_NEAR(seconds_with(R"(round="3s")"), none + 3, 1e-6);
  EXPECT_NEAR(seconds_with(R"(per-client="500ms")"), none + 1.5, 1e-6) << "the slowest client is the third";
  EXPECT_NEAR(seconds_with(R"(evaluate="true")"), none + 0.4 + 0.01, 0.01) << "it goes down once more";
  EXPECT_NEAR(seconds_with(R"(serialise="10MBps")"), none + 1, 1e-6);
  EXPECT_NEAR(seconds_with(R"(deserialise="10MBps")"), none + 1, 1e-6);
  EXPECT_NEAR(seconds_with(R"(server-serialise="10MBps")"), none + 3, 1e-6) << "three share a core";
  EXPECT_NEAR(seconds_with(R"(server-serialise="10MBps" server-cores="3")"), none + 1, 1e-6);
  // The two fast clients arrive after 0.2 + 0.8 s. From then on, the server sums the models of three clients, one
  // second each.
  EXPECT_NEAR(seconds_with(R"(aggregate="10MBps")"), 0.2 + 0.8 + 3, 0.01);
}

TEST(FrameworkCheck, EveryEventDrivenRunTakesTheTimeOfItsPayload) {
  for (const auto& method : protocols::protocol_registry().all()) {
    if (method.decides_by != nullptr) continue;  // refused, because nothing is learned
    const bool adam = method.optimizer == methods::Needs::adam;
    const std::string optimizer = adam ? R"(<adam learning-rate="0.1"/>)" : R"(<sgd learning-rate="0.1"/>)";
    const std::string text = R"(<scenario name="Four clients" seed="1"><platform><federation>
<sites name="a" count="3" up="100Mbps" down="400Mbps" latency="1ms"/><sites name="b" up="50Mbps" down="90Mbps" latency="5ms"/>
</federation></platform><workers><worker hosts="a-[1-3] b" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
<timing-only payload="1MB" step-time="50s"/><training>)" +
                             optimizer + R"(</training><run algorithm=")" + method.name + R"("/></scenario>)";
    const report::Result result =
        run_experiment(scenario::ScenarioSource("scenario.xml", text).load({}, make_catalog()), false);
    EXPECT_GE(result.runs.front().event_driven->log.nodes.at(3).busy, 50) << method.name;
  }
}

TEST(FrameworkCheck, StreamsAreOfLinesAsTheyWereMeasured) {
  const test::TemporaryFolder folder;
  const auto faults = [&](const std::string& property) {
    folder.write("platform.xml", R"(<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="50ms"><prop id="transport" value="tcp"/>)" +
                                     property + R"(</link>
<route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>)");
    const std::string text = R"(<scenario name="Two" seed="1"><platform file="platform.xml"/><network streams="4"/>
<workers><worker hosts="a" device="rtx-3090"/><worker hosts="b" device="rtx-3090"/></workers><timing-only/>
<timed-as workload="resnet-50" batch="8"/><run algorithm="gradient-sharing" exchange="peer"/></scenario>)";
    std::string found;
    try {
      scenario::ScenarioSource(folder.path("scenario.xml"), text).load({}, make_catalog());
    } catch (const InputError& error) {
      for (const Diagnostic& one : error.diagnostics()) found += one.what + "\n";
    }
    return found;
  };
  EXPECT_NE(faults("").find("streams=\"4\" of <network> needs a line"), std::string::npos) << faults("");
  EXPECT_EQ(faults(R"(<prop id="measured" value="goodput"/>)"), "");
}

}  // namespace
}  // namespace dadsim::study
