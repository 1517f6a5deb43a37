// Tests imports: a model's config.json, a profile of a step, and the commands that users type first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "cli/chakra_bytes.hpp"
#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;
using test::read_file;

class ImportCommand : public testing::Test {
 protected:
  Outcome dadsim(const std::vector<std::string>& arguments) const {
    return test::run_dadsim(arguments, folder_.path());
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.path() / name) << text; }
  test::TemporaryFolder folder_;
};

constexpr const char* kQwen = R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
  "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2, "tie_word_embeddings": true,
  "vocab_size": 151936})";
constexpr const char* kT5 = R"({"model_type": "t5", "d_ff": 256, "d_kv": 16, "d_model": 64, "num_heads": 4,
  "num_layers": 2, "vocab_size": 1000})";

TEST_F(ImportCommand, WritesTheElementAndSaysWhatItIs) {
  write("config.json", kQwen);
  const Outcome element = dadsim({"import", "config.json", "--batch", "4", "--sequence", "2048"});
  EXPECT_EQ(element.exit_code, kSuccess) << element.err;
  EXPECT_EQ(
      element.out,
      "<timed-as workload=\"qwen2-0.5b\" sequence=\"2048\" batch=\"4\" precision=\"bf16\" attention=\"flash\"/>\n");
  EXPECT_EQ(element.err,
            "qwen2: 494032768 parameters, with the layers of workload 'qwen2-0.5b'.\n"
            "Attention is fused (attention=\"flash\"), as usual; attention=\"plain\" writes and keeps its scores.\n");
}

TEST_F(ImportCommand, WritesAScenarioThatRuns) {
  write("config.json", kT5);
  const Outcome refused = dadsim({"import", "config.json", "--scenario", "--out", "job.xml"});
  EXPECT_EQ(refused.exit_code, kUsage);
  EXPECT_NE(refused.err.find("--layers FILE"), std::string::npos) << refused.err;
  const Outcome written = dadsim({"import", "config.json", "--layers", "t5.xml", "--scenario", "--out", "job.xml"});
  EXPECT_EQ(written.exit_code, kSuccess) << written.err;
  EXPECT_NE(read_file(folder_.path() / "job.xml").find("file=\"t5.xml\""), std::string::npos);
  const Outcome run = dadsim({"run", "job.xml", "--quiet", "--json", "-"});
  EXPECT_EQ(run.exit_code, kSuccess) << run.err;
  EXPECT_NE(run.out.find("step_seconds"), std::string::npos) << run.out;
}

TEST_F(ImportCommand, TakesAnAdapterWithItsBase) {
  write("config.json", kQwen);
  write("adapter_config.json", R"({"peft_type": "LORA", "r": 4, "target_modules": ["q_proj", "up_proj"]})");
  for (const std::vector<std::string>& files :
       {std::vector<std::string>{"adapter_config.json", "config.json"}, {"config.json", "adapter_config.json"}}) {
    const Outcome element = dadsim({"import", files[0], files[1], "--sequence", "1024"});
    EXPECT_EQ(element.exit_code, kSuccess) << element.err;
    EXPECT_NE(element.out.find("workload=\"qwen2-0.5b\""), std::string::npos) << element.out;
    EXPECT_NE(element.out.find("adapters=\"4\"/>"), std::string::npos) << element.out;
  }
  const Outcome alone = dadsim({"import", "adapter_config.json"});
  EXPECT_EQ(alone.exit_code, kWrongInput);
  EXPECT_NE(alone.err.find("is an adapter_config.json of PEFT"), std::string::npos) << alone.err;
  EXPECT_EQ(dadsim({"import", "config.json", "config.json"}).exit_code, kUsage);
}

