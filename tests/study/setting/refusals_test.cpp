// Expects that attributes without effect are refused, with their line and a remedy. Times every method with every kind
// of layer that it accepts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "protocols/registry.hpp"
#include "scenario/document/load.hpp"
#include "scenario/language/rule.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

std::string scenario_with(const std::string& runs, const std::string& network = "") {
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

/// Returns each refusal as "LINE: what; remedy"; empty if the text is accepted. `times_alone`: as with --timing-only.
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

TEST(Refusals, AGraphThatNeverHangsTogether) {
  const std::string run = "  <run algorithm=\"d-psgd\" graph=\"erdos-renyi\" probability=\"{}\"/>\n";
  const std::string none = refused(scenario_with(fmt::format(fmt::runtime(run), 0)));
  EXPECT_NE(none.find("7: a random graph of 2 sites with probability 0 was not connected"), std::string::npos) << none;
  EXPECT_EQ(refused(scenario_with(fmt::format(fmt::runtime(run), 0.5))), "");
}

TEST(Refusals, RowsOfTablesAreOfNetworksThatHaveTables) {
  for (const char* algorithm : {"dad", "rank-dad"}) {
    const auto run = [&](const char* tables) {
      return scenario_with(fmt::format("  <run algorithm=\"{}\" tables=\"{}\"/>\n", algorithm, tables));
    };
    EXPECT_NE(refused(run("rows")).find("tables=\"rows\" needs a network with embeddings"), std::string::npos)
        << refused(run("rows"));
    EXPECT_EQ(refused(run("sum")), "");
  }
}

TEST(Refusals, HowACollectiveIsCarriedOutMeansNothingThroughAnAggregator) {
  for (const auto& [algorithm, attribute] :
       {std::pair("gradient-sharing", "all-reduce"), std::pair("dad", "all-gather")}) {
    const auto run = [&](const char* exchange) {
      return scenario_with(
          fmt::format("  <run algorithm=\"{}\" exchange=\"{}\" {}=\"ring\"/>\n", algorithm, exchange, attribute));
    };
    EXPECT_NE(refused(run("aggregator")).find("7: " + std::string(attribute) + "=\"ring\" of <run> has no effect with"),
              std::string::npos)
        << refused(run("aggregator"));
    EXPECT_EQ(refused(run("peer")), "");
  }
}

TEST(Refusals, HowStepsAreSimulatedMeansNothingWithoutSteps) {
  const std::string events = "  <run algorithm=\"fedavg\"/>\n  <run algorithm=\"pooled\"/>\n";
  for (const char* attribute : {"fidelity=\"flow\"", "message-budget=\"100\"", "timed-steps=\"9\""}) {
    const std::string network = fmt::format("  <network {}/>\n", attribute);
    EXPECT_NE(refused(scenario_with(events, network)).find(std::string("3: ") + attribute), std::string::npos)
        << refused(scenario_with(events, network));
    EXPECT_EQ(refused(scenario_with(events + "  <run algorithm=\"dad\"/>\n", network)), "");
  }
  EXPECT_EQ(refused(scenario_with(events, "  <network rendezvous=\"true\"/>\n")), "");
}

TEST(Refusals, NumbersOfAStalenessThatHasNoUseForThem) {
  const auto run = [](const char* more) {
    return scenario_with(fmt::format("  <run algorithm=\"fedasync\" {}/>\n", more));
  };
  EXPECT_NE(refused(run("b=\"2\"")).find("b = 2 needs staleness"), std::string::npos);
  EXPECT_NE(refused(run("staleness=\"constant\" a=\"2\"")).find("a = 2 has no effect"), std::string::npos);
  EXPECT_EQ(refused(run("staleness=\"hinge\" a=\"2\" b=\"2\"")), "");
  EXPECT_EQ(refused(run("staleness=\"polynomial\" a=\"2\"")), "");
}

TEST(Refusals, AProbabilityOfEdgesThatAreNotDrawn) {
  const auto run = [](const char* more) {
    return scenario_with(fmt::format("  <run algorithm=\"d-psgd\" probability=\"0.9\" {}/>\n", more));
  };
  EXPECT_NE(refused(run("graph=\"ring\"")).find("probability = 0.9 needs graph"), std::string::npos);
  EXPECT_EQ(refused(run("graph=\"erdos-renyi\"")), "");
}

TEST(Refusals, WhatGoesByNumbersNeedsSomethingThatIsLearned) {
  for (const char* method : {"partial-rank-dad", "flare"}) {
    const std::string text = scenario_with(fmt::format("  <run algorithm=\"{}\"/>\n", method));
    EXPECT_EQ(refused(text), "") << method;
    EXPECT_NE(refused(text, true).find("which a dry run does not have"), std::string::npos)
        << method << refused(text, true);
  }
  EXPECT_EQ(refused(scenario_with("  <run algorithm=\"partial-dad\"/>\n"), true), "");
}

/// Returns refusals with --timing-only on two nodes of four GPUs, of which five GPUs are workers.
std::string refused_times(const std::string& timed_as, const std::string& run = "", const std::string& file = "") {
  const test::TemporaryFolder folder;
  if (!file.empty()) folder.write("own.xml", file);
  const std::string text = R"(<scenario name="refused" seed="1">
  <platform><gpu-cluster nodes="2" gpus="4" inside="nvlink-3" nic="ib-hdr"><one-switch sharp="true"/></gpu-cluster></platform>
  <workers><worker hosts="gpu-[0-4]" device="h100-sxm5"/></workers>
  <timing-only/>
  <timed-as batch="4" )" + timed_as +
                           "/>\n  <run algorithm=\"gradient-sharing\" exchange=\"peer\" " + run + "/>\n</scenario>";
  try {
    static_cast<void>(load_scenario(folder.write("refused.xml", text), {}, make_catalog()));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(Refusals, WhatNoLayerOfWhatIsTimedHeeds) {
  const std::string decoder =
      R"(workload="decoder" layers="2" hidden="64" heads="4" kv-heads="2" vocabulary="99" sequence="16" )";
  const std::string layers = R"(<workload name="own"><layer name="a" kind="dense" in="8" out="32"/></workload>)";
  const std::string blocks = R"(<workload name="own"><layer name="block1.a" kind="dense" in="8" out="32"/>
<layer name="block1.b" kind="dense" in="32" out="8"/></workload>)";
  const std::string again = R"(file="own.xml" recompute="full")";
  const auto expect = [](const std::string& told, const std::string& words) {
    EXPECT_NE(told.find(words), std::string::npos) << told << "\nexpected: " << words;
  };
  expect(refused_times(R"(file="own.xml" expert-parallel="2")", "", layers), "needs layers with experts");
  expect(refused_times(again, "", layers), "recompute=\"full\" of <timed-as> needs blocks");
  EXPECT_EQ(refused_times(again, "", blocks), "");
  expect(refused_times(R"(workload="resnet-18" recompute="selective")"),
         "no blocks to recompute for recompute=\"selective\"");
  EXPECT_EQ(refused_times(R"(workload="resnet-18" recompute="full")"), "");
  expect(refused_times(decoder + R"(dense-layers="1")"), "dense-layers=\"1\" needs experts above 0");
  expect(refused_times(decoder + R"(full-every="2")"), "full-every=\"2\" needs window above 0");
  EXPECT_EQ(refused_times(decoder + R"(dense-layers="1" experts="2" expert-feed-forward="32")"), "");
  EXPECT_EQ(refused_times(decoder + R"(full-every="2" window="8")"), "");
}

TEST(Refusals, NamesOfParametersThatElementsHaveTooCanBeSet) {
  const scenario::ElementRule& run = *scenario::find_rule("run");
  std::set<std::string> shared;
  for (const scenario::Catalog::Algorithm& algorithm : make_catalog().algorithms) {
    for (const spec::ParameterSpec& parameter : algorithm.parameters) {
      if (std::ranges::find(run.children, parameter.name) != run.children.end()) shared.insert(parameter.name);
    }
  }
  EXPECT_EQ(shared, std::set<std::string>(run.shared_names.begin(), run.shared_names.end()));
  const test::TemporaryFolder folder;
  const std::string file = folder.write("set.xml", scenario_with("  <run algorithm=\"sparseloco\"/>\n"));
  EXPECT_EQ(load_scenario(file, {"run.share=0.25"}, make_catalog()).runs.front().parameters.at("share"), "0.25");
}

TEST(Refusals, AMisspeltReceiverIsOneError) {
  const std::string text = scenario_with("  <run algorithm=\"local-sgd\" to=\"peeers\"/>\n");
  const std::size_t aggregator = text.find("<aggregator");
  std::string without = text;
  without.erase(aggregator, text.find("/>", aggregator) + 2 - aggregator);
  const std::string told = refused(without);
  EXPECT_EQ(std::ranges::count(told, '\n'), 1) << told;
  EXPECT_NE(told.find("did you mean 'peers'"), std::string::npos) << told;
  without.replace(without.find("peeers"), 6, "aggregator");
  EXPECT_NE(refused(without).find("needs an aggregator"), std::string::npos);
}

TEST(Refusals, OffloadsThatFreeNothing) {
  const auto told = [](const char* layers, const std::string& share) {
    return refused_times(
        fmt::format(R"(workload="decoder" layers="{}" hidden="64" heads="4" kv-heads="2" vocabulary="99" )"
                    R"(sequence="16" offload="activations" offload-rate="25GBps" {})",
                    layers, share));
  };
  const std::string two = told("8", R"(offload-share="0.2")");
  EXPECT_NE(two.find("offload-share=\"0.2\" needs activations of more than the 2 blocks"), std::string::npos) << two;
  EXPECT_NE(two.find("offload-share=\"0.429\" or more"), std::string::npos) << two;
  EXPECT_EQ(told("8", R"(offload-share="0.429")"), "");
  EXPECT_EQ(told("8", ""), "");
  EXPECT_NE(told("3", R"(offload-share="0.5")").find("remove offload-share"), std::string::npos);
}

TEST(Refusals, AlgorithmsThatNeedNodesOfOneSize) {
  const std::string timed = R"(workload="resnet-18")";
  for (const char* algorithm : {"sharp", "nvls-tree", "hierarchical", "torus"}) {
    const std::string told = refused_times(timed, "all-reduce=\"" + std::string(algorithm) + "\"");
    EXPECT_NE(told.find("' needs "), std::string::npos) << algorithm << told;
  }
  EXPECT_EQ(refused_times(timed, "all-reduce=\"tree\""), "");
}

TEST(Refusals, TrafficOfHostsThatAPlatformFileDoesNotHave) {
  const test::TemporaryFolder folder;
  folder.write("star.xml", R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="all" routing="Full">
<host id="h-1" speed="1Gf"/><host id="h-2" speed="1Gf"/><host id="h-3" speed="1Gf"/>
<link id="line" bandwidth="1Gbps" latency="1ms"/>
<route src="h-1" dst="h-2"><link_ctn id="line"/></route>
</zone></platform>)");
  const auto told = [&](const std::string& from, const std::string& to) -> std::string {
    const std::string path = folder.write("refused.xml", R"(<scenario name="refused" seed="1">
  <platform file="star.xml"><background from=")" + from + R"(" to=")" +
                                                             to + R"(" bytes="1kB" every="1s"/></platform>
  <workers><worker hosts="h-[1-2]" device="rtx-3090"/></workers>
  <timing-only/><timed-as workload="resnet-18" batch="4"/>
  <run algorithm="gradient-sharing" exchange="peer"/>
</scenario>)");
    try {
      static_cast<void>(load_scenario(path, {}, make_catalog()));
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(told("h-1", "h-2"), "");
  EXPECT_NE(told("h-1", "h-9").find("to=\"h-9\" of <background> is no host of the platform"), std::string::npos);
  EXPECT_NE(told("h-1", "h-3").find("there is no route from 'h-1' to 'h-3'"), std::string::npos) << told("h-1", "h-3");
}

// Embeddings have no outer product and no forward product, and recurrences launch kernels for each position.
TEST(Timed, EveryMethodIsTimedOnEveryKindOfLayer) {
  const test::TemporaryFolder folder;
  folder.write("own.xml", R"(<workload name="own">
  <layer name="table" kind="embedding" in="8" out="50"/>
  <layer name="a" kind="dense" in="8" out="32" rows-per-sample="4"/>
  <layer name="r" kind="recurrence" forward-macs-per-sample="100" outputs-per-sample="20" sequential="3"/>
  <layer name="b" kind="dense" in="32" out="6" parameters="198"/>
</workload>
)");
  using methods::Needs;
  for (const auto& [needs, optimizer] :
       {std::pair{Needs::plain_sgd, "<sgd/>"}, {Needs::adam, "<adam/>"}, {Needs::muon, "<muon/>"}}) {
    std::string runs = "  <run algorithm=\"forward-gradient\" label=\"local\" loss=\"local\"/>\n";
    for (const methods::MethodInfo* info : protocols::all_methods()) {
      const Needs own = info->optimizer == Needs::any_optimizer ? Needs::plain_sgd : info->optimizer;
      if (info->event_driven() || own != needs) continue;
      runs += fmt::format("  <run algorithm=\"{}\"/>\n", info->name);
    }
    const std::string text = R"(<scenario name="timed" seed="1">
  <platform><federation><sites name="s" count="3" up="10Mbps" down="20Mbps" latency="5ms"/></federation></platform>
  <workers><worker hosts="s-[1-3]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <timing-only/>
  <training>)" + std::string(optimizer) +
                             "</training>\n  <timed-as file=\"own.xml\" batch=\"4\"/>\n" + runs + "</scenario>\n";
    const report::Result result =
        run_experiment(load_scenario(folder.write("timed.xml", text), {}, make_catalog()), false);
    for (const report::RunResult& run : result.runs) EXPECT_GT(run.step_seconds, 0) << run.spec.label;
  }
}

}  // namespace
}  // namespace dadsim::study
