// Tests <framework>, and a payload in place of a network.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenario/document/load.hpp"
#include "scenario/document/print.hpp"
#include "scenario/fake_catalog.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

const std::string kFedAvg = R"(<run algorithm="fedavg"/>)";
const std::string kPayload = R"(<timing-only payload="1300MB" step-time="90s"/>)";

scenario::Scenario load_framework(const std::string& body) {
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform());
  const std::string path =
      folder.write("scenario.xml",
                   "<scenario name=\"Test\"><platform file=\"platform.xml\"/><workers><worker hosts=\"site-[1-2]\" "
                   "device=\"rtx-4090\"/><aggregator host=\"hub\" device=\"xeon-8380\"/></workers>" +
                       body + "</scenario>");
  return load_scenario(path, {}, fake_catalog());
}

std::string framework_errors(const std::string& body) {
  std::string text;
  try {
    load_framework(body);
  } catch (const InputError& error) {
    for (const Diagnostic& one : error.diagnostics()) text += one.what + "; " + one.remedy + "\n";
  }
  return text;
}

TEST(FrameworkElement, IsARowOfTheTableWithNumbersOfOnesOwn) {
  EXPECT_TRUE(load_framework(kPayload + kFedAvg).framework.none());
  const spec::FrameworkSpec named = load_framework(R"(<framework name="flower"/>)" + kPayload + kFedAvg).framework;
  EXPECT_EQ(named, spec::find_framework("flower", "1.20")->spec);
  const scenario::Scenario own = load_framework(
      R"(<framework name="flower" version="1.19" aggregate="80MBps" streams="true"/>)" + kPayload + kFedAvg);
  EXPECT_EQ(own.framework.aggregate, 80e6);
  EXPECT_TRUE(own.framework.streams);
  EXPECT_EQ(own.framework.longest_message, 2147483647);
  EXPECT_EQ(own.framework.in_words(), "flower 1.19 with overheads set in the scenario");
  const std::string printed = print_scenario(own);
  EXPECT_NE(printed.find(R"(<framework name="flower" version="1.19" aggregate="80000000Bps" streams="true"/>)"),
            std::string::npos)
      << printed;
  EXPECT_NE(own.hash, load_framework(kPayload + kFedAvg).hash);
  EXPECT_EQ(load_framework(R"(<framework/>)" + kPayload + kFedAvg).hash, load_framework(kPayload + kFedAvg).hash);
}

TEST(FrameworkElement, RefusesWhatMeansNothing) {
  const auto refused = [](const std::string& framework, const std::string& runs, const std::string& words) {
    const std::string errors = framework_errors(framework + kPayload + runs);
    EXPECT_NE(errors.find(words), std::string::npos) << framework << "\n" << errors;
  };
  refused(R"(<framework name="flowers"/>)", kFedAvg, "flower");
  refused(R"(<framework name="flower" version="0.1"/>)", kFedAvg, "is no version of 'flower'");
  refused(R"(<framework version="1.20"/>)", kFedAvg, "needs a framework");
  refused(R"(<framework server-cores="4"/>)", kFedAvg, "needs server-serialise or server-deserialise");
  refused(R"(<framework streams="true"/>)", kFedAvg, "needs a rate of packing or unpacking");
  const std::string timed = R"(<timing-only/><timed-as workload="resnet-50" batch="4"/>)";
  const std::string sums = R"(<run algorithm="gradient-sharing" exchange="peer"/>)";
  EXPECT_NE(framework_errors(R"(<framework polling="5s"/>)" + timed + sums).find("no run is event-driven"),
            std::string::npos);
  EXPECT_NE(framework_errors(R"(<framework aggregate="5MBps"/>)" + timed + sums).find("no run has a server"),
            std::string::npos);
  EXPECT_NE(framework_errors(R"(<framework evaluate="true"/>)" + kPayload + R"(<run algorithm="fedbuff"/>)")
                .find("no run works in rounds of selected clients"),
            std::string::npos);
  EXPECT_NE(
      framework_errors(R"(<framework computing="1.2" sends="state"/>)" + timed + sums).find("no run is event-driven"),
      std::string::npos);
  EXPECT_EQ(framework_errors(R"(<framework name="hivemind"/>)" + timed + sums), "");
}