TEST_F(ImportCommand, WhatItWritesPassesTheCheck) {
  write("t5.json", kT5);
  write("qwen.json", kQwen);
  std::filesystem::create_directories(folder_.path() / "job");
  const auto passes = [&](std::vector<std::string> arguments, const std::string& out) {
    arguments.insert(arguments.begin(), "import");
    arguments.insert(arguments.end(), {"--scenario", "--out", out});
    const Outcome written = dadsim(arguments);
    ASSERT_EQ(written.exit_code, kSuccess) << out << written.err;
    const Outcome check = dadsim({out, "--check"});
    EXPECT_EQ(check.exit_code, kSuccess) << out << check.err;
  };
  passes({"t5.json", "--layers", "job/layers.xml"}, "job/job.xml");
  passes({"t5.json", "--layers", "job/a&b.xml"}, "job.xml");
  passes({"t5.json", "--layers", "layers.xml"}, "job/job.xml");
  passes({"t5.json", "--layers", (folder_.path() / "l.xml").string()}, "job/absolute.xml");
  for (const char* precision : {"fp32", "tf32", "fp16", "bf16"})
    passes({"qwen.json", "--precision", precision}, "job.xml");
  EXPECT_EQ(dadsim({"import", "t5.json", "--layers", "-"}).exit_code, kUsage);
}

// Endless files once took all memory.
TEST_F(ImportCommand, ReadersHaveLimits) {
  std::ofstream(folder_.path() / "config.json");
  std::ofstream(folder_.path() / "t.0.et");
  std::ofstream(folder_.path() / "steps.csv");
  for (const char* name : {"config.json", "t.0.et", "steps.csv"})
    std::filesystem::resize_file(folder_.path() / name, std::uintmax_t{20} << 30U);
  write("many.0.et", test::ChakraBytes().compute(1, "f", 0.1).bytes() + std::string(std::size_t{8} << 20U, '\0'));
  write("wrong.csv", "scenario,time\n");
  std::ofstream wrong(folder_.path() / "wrong.csv", std::ios::app);
  std::ofstream steps(folder_.path() / "wrong-steps.csv");
  steps << "workload,batch,time\n";
  for (int i = 0; i < 1'000'000; ++i) wrong << "x\n";
  for (int i = 0; i < 1'000'000; ++i) steps << "x\n";
  wrong.close();
  steps.close();
  write("wide.csv", std::string(std::size_t{8} << 20U, ','));
  std::ofstream(folder_.path() / "lines.log") << std::string(std::size_t{40} << 20U, '\n');
  folder_.write(
      "job.xml",
      R"(<scenario name="j"><platform><gpu-cluster nodes="1" gpus="2" inside="nvlink-3" nic="ib-hdr"/></platform>
    <workers><worker hosts="gpu-*" device="a100-sxm4-80"/></workers><timed-as workload="resnet-50" batch="8"/><timing-only/>
    <run algorithm="gradient-sharing"/></scenario>)");
  const std::vector<std::string> device{"--device", "x", "--like", "v100-pcie"};
  const auto calibrate = [&](const std::string& file) {
    std::vector<std::string> arguments{"calibrate", file};
    arguments.insert(arguments.end(), device.begin(), device.end());
    return arguments;
  };
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"import", "/dev/zero"}, "/dev/zero: is a device"},
      {{"validate", "/dev/zero"}, "/dev/zero: is a device"},
      {calibrate("/dev/zero"), "/dev/zero: is a device"},
      {{"diagnose", "job.xml", "--log", "/dev/zero"}, "/dev/zero: is a device"},
      {{"import", "config.json"}, "config.json: has more than 512 MiB"},
      {{"import", "t.0.et", "--step", "s.xml"}, "t.0.et: has more than 1024 MiB"},
      {{"import", "many.0.et", "--step", "s.xml"}, "many.0.et: has 8388609 nodes in"},
      {{"import", "many.0.et", "--step", "s.xml", "--groups", "config.json"}, "nodes in"},
      {{"validate", "./steps.csv"}, "steps.csv: has more than 16 MiB"},
      {calibrate("steps.csv"), "steps.csv: has more than 512 MiB"},
      {{"validate", "./wrong.csv"}, "wrong.csv:2: 1 cells for 2 columns"},
      {calibrate("wrong-steps.csv"), "wrong-steps.csv:2: 1 cells for 3 columns"},
      {{"validate", "./wide.csv"}, "a line has more than 64 KiB"},
      {calibrate("wide.csv"), "a line has more than 64 KiB"},
      {{"diagnose", "job.xml", "--log", "lines.log"}, "lines.log"},
      {{"import", "lines.log"}, "lines.log: has more than 16 MiB"},
  };
  constexpr rlim_t kMemory = rlim_t{400} << 20U;
  for (const auto& [arguments, says] : cases) {
    const Outcome outcome = test::run_child([&, arguments = arguments] {
      std::vector<std::string> words = arguments;
      words.insert(words.begin(), DADSIM_BINARY);
      const rlimit limit{kMemory, kMemory};
      if (::chdir(folder_.path().c_str()) != 0 || ::setrlimit(RLIMIT_AS, &limit) != 0) return 127;
      ::execv(DADSIM_BINARY, test::words_of(words).data());
      return 127;
    });
    EXPECT_EQ(outcome.exit_code, kWrongInput) << says << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << says << ": " << outcome.err.substr(0, 500);
    EXPECT_LT(std::ranges::count(outcome.err, '\n'), 40) << says;
  }
}

