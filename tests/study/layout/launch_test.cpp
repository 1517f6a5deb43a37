// Tests that layouts are written as launch arguments of four frameworks, and read back.
#include "study/layout/launch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/launch.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "scenario/xml/findings.hpp"
#include "study/layout/candidates.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

/// A layout in the form of --set, and its number of replicas.
struct WrittenLayout {
  std::int64_t replicas;
  std::vector<std::pair<std::string, std::string>> attributes;
};

Launch launch_with(const WrittenLayout& written) {
  scenario::Findings findings("");
  spec::TimedAsSpec timed;
  for (const auto& [name, value] : written.attributes)
    scenario::read_timed_as_attribute(name, name, value, timed, findings);
  findings.throw_if_any();
  Launch launch;
  launch.layout = {timed.parallelism, written.replicas, timed.batch, {}};
  launch.precision = spec::Precision::bf16;
  launch.wide_gradients = true;
  launch.devices_per_node = 8;
  return launch;
}

Launch read_back(const std::string& framework, const std::string& text) {
  EXPECT_EQ(formats::framework_of_launch(text), framework) << text;
  return read_launch("launch", framework, text, std::nullopt);
}

using Attributes = std::vector<std::pair<std::string, std::string>>;

/// Returns five layouts that the framework's arguments can express.
std::vector<WrittenLayout> layouts_for(const std::string& framework) {
  if (framework == "torchtitan") {
    return {{64, Attributes{{"batch", "8"}, {"micro-batch", "2"}, {"sharding", "parameters"}, {"recompute", "full"}}},
            {32, Attributes{{"batch", "16"},
                            {"micro-batch", "1"},
                            {"tensor", "2"},
                            {"sequence-parallel", "true"},
                            {"sharding", "parameters"},
                            {"sharding-group", "8"},
                            {"recompute", "operations"}}},
            {8, Attributes{{"batch", "16"},
                           {"micro-batch", "1"},
                           {"tensor", "4"},
                           {"sequence-parallel", "true"},
                           {"pipeline", "2"},
                           {"interleave", "2"},
                           {"sharding", "gradients"}}},
            {16, Attributes{{"batch", "4"},
                            {"micro-batch", "2"},
                            {"context", "4"},
                            {"context-exchange", "all-gather"},
                            {"sharding", "parameters"},
                            {"expert-parallel", "8"}}},
            {4, Attributes{{"batch", "32"},
                           {"micro-batch", "2"},
                           {"pipeline", "4"},
                           {"interleave", "2"},
                           {"schedule", "dualpipe-v"}}}};
  }
  if (framework == "deepspeed") {
    return {{8, Attributes{{"batch", "4"}}},
            {16, Attributes{{"batch", "4"}, {"micro-batch", "2"}, {"sharding", "optimizer"}}},
            {64, Attributes{{"batch", "2"}, {"micro-batch", "1"}, {"sharding", "gradients"}}},
            {64, Attributes{{"batch", "8"}, {"micro-batch", "4"}, {"sharding", "parameters"}, {"sharding-group", "8"}}},
            {4, Attributes{{"batch", "8"}, {"micro-batch", "1"}, {"tensor", "4"}, {"sharding", "optimizer"}}}};
  }
  return {{32, Attributes{{"batch", "16"},
                          {"micro-batch", "1"},
                          {"pipeline", "2"},
                          {"interleave", "20"},
                          {"sharding", "optimizer"},
                          {"sharding-group", "8"}}},
          {8, Attributes{{"batch", "64"},
                         {"micro-batch", "2"},
                         {"tensor", "8"},
                         {"sequence-parallel", "true"},
                         {"tensor-overlap", "products"},
                         {"recompute", "selective"},
                         {"recompute-modules", "attention norms feed-forward"}}},
          {64, Attributes{{"batch", "8"}, {"sharding", "parameters"}, {"micro-batch", "2"}, {"recompute", "full"}}},
          {16, Attributes{{"batch", "4"},
                          {"micro-batch", "1"},
                          {"tensor", "2"},
                          {"sequence-parallel", "true"},
                          {"context", "2"},
                          {"context-exchange", "all-gather"},
                          {"sharding", "gradients"}}},
          {8, Attributes{{"batch", "32"},
                         {"micro-batch", "1"},
                         {"tensor", "2"},
                         {"pipeline", "4"},
                         {"sharding", "optimizer"},
                         {"expert-parallel", "4"},
                         {"expert-capacity", "0.5"}}}};
}

class Frameworks : public testing::TestWithParam<std::string> {};

TEST_P(Frameworks, GiveBackTheLayoutThatTheyWereGiven) {
  const std::vector<WrittenLayout> layouts = layouts_for(GetParam());
  ASSERT_EQ(layouts.size(), 5U);
  for (const WrittenLayout& layout : layouts) {
    const Launch launch = launch_with(layout);
    const WrittenLaunch written = write_launch(GetParam(), launch);
    EXPECT_EQ(written.lacking, std::vector<std::string>{}) << written.text;
    const Launch back = read_back(GetParam(), written.text);
    EXPECT_EQ(assignments_of(back.layout), assignments_of(launch.layout)) << written.text;
    EXPECT_EQ(back.layout.replicas, launch.layout.replicas) << written.text;
    EXPECT_EQ(assignments_of(back), assignments_of(launch)) << written.text;
  }
}

