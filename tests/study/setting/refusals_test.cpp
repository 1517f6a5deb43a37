// What a scenario says and nothing would heed is refused, with its line and with what would do; and what is accepted of
// every kind of layer is timed with every method.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "protocols/registry.hpp"
#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

std::string scenario_of(const std::string& runs, const std::string& network = "") {
  return R"(<scenario name="refused" seed="1">
  <platform><federation><sites name="s" count="2" up="10Mbps" down="20Mbps" latency="5ms"/></federation></platform>
)" + network +
         R"(  <workers><worker hosts="s-[1-2]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="40" test="10"/></data>
  <model><dense units="6"/><dense units="10"/></model>
  <training batch="4" epochs="1"><sgd learning-rate="0.1"/></training>
)" + runs +
         "</scenario>\n";
}

/// "LINE: what; remedy" of each; empty: accepted. `times_alone`: as with --timing-only.
std::string refused(const std::string& text, bool times_alone = false) {
  const test::TemporaryFolder folder;
  try {
    static_cast<void>(load_scenario(folder.write("refused.xml", text), {},
                                    times_alone ? make_catalog_without_learning() : make_catalog()));
    return {};
  } catch (const InputError& error) {
    std::string all;
    for (const Diagnostic& one : error.diagnostics())
      all += fmt::format("{}: {}; {}\n", one.line, one.what, one.remedy);
    return all;
  }
}

TEST(Refusals, HowACollectiveIsCarriedOutMeansNothingThroughAnAggregator) {
  for (const auto& [algorithm, attribute] :
       {std::pair("gradient-sharing", "all-reduce"), std::pair("dad", "all-gather")}) {
    const auto run = [&](const char* exchange) {
      return scenario_of(
          fmt::format("  <run algorithm=\"{}\" exchange=\"{}\" {}=\"ring\"/>\n", algorithm, exchange, attribute));
    };
    EXPECT_NE(
        refused(run("aggregator")).find("7: " + std::string(attribute) + "=\"ring\" of <run> means nothing where"),
        std::string::npos)
        << refused(run("aggregator"));
    EXPECT_EQ(refused(run("peer")), "");
  }
}

TEST(Refusals, HowStepsAreSimulatedMeansNothingWithoutSteps) {
  const std::string events = "  <run algorithm=\"fedavg\"/>\n  <run algorithm=\"pooled\"/>\n";
  for (const char* attribute : {"fidelity=\"flow\"", "message-budget=\"100\"", "timed-steps=\"9\""}) {
    const std::string network = fmt::format("  <network {}/>\n", attribute);
    EXPECT_NE(refused(scenario_of(events, network)).find(std::string("3: ") + attribute), std::string::npos)
        << refused(scenario_of(events, network));
    EXPECT_EQ(refused(scenario_of(events + "  <run algorithm=\"dad\"/>\n", network)), "");
  }
  EXPECT_EQ(refused(scenario_of(events, "  <network rendezvous=\"true\"/>\n")), "");
}

TEST(Refusals, NumbersOfAStalenessThatHasNoUseForThem) {
  const auto run = [](const char* more) {
    return scenario_of(fmt::format("  <run algorithm=\"fedasync\" {}/>\n", more));
  };
  EXPECT_NE(refused(run("b=\"2\"")).find("b = 2 means nothing"), std::string::npos);
  EXPECT_NE(refused(run("staleness=\"constant\" a=\"2\"")).find("a = 2 means nothing"), std::string::npos);
  EXPECT_EQ(refused(run("staleness=\"hinge\" a=\"2\" b=\"2\"")), "");
  EXPECT_EQ(refused(run("staleness=\"polynomial\" a=\"2\"")), "");
}

TEST(Refusals, AProbabilityOfEdgesThatAreNotDrawn) {
  const auto run = [](const char* more) {
    return scenario_of(fmt::format("  <run algorithm=\"d-psgd\" probability=\"0.9\" {}/>\n", more));
  };
  EXPECT_NE(refused(run("graph=\"ring\"")).find("probability = 0.9 means nothing"), std::string::npos);
  EXPECT_EQ(refused(run("graph=\"erdos-renyi\"")), "");
}

TEST(Refusals, WhatGoesByNumbersNeedsSomethingThatIsLearned) {
  for (const char* method : {"partial-rank-dad", "flare"}) {
    const std::string text = scenario_of(fmt::format("  <run algorithm=\"{}\"/>\n", method));
    EXPECT_EQ(refused(text), "") << method;
    EXPECT_NE(refused(text, true).find("nothing is learned"), std::string::npos) << method << refused(text, true);
  }
  EXPECT_EQ(refused(scenario_of("  <run algorithm=\"partial-dad\"/>\n"), true), "");
}

// Embeddings have no outer product and no product forwards, recurrences launch position by position.
TEST(Timed, EveryMethodIsTimedOnEveryKindOfLayer) {
  const test::TemporaryFolder folder;
  folder.write("own.xml", R"(<workload name="own">
  <layer name="table" kind="embedding" in="8" out="50"/>
  <layer name="a" kind="dense" in="8" out="32" rows-per-sample="4"/>
  <layer name="r" kind="recurrence" forward-macs-per-sample="100" outputs-per-sample="20" sequential="3"/>
  <layer name="b" kind="dense" in="32" out="6" parameters="198"/>
</workload>
)");
  for (const bool adam : {false, true}) {
    std::string runs = "  <run algorithm=\"forward-gradient\" label=\"local\" loss=\"local\"/>\n";
    for (const methods::MethodInfo* info : protocols::all_methods()) {
      if (info->event_driven() || (info->optimizer == methods::Needs::adam) != adam) continue;
      runs += fmt::format("  <run algorithm=\"{}\"/>\n", info->name);
    }
    const std::string text = R"(<scenario name="timed" seed="1">
  <platform><federation><sites name="s" count="3" up="10Mbps" down="20Mbps" latency="5ms"/></federation></platform>
  <workers><worker hosts="s-[1-3]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <timing-only/>
  <training>)" + std::string(adam ? "<adam/>" : "<sgd/>") +
                             "</training>\n  <timed-as file=\"own.xml\" batch=\"4\"/>\n" + runs + "</scenario>\n";
    const report::Result result =
        run_experiment(load_scenario(folder.write("timed.xml", text), {}, make_catalog()), false);
    for (const report::RunResult& run : result.runs) EXPECT_GT(run.step_seconds, 0) << run.spec.label;
  }
}

}  // namespace
}  // namespace dadsim::study