TEST_F(ImportCommand, RefusesWhatItDoesNotKnow) {
  write("config.json", R"({"model_type": "rwkv"})");
  const Outcome unknown = dadsim({"import", "config.json"});
  EXPECT_EQ(unknown.exit_code, kWrongInput);
  EXPECT_NE(unknown.err.find("config.json: has model_type 'rwkv'"), std::string::npos) << unknown.err;
  EXPECT_EQ(dadsim({"import", "nothing.json"}).exit_code, kWrongInput);
  EXPECT_EQ(dadsim({"import"}).exit_code, kUsage);
  write("config.json", kQwen);
  EXPECT_EQ(dadsim({"import", "config.json", "--batch", "0"}).exit_code, kUsage);
  EXPECT_EQ(dadsim({"import", "config.json", "--precision", "fp23"}).exit_code, kUsage);
  EXPECT_EQ(dadsim({"import", "config.json", "--out", "config.json"}).exit_code, kUsage);
  EXPECT_EQ(read_file(folder_.path() / "config.json"), kQwen);
}

TEST_F(ImportCommand, AProfileCalibratesADevice) {
  write("trace.json", R"({"traceEvents": [
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 0, "dur": 155000},
    {"ph": "X", "cat": "kernel", "name": "sgemm", "ts": 1000, "dur": 130000},
    {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "ts": 131000, "dur": 16000}]})");
  write("steps.csv", "workload,batch,precision,time\nbert-base,64,fp16,139ms\n");
  const std::vector<std::string> device{"--device", "ours", "--like", "v100-pcie", "--quiet"};
  std::vector<std::string> of_profile{"calibrate", "trace.json", "--workload",  "bert-base",
                                      "--batch",   "64",         "--precision", "fp16"};
  std::vector<std::string> of_table{"calibrate", "steps.csv"};
  of_profile.insert(of_profile.end(), device.begin(), device.end());
  of_table.insert(of_table.end(), device.begin(), device.end());
  const Outcome profile = dadsim(of_profile);
  EXPECT_EQ(profile.exit_code, kSuccess) << profile.err;
  EXPECT_NE(profile.out.find("<device name=\"ours\""), std::string::npos) << profile.out;
  EXPECT_EQ(profile.out, dadsim(of_table).out);  // a step of 155 ms, less 16 ms in which only a collective runs
  ASSERT_EQ(std::system(("gzip -k '" + (folder_.path() / "trace.json").string() + "'").c_str()), 0);
  of_profile[1] = "trace.json.gz";  // PyTorch's trace handlers write gzipped JSON
  EXPECT_EQ(dadsim(of_profile).out, profile.out);
  of_table.insert(of_table.end(), {"--batch", "64"});
  EXPECT_EQ(dadsim(of_table).exit_code, kUsage);
  EXPECT_EQ(dadsim({"calibrate", "trace.json", "--device", "ours", "--like", "v100-pcie"}).exit_code, kUsage);
}

TEST_F(ImportCommand, HelpIsWhereItIsLookedFor) {
  const Outcome help = dadsim({"--help"});
  EXPECT_EQ(help.exit_code, kSuccess);
  EXPECT_EQ(dadsim({"help"}).out, help.out);
  EXPECT_EQ(dadsim({"-h"}).out, help.out);
  EXPECT_EQ(dadsim({"run", "-h"}).out, help.out);
  const Outcome sweep = dadsim({"sweep", "--help"});
  EXPECT_EQ(dadsim({"help", "sweep"}).out, sweep.out);
  EXPECT_EQ(dadsim({"sweep", "-h"}).out, sweep.out);
  EXPECT_EQ(dadsim({"run"}).exit_code, kUsage);
}

}  // namespace
}  // namespace dadsim::cli