/// A setting is reported as lacking if, and only if, it is not read back.
TEST_P(Frameworks, SayWhatTheyLack) {
  for (const std::string& other : formats::launch_frameworks()) {
    for (const WrittenLayout& layout : layouts_for(other)) {
      const Launch launch = launch_with(layout);
      const WrittenLaunch written = write_launch(GetParam(), launch);
      const Launch back = read_back(GetParam(), written.text);
      std::vector<std::string> given = assignments_of(launch.layout), found = assignments_of(back.layout);
      const auto replicas_kept = back.layout.replicas == launch.layout.replicas;
      for (const std::string& one : given) {
        const std::string name = one.substr(std::string("timed-as.").size());
        if (name.starts_with("batch=") && !replicas_kept)
          continue;  // the framework lacks a dimension, so replicas and
                     // batch differ
        EXPECT_NE(std::ranges::count(found, one) > 0, std::ranges::count(written.lacking, name) > 0)
            << GetParam() << ' ' << name << '\n'
            << written.text;
      }
      if (GetParam() == "megatron" || GetParam() == "torchtitan") {
        for (const std::string& one : written.lacking)
          EXPECT_NE(written.text.find("# no argument for " + one), std::string::npos) << written.text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Frameworks, testing::ValuesIn(formats::launch_frameworks()), [](const auto& one) {
  std::string name = one.param;
  std::erase(name, '-');
  return name;
});

TEST(Launches, SayBucketsAndPrecision) {
  Launch launch = launch_with({8, {{"batch", "4"}, {"sharding", "optimizer"}}});
  launch.bucket = 40'000'000;
  launch.wide_gradients = false;
  launch.precision = spec::Precision::fp8;
  std::vector<std::string> set = assignments_of(read_back("megatron", write_launch("megatron", launch).text));
  EXPECT_EQ(std::ranges::count(set, "timed-as.tensor="), 1);  // an empty value, which clears the scenario's attribute
  std::erase_if(set, [](const std::string& one) { return one.ends_with('='); });
  EXPECT_EQ(set, (std::vector<std::string>{"timed-as.batch=4", "timed-as.sharding=optimizer", "timed-as.precision=fp8",
                                           "run.bucket=80000000B"}));
  EXPECT_EQ(write_launch("deepspeed", launch).lacking, std::vector<std::string>{"precision=fp8"});
  EXPECT_EQ(write_launch("torchtitan", launch).lacking,
            (std::vector<std::string>{"sharding=optimizer", "precision=fp8", "gradients=precision", "bucket"}));
}

std::string fault_of(const std::string& framework, const std::string& text, std::optional<std::int64_t> devices = {}) {
  try {
    read_launch("launch", framework, text, devices);
  } catch (const InputError& fault) {
    return fault.what();
  }
  return "";
}

TEST(Launches, SayWhatDoesNotFit) {
  const std::string line = "--tensor-model-parallel-size 4 \\\n--micro-batch-size 1 \\\n--global-batch-size 12";
  EXPECT_EQ(fault_of("megatron", line), "launch: lacks the number of devices; add --devices N");
  EXPECT_EQ(fault_of("megatron", line, 8), "");
  EXPECT_EQ(fault_of("megatron", line + " --nnodes 1 --nproc-per-node 8"), "");
  EXPECT_EQ(fault_of("megatron", line + " --nnodes 1 --nproc-per-node 8", 8),
            "launch: already gives the number of devices; remove --devices");
  EXPECT_EQ(fault_of("megatron", line, 6).rfind("launch:1: --tensor-model-parallel-size does not divide evenly", 0),
            0U);
  EXPECT_EQ(fault_of("megatron", line, 32).rfind("launch:3: --global-batch-size does not divide evenly", 0), 0U);
  EXPECT_EQ(fault_of("megatron", "--tensor-model-parallel-size 5000", 8),
            "launch:1: --tensor-model-parallel-size is 5000; a whole number from 1 to 4096");
  EXPECT_EQ(fault_of("torchtitan",
                     "[parallelism]\ntensor_parallel_degree = 2\npipeline_parallel_degree = 2\n"
                     "pipeline_parallel_layers_per_stage = 1\n",
                     8)
                .rfind("launch:4: parallelism.pipeline_parallel_layers_per_stage needs the number of layers", 0),
            0U);
  const std::string layers =
      "--num-layers 40 --pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 1 "
      "--micro-batch-size 1 --global-batch-size 8";
  EXPECT_EQ(read_launch("launch", "megatron", layers, 2).layout.how.interleave, 20);
}

}  // namespace
}  // namespace dadsim::study