TEST(PayloadElement, StandsForANetworkAndData) {
  const scenario::Scenario read = load_framework(kPayload + kFedAvg);
  EXPECT_EQ(read.payload, (spec::PayloadSpec{1.3e9, 90, 0}));
  EXPECT_FALSE(read.timed_as);
  EXPECT_EQ(spec::payload_shape(read.payload.bytes).parameters(), 325'000'000);
  EXPECT_NE(print_scenario(read).find(R"(<timing-only payload="1300000000B" step-time="90s"/>)"), std::string::npos)
      << print_scenario(read);
  const scenario::Scenario passes =
      load_framework(R"(<timing-only samples="600"/><timed-as workload="resnet-50" batch="32"/>)" + kFedAvg);
  EXPECT_EQ(std::get<spec::DigitsSource>(passes.data.source).train, 2 * 19) << "19 batches of each client";
}

TEST(PayloadElement, RefusesWhatMeansNothingBesideIt) {
  const std::string steps = R"(<run algorithm="gradient-sharing" exchange="peer"/>)";
  EXPECT_NE(framework_errors(kPayload + steps).find("needs steps of a network, but a payload has none"),
            std::string::npos);
  EXPECT_NE(framework_errors(kPayload + R"(<timed-as workload="resnet-50" batch="4"/>)" + kFedAvg)
                .find("cannot be combined with a payload"),
            std::string::npos);
  EXPECT_NE(framework_errors(R"(<timing-only step-time="9s"/><timed-as workload="resnet-50" batch="4"/>)" + kFedAvg)
                .find("needs a payload"),
            std::string::npos);
  EXPECT_NE(framework_errors(R"(<timing-only samples="9"/><timed-as workload="resnet-50" batch="4"/>)" + steps)
                .find("no run is event-driven"),
            std::string::npos);
}

TEST(SavedState, HoldsTiedLayersTwiceAndRunningStatistics) {
  EXPECT_EQ(spec::saved_beside_parameters(spec::payload_shape(1e6)), 0);
  spec::ModelShape tied{.name = "tied", .layers = {}};
  tied.layers.push_back({.name = "words", .kind = spec::LayerKind::embedding, .in = 8, .out = 100, .parameters = 800});
  tied.layers.push_back({.name = "decoder", .rows_per_sample = 5, .forward_macs_per_sample = 5 * 8 * 100});
  EXPECT_EQ(spec::saved_beside_parameters(tied), 800);
  spec::ModelShape pictures{.name = "pictures", .layers = {}};
  pictures.layers.push_back({.name = "windows", .kind = spec::LayerKind::convolution, .in = 9, .out = 4});
  pictures.layers.push_back({.name = "norm", .kind = spec::LayerKind::normalisation, .parameters = 8});
  EXPECT_EQ(spec::saved_beside_parameters(pictures), 8) << "a mean and a variance of each of four channels";
  pictures.layers.push_back({.name = "attention", .kind = spec::LayerKind::attention});
  EXPECT_EQ(spec::saved_beside_parameters(pictures), 0) << "layer norms";
  spec::ModelShape learns{.name = "a network that learns", .layers = {}};
  learns.layers.push_back({.name = "layer1.batch-norm", .kind = spec::LayerKind::normalisation, .parameters = 8});
  EXPECT_EQ(spec::saved_beside_parameters(learns), 8) << "between dense layers";
  learns.layers.front().name = "layer1.layer-norm";
  learns.layers.push_back({.name = "windows", .kind = spec::LayerKind::convolution, .in = 9, .out = 4});
  EXPECT_EQ(spec::saved_beside_parameters(learns), 0);
}

}  // namespace
}  // namespace dadsim::test
