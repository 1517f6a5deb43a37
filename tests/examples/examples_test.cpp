// Tests that a plug-in of each kind, added by one line (in main, below), is in listings, scenarios and results. This
// program also contains the tests of laws of algorithms and compressors.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "algorithms/registry.hpp"
#include "cli/command_line.hpp"
#include "compress/registry.hpp"
#include "examples/algorithm/halves.hpp"
#include "examples/compressor/centred.hpp"
#include "examples/gossip/twice.hpp"
#include "sim/device.hpp"
#include "spec/preset.hpp"
#include "spec/workload.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

spec::DeviceSpec example_device() {
  spec::DeviceSpec device = sim::device_catalog().at("rtx-3090");
  device.name = "example-device";
  device.source = "an example";
  return device;
}

spec::Workload example_workload() {
  spec::Workload workload = *spec::workload_registry().find("resnet-18-cifar10");
  workload.name = "example-workload";
  return workload;
}

spec::Preset example_preset() {
  spec::Preset preset = *spec::preset_registry().find("lenet");
  preset.name = "example-preset";
  return preset;
}

std::string output_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"dadsim"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_command_line(static_cast<int>(pointers.size()), pointers.data()), 0);
  return testing::internal::GetCapturedStdout();
}

TEST(Examples, AreListed) {
  for (const auto& [command, name] : {std::pair{"algorithms", "example-halves"},
                                      {"algorithms", "example-twice"},
                                      {"compressors", "example-centred"},
                                      {"devices", "example-device"},
                                      {"workloads", "example-workload"},
                                      {"models", "example-preset"}}) {
    EXPECT_NE(output_of({command}).find(name), std::string::npos) << command << ": " << name;
  }
}

TEST(Examples, TakePartInAScenarioAndItsResults) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("example.xml");
  std::ofstream(path) << R"(<scenario name="examples" seed="1">
  <platform file=")" DADSIM_SOURCE_DIR R"(/platforms/hospitals.xml"/>
  <workers><worker hosts="hospital-[1-4]" device="example-device"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="400" test="100"/></data>
  <model preset="example-preset"/>
  <training batch="8" epochs="1" target-accuracy="0.5"><adam learning-rate="1e-3"/></training>
  <timed-as workload="example-workload" batch="8"/>
  <run algorithm="example-halves" label="halves"><compress method="example-centred"/></run>
  <run algorithm="example-twice" label="twice" graph="ring"/>
</scenario>)";
  const std::string json = folder.path("result.json");
  const std::string page = folder.path("page.html");
  const std::string table = output_of({path, "--verbose", "--json", json, "--report", page});
  EXPECT_NE(table.find("halves"), std::string::npos);
  EXPECT_NE(table.find("spectral gap"), std::string::npos);
  std::ifstream file(json);
  const nlohmann::json result = nlohmann::json::parse(file);
  EXPECT_EQ(result["runs"][0]["compress"]["method"], "example-centred");
  for (const auto& run : result["runs"]) {
    EXPECT_GT(run["step_seconds"].get<double>(), 0);
    EXPECT_GT(run["bytes_up_per_worker"].get<double>(), 0);
  }
  EXPECT_FALSE(result["runs"][1]["first_steps_end_seconds"].empty());
  EXPECT_TRUE(std::ifstream(page).good());
}

}  // namespace

void add_examples() {
  algorithms::algorithm_registry().add(algorithms::halves_method());
  algorithms::algorithm_registry().add(algorithms::twice_method());
  compress::compressors().add(compress::centred_info());
  sim::device_catalog().add(example_device());
  spec::workload_registry().add(example_workload());
  spec::preset_registry().add(example_preset());
}

}  // namespace dadsim::cli

int main(int argc, char** argv) {
  dadsim::cli::add_examples();  // called before gtest makes tests from the registries
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
