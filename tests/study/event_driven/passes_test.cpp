// Tests that participants process a batch in micro-batches and recompute activations that they do not keep. Methods
// whose participants take no whole steps refuse to divide the network among devices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

std::string scenario_of(const std::string& passes, const std::string& run) {
  return fmt::format(
      R"(<scenario name="passes" seed="1">
  <platform><federation><sites name="s" count="2" up="1Gbps" down="1Gbps" latency="1ms"/></federation></platform>
  <workers><worker hosts="s-[1-2]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="32" test="10"/></data>
  <model><dense units="10"/></model>
  <training batch="4" epochs="1"><sgd learning-rate="0.1"/></training>
  <timed-as workload="decoder" layers="2" hidden="64" heads="4" kv-heads="4" feed-forward="128" vocabulary="100" sequence="64" batch="4" {}/>
  <run algorithm="{}"/>
</scenario>
)",
      passes, run);
}

scenario::Scenario loaded(const std::string& text) {
  const test::TemporaryFolder folder;
  return scenario::load_scenario(folder.write("passes.xml", text), {}, make_catalog());
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(loaded(text));
    return {};
  } catch (const InputError& error) {
    return error.diagnostics().front().what;
  }
}

TEST(Passes, OfParticipantsTakeTheirTime) {
  for (const std::string run : {"fedavg", "local-sgd", "async-sgd"}) {
    const auto seconds = [&](const std::string& passes) {
      const report::Result result = run_experiment(loaded(scenario_of(passes, run)), false);
      return result.runs.at(0).total_seconds;
    };
    const double whole = seconds("");
    EXPECT_GT(seconds(R"(recompute="full")"), whole) << run;
    EXPECT_GT(seconds(R"(micro-batch="1")"), whole) << run;
    EXPECT_EQ(seconds(R"(micro-batch="4")"), whole) << run;
  }
}

TEST(Passes, ShardingNeedsParticipantsOfSeveralReplicas) {
  for (const char* passes : {R"(tensor="2")", R"(pipeline="2" micro-batch="1")"})
    EXPECT_EQ(refusal(scenario_of(passes, "async-sgd")), "") << passes;
  for (const char* run : {"async-sgd", "fedavg"}) {
    EXPECT_NE(refusal(scenario_of(R"(sharding="optimizer")", run)).find("participants of one replica"),
              std::string::npos);
  }
  EXPECT_EQ(refusal(scenario_of(R"(micro-batch="2" recompute="full")", "fedavg")), "");
  EXPECT_NE(refusal(scenario_of(R"(micro-batch="2")", "partial-dad")).find("micro-batches"), std::string::npos);
  EXPECT_EQ(refusal(scenario_of(R"(micro-batch="2")", "d-psgd")), "");
}

}  // namespace
}  // namespace dadsim::study
