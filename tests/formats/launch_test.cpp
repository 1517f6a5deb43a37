// Tests launch arguments: every row of the table in both directions, arguments of the four formats, and errors in
// files.
#include "formats/launch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/diagnostics.hpp"

namespace dadsim::formats {
namespace {

std::string faults_of(const std::string& framework, const std::string& text) {
  try {
    read_launch_file("launch", framework, text);
  } catch (const InputError& fault) {
    return fault.what();
  }
  return "";
}

std::string value_in(const std::string& framework, const std::string& text, const std::string& quantity) {
  const LaunchFile read = read_launch_file("launch", framework, text);
  const auto found = read.entries.find(quantity);
  return found == read.entries.end() ? "" : found->second.value;
}

TEST(LaunchFiles, EveryChoiceComesBack) {
  const std::vector<LaunchSetting> all{{"tensor", "4"},
                                       {"tensor", "1"},
                                       {"sequence-parallel", "true"},
                                       {"sequence-parallel", "false"},
                                       {"tensor-overlap", "none"},
                                       {"tensor-overlap", "products"},
                                       {"context", "2"},
                                       {"context-exchange", "ring"},
                                       {"context-exchange", "all-gather"},
                                       {"pipeline", "8"},
                                       {"schedule", "1f1b"},
                                       {"interleave", "1"},
                                       {"interleave", "6"},
                                       {"scheduled-pieces", "1f1b/1"},
                                       {"scheduled-pieces", "1f1b/2"},
                                       {"scheduled-pieces", "gpipe/1"},
                                       {"scheduled-pieces", "gpipe/2"},
                                       {"scheduled-pieces", "dualpipe-v/2"},
                                       {"expert-parallel", "8"},
                                       {"expert-tensor", "1"},
                                       {"expert-capacity", "1.25"},
                                       {"micro-batch", "2"},
                                       {"global-batch", "512"},
                                       {"micro-batches", "16"},
                                       {"local-batch", "3"},
                                       {"pipeline-micro-batch", "1"},
                                       {"recompute", "none"},
                                       {"recompute", "selective"},
                                       {"recompute", "operations"},
                                       {"recompute", "full"},
                                       {"recompute-modules", "norms"},
                                       {"recompute-modules", "attention feed-forward expert-activation latent"},
                                       {"sharding", "none"},
                                       {"sharding", "optimizer"},
                                       {"sharding", "gradients"},
                                       {"sharding", "parameters"},
                                       {"sharding-groups", "1"},
                                       {"sharding-groups", "4"},
                                       {"sharding-group", "8"},
                                       {"sharded-replicas", "8"},
                                       {"copies", "4"},
                                       {"precision", "fp32"},
                                       {"precision", "fp16"},
                                       {"precision", "bf16"},
                                       {"precision", "fp8"},
                                       {"precision", "fp8-current"},
                                       {"precision", "fp8-block"},
                                       {"precision", "mxfp8"},
                                       {"precision", "nvfp4"},
                                       {"wide-gradients", "true"},
                                       {"wide-gradients", "false"},
                                       {"bucket", "40000000"},
                                       {"overlap", "true"}};
  std::size_t told = 0;
  for (const std::string& framework : launch_frameworks()) {
    for (const LaunchSetting& setting : all) {
      if (!can_say(framework, setting)) continue;
      ++told;
      const std::string text = to_launch_file(framework, {setting}, {"a remark"});
      EXPECT_EQ(value_in(framework, text, setting.quantity), setting.value) << framework << '\n' << text;
    }
  }
  EXPECT_GT(told, 110U);
  EXPECT_FALSE(can_say("deepspeed", {"pipeline", "2"}));
  EXPECT_FALSE(can_say("megatron", {"schedule", "gpipe"}));
  EXPECT_FALSE(can_say("torchtitan", {"sharding", "optimizer"}));
}

TEST(LaunchFiles, AreToldApart) {
  for (const std::string& framework : launch_frameworks()) {
    const std::string text = to_launch_file(
        framework, {{"tensor", "2"}, {"global-batch", "8"}, {"micro-batch", "1"}, {"local-batch", "1"}}, {});
    EXPECT_EQ(framework_of_launch(text), framework) << text;
  }
  EXPECT_EQ(framework_of_launch(""), "");
  EXPECT_EQ(framework_of_launch(R"({"model_type": "qwen", "bf16": true, "fp16": false})"), "");
  EXPECT_EQ(framework_of_launch("2024-07-28 22:06:17,284 getTask: train_batch_size"), "");
  EXPECT_EQ(framework_of_launch(std::string(std::size_t{1} << 20U, ' ') + "--micro-batch-size 1"), "");
}

TEST(LaunchFiles, AreReadAsPeopleWriteThem) {
  const std::string shell =
      "#!/bin/bash\n# --tensor-model-parallel-size 64\ntorchrun --nproc_per_node=8 --nnodes 2 pretrain_gpt.py \\\n"
      "  --tensor-model-parallel-size '4' --sequence-parallel \\\n  --global-batch-size=64 # per step\n";
  EXPECT_EQ(value_in("megatron", shell, "tensor"), "4");
  EXPECT_EQ(value_in("megatron", shell, "nodes"), "2");
  EXPECT_EQ(value_in("megatron", shell, "devices-per-node"), "8");
  EXPECT_EQ(value_in("megatron", shell, "sequence-parallel"), "true");
  EXPECT_EQ(value_in("megatron", shell, "global-batch"), "64");
  EXPECT_EQ(value_in("megatron", "--expert-model-parallel-size 8 --tensor-model-parallel-size 4", "expert-tensor"),
            "4");
  EXPECT_EQ(value_in("megatron", "--bf16 --fp8-recipe delayed", "precision"), "bf16");
  EXPECT_EQ(value_in("megatron", "--bf16 --fp8-format hybrid", "precision"), "fp8");
  const std::string toml =
      "# torchtitan\n[model]\nname = \"llama3\"\nconverters = [\n  \"float8\",  # in 8 bit\n]\n\n[float8]\n"
      "filter_fqns = ['output']\n[ parallelism ]  # sizes\ntensor_parallel_degree = 1_024 # many\n[optimizer]\nlr = "
      "8e-4\n";
  EXPECT_EQ(value_in("torchtitan", toml, "precision"), "fp8-current");
  EXPECT_EQ(value_in("torchtitan", toml, "expert-tensor"), "1");
  const std::string json =
      R"({"train_batch_size": 64, "zero_optimization": {"stage": 2, "reduce_bucket_size": 5e8}, "bf16": {"enabled": true}})";
  EXPECT_EQ(value_in("deepspeed", json, "sharding"), "gradients");
  EXPECT_EQ(value_in("deepspeed", json, "bucket"), "500000000");
  EXPECT_EQ(value_in("deepspeed", json, "precision"), "bf16");
}

TEST(LaunchFiles, SayWhatIsWrongWithLineAndRemedy) {
  EXPECT_EQ(faults_of("megatron", "a.py \\\n--tensor-model-parallel-size ${TP} \\\n--micro-batch-size 0"),
            "launch:2: --tensor-model-parallel-size is '${TP}'; a whole number from 1\n"
            "launch:3: --micro-batch-size is '0'; a whole number from 1");
  EXPECT_EQ(faults_of("megatron", "--recompute-granularity full"),
            "launch:1: --recompute-granularity is 'full'; use one of full, no such argument, selective, with the other "
            "arguments that docs/launch.md lists");
  EXPECT_EQ(faults_of("megatron", "--bf16 yes"),
            "launch:1: --bf16 is 'yes'; use one of no such argument, no value, with the other arguments that "
            "docs/launch.md lists");
  EXPECT_NE(faults_of("torchtitan", "[activation_checkpoint]\nmode = \"selective\"\nselective_ac_option = \"2\"")
                .find("launch:2: "),
            std::string::npos);
  EXPECT_EQ(faults_of("torchtitan", "[training]\n\nlocal_batch_size\n"), "launch:3: has no '='; write key = value");
  for (const char* value : {"", "\"open", "{a = 1}", "\"\"\"x\"\"\"", "[1", "yes", "1 2"})
    EXPECT_NE(faults_of("torchtitan", std::string("[a]\nb = ") + value).find("launch:2: has a value"),
              std::string::npos)
        << value;
  EXPECT_NE(faults_of("torchtitan", "[a]\nb = 1\nb = 2").find("launch:3: has a key"), std::string::npos);
  EXPECT_NE(faults_of("torchtitan", "[[a]]").find("launch:1: is not a section"), std::string::npos);
  EXPECT_NE(faults_of("deepspeed", "{\"train_batch_size\": 1,\n\"zero_optimization\": {,}}")
                .find("launch:2: is not valid JSON"),
            std::string::npos);
  EXPECT_EQ(faults_of("deepspeed", "{\n\"fp16\": {\"enabled\": true},\n\"bf16\":\n{\"enabled\": \"auto\"}}"),
            "launch:4: bf16.enabled is 'auto'; use one of false, no such argument, true, with the other arguments that "
            "docs/launch.md lists");
}

TEST(LaunchFiles, HostileTextEndsInWords) {
  const std::string deep(100'000, '[');
  EXPECT_NE(faults_of("deepspeed", "{\"a\": " + deep), "");
  EXPECT_NE(faults_of("torchtitan", "[a]\nb = " + deep), "");
  std::string nested = "1";
  for (int i = 0; i < 1000; ++i) nested = "{\"a\": " + nested + "}";
  EXPECT_EQ(faults_of("deepspeed", nested), "");
  EXPECT_NE(faults_of("deepspeed", "{\"train_batch_size\": \"\xff\"}"), "");
  const std::string control = faults_of("megatron", "--micro-batch-size \x1b[31m" + std::string(5000, 'x'));
  EXPECT_EQ(control.find('\x1b'), std::string::npos);
  EXPECT_LT(control.size(), 300U);
  for (const char* number : {"1e400", "nan", "-1", "0x10", "99999999999999999999", "1.5", ""})
    EXPECT_NE(faults_of("megatron", std::string("--micro-batch-size ") + number), "") << number;
  EXPECT_EQ(faults_of("megatron", std::string(1000, '\0') + "\"'"), "");
}

}  // namespace
}  // namespace dadsim::formats
