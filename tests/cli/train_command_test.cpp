// Tests `dadsim train`, for a model on a cluster of a known kind, and the scenario that it writes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "support/split.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;
using test::read_file;

class TrainCommand : public testing::Test {
 protected:
  Outcome dadsim(const std::vector<std::string>& arguments) const {
    return test::run_dadsim(arguments, folder_.path());
  }
  nlohmann::json json_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--json", "-"});
    const Outcome outcome = dadsim(arguments);
    EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  }
  void refused(const std::vector<std::string>& arguments, const std::string& says, int code = kUsage) const {
    const Outcome outcome = dadsim(arguments);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
  }
  test::TemporaryFolder folder_;
};

const std::vector<std::string> kSmall{"train", "gpt2-medium", "--gpus", "8", "--device", "A100-80GB"};

std::vector<std::string> small(const std::vector<std::string>& more) {
  std::vector<std::string> all = kSmall;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_F(TrainCommand, AnswersInTwelveLinesAndSaysWhatItTookForGranted) {
  const Outcome outcome = dadsim(small({"--tokens", "20B", "--precision", "BF16", "--quiet", "--write", "quiet.xml"}));
  EXPECT_EQ(outcome.out, "") << outcome.err;
  const Outcome said = dadsim(small({"--tokens", "20B"}));
  ASSERT_EQ(said.exit_code, kSuccess) << said.err;
  std::size_t lines = 0;
  for (std::size_t at = 0; at < said.out.size(); at = said.out.find('\n', at) + 1)
    lines += said.out[at] != '\n' ? 1 : 0;
  EXPECT_LE(lines, 12U) << said.out;
  for (const char* words : {"20 B tokens take 8 a100-sxm4-80", "A step of", "tokens/s", "MFU", "Best layout",
                            "Next:", "would help most", "'A100-80GB' is taken as a100-sxm4-80", "DGX A100", "--write"})
    EXPECT_NE(said.out.find(words), std::string::npos) << words << '\n' << said.out;
}

TEST_F(TrainCommand, ASliceOfAPodIsATorusWhoseAxesAreAsEqualAsTheyCanBe) {
  const nlohmann::json answer =
      json_of({"train", "gpt2", "--gpus", "48", "--device", "tpu-v5p", "--global-batch", "96", "--write", "slice.xml"});
  const std::string text = read_file(folder_.path() / "slice.xml");
  EXPECT_NE(text.find("<torus link=\"ici-v5p\" dimensions=\"4x4x3\"/>"), std::string::npos) << text;
  EXPECT_NE(text.find("rails=\"6\" nic=\"ici-v5p\""), std::string::npos) << "six links a chip";
  EXPECT_DOUBLE_EQ(json_of({"slice.xml"})["runs"][0]["step_seconds"].get<double>(),
                   answer["layouts"][0]["simulated"]["step_seconds"].get<double>());
}

// The printed command is typed as it is, and so is the next one.
TEST_F(TrainCommand, SaysWhatToTypeNext) {
  const std::string keep = "To keep its scenario: dadsim ";
  const auto next_of = [&](const std::vector<std::string>& arguments, const std::string& begin) {
    const Outcome outcome = dadsim(arguments);
    EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.err;
    const std::size_t at = outcome.out.find(begin);
    EXPECT_NE(at, std::string::npos) << outcome.out;
    return outcome.out.substr(at + begin.size(), outcome.out.find('\n', at) - at - begin.size());
  };
  const std::string again = next_of(small({"--tokens", "20B", "--json", "a.json"}), keep);
  EXPECT_EQ(again, "train gpt2-medium --device A100-80GB --gpus 8 --tokens 20B --write my.xml");
  std::vector<std::string> words;
  for (const std::string_view word : split_at(again, ' ')) words.emplace_back(word);
  EXPECT_EQ(next_of(words, "What would each change save? dadsim "), "explain my.xml");
  EXPECT_EQ(dadsim({"explain", "my.xml", "--quiet"}).exit_code, kSuccess);
  EXPECT_EQ(next_of({"train", "bob's/gpt2 medium", "--gpus", "8", "--device", "a100"}, keep),
            "train 'bob'\\''s/gpt2 medium' --device a100 --gpus 8 --write my.xml");
}

TEST_F(TrainCommand, AFamilyOfModelsSaysTheSizeThatIsTakenOrAsks) {
  const Outcome taken = dadsim({"train", "bert", "--gpus", "8", "--device", "h100"});
  EXPECT_NE(taken.out.find("'bert' is taken as bert-base (BERT-base with 128 tokens"), std::string::npos) << taken.out;
  refused({"train", "llama", "--gpus", "8", "--device", "h100"},
          "MODEL: 'llama' has many sizes; did you mean 'llama-3.1-8b', 'llama-3.1-70b' or 'llama-3.1-405b'?");
  refused({"train", "t5", "--gpus", "8", "--device", "h100"}, "did you mean 't5-11b', 't5-base' or 'flan-t5-xxl'?");
  refused({"train", "gpt2", "8", "h100"}, "name one model, and the devices as --gpus N --device NAME");
}

TEST_F(TrainCommand, SaysThatNoStepOnADeviceWasMeasured) {
  const auto said = [&](const char* device) {
    return dadsim({"train", "bert-base", "--gpus", "8", "--device", device}).out;
  };
  EXPECT_NE(said("l40s").find("No step on l40s was measured"), std::string::npos) << said("l40s");
  EXPECT_EQ(said("h100-sxm5").find("was measured"), std::string::npos) << said("h100-sxm5");
}

// The scenario file, which users edit, must give the same answer before any edit.
TEST_F(TrainCommand, TheScenarioBehindTheAnswerTakesTheSameTime) {
  const nlohmann::json answer =
      json_of(small({"--tokens", "20B", "--price", "2", "--within", "3d", "--write", "mine.xml"}));
  const nlohmann::json& best = answer["layouts"][0]["simulated"];
  const nlohmann::json run = json_of({"mine.xml"})["runs"][0];
  EXPECT_DOUBLE_EQ(run["step_seconds"].get<double>(), best["step_seconds"].get<double>());
  const nlohmann::json& budget = answer["budget"];
  const double seconds = budget["seconds"].get<double>();
  EXPECT_DOUBLE_EQ(seconds, budget["steps"].get<double>() * best["step_seconds"].get<double>());
  EXPECT_DOUBLE_EQ(budget["money"].get<double>(), 8 * 2 * seconds / 3600);
  const double limit = 3 * 86400.0;
  const std::string standing = budget["high"] <= limit  ? "met"
                               : seconds <= limit       ? "likely met"
                               : budget["low"] <= limit ? "cannot be said"
                                                        : "missed";
  EXPECT_EQ(budget["standing"], standing);
}

TEST_F(TrainCommand, NearPrecisionsAreTakenAndNearNumbersAreToldAsTheyAreTyped) {
  for (const auto& [typed, name] : {std::pair("bfloat16", "bf16"), {"float16", "fp16"}, {"Half", "fp16"}}) {
    const Outcome outcome = dadsim(small({"--precision", typed}));
    ASSERT_EQ(outcome.exit_code, kSuccess) << outcome.err;
    EXPECT_NE(outcome.out.find(fmt::format("'{}' is taken as {} (", typed, name)), std::string::npos) << outcome.out;
  }
  refused(small({"--precision", "mixed"}), "--precision: 'mixed' is unknown; did you mean 'bf16' or 'fp16'?");
  refused(small({"--precision", "posits"}), "--precision: 'posits' is unknown; one of fp32, tf32");
  refused(small({"--sequence", "8k"}), "--sequence '8k' is not a whole number; write 8192 or 8000");
  refused(small({"--global-batch", "2K"}), "--global-batch '2K' is not a whole number; write 2048 or 2000");
  refused(small({"--tokens", "15t"}), "--tokens '15t' is wrong; did you mean '15T'?");
  refused(small({"--tokens", "1.5 trillion"}), "--tokens '1.5 trillion' is wrong; did you mean '1.5T'?");
  refused(small({"--tokens", "many"}), "--tokens 'many' is wrong; use a number above 0");
  refused(small({"--tokens", "20B", "--within", "30 days"}), "did you mean '30d'?");
}

TEST_F(TrainCommand, OverwritesNoScenario) {
  std::ofstream(folder_.path() / "mine.xml") << "precious";
  refused(small({"--write", "mine.xml"}), "'mine.xml' exists already; use another name");
  EXPECT_EQ(read_file(folder_.path() / "mine.xml"), "precious");
}

TEST_F(TrainCommand, NamesThatMeanNothingHaveThreeRemediesAtMost) {
  refused({"train", "llama-70c", "--gpus", "8", "--device", "h100"},
          "MODEL: 'llama-70c' is none of `dadsim workloads`");
  refused({"train", "llama 70b", "--gpus", "8", "--device", "h900"}, "--device: 'h900' is none of `dadsim devices`");
  refused(small({"--nic", "100G"}), "did you mean 'ethernet-100g', 'roce-100' or 'ib-edr'?");
}

TEST_F(TrainCommand, OptionsWithoutEffectAreRefused) {
  refused({"train", "gpt2", "--device", "h100"}, "--gpus N is missing");
  refused({"train", "gpt2", "--gpus", "8"}, "--device NAME is missing");
  refused(small({"--price", "2"}), "--price needs --tokens");
  refused(small({"--within", "3d"}), "--within needs --tokens");
  refused(small({"--tokens", "many"}), "--tokens 'many' is wrong");
  refused({"train", "resnet50", "--gpus", "8", "--device", "h100", "--tokens", "1B"}, "are not sequences of tokens");
  refused({"train", "resnet50", "--gpus", "8", "--device", "h100", "--sequence", "9"}, "have a fixed length");
  refused({"train", "gpt2", "--gpus", "12", "--device", "h100"}, "12 devices do not fill nodes of 8; use 8 or 16");
  refused({"train", "gpt2", "--gpus", "8", "--device", "v100", "--precision", "fp8"}, "v100-sxm2 has no fp8");
  refused({"train", "gpt2", "--gpus", "8", "--device", "jetson-nano"}, "knows no usual system");
  refused({"train", "gpt2", "--gpus", "512", "--device", "tpu-v6e"},
          "a pod of TPU v6e has at most 256 devices, not 512");
}

// The remedy can be typed as it is.
TEST_F(TrainCommand, AModelThatDoesNotFitIsToldTheDevicesThatSuffice) {
  const std::vector<std::string> asked{"train", "llama-2-70b", "--device", "a100", "--gpus"};
  const auto with = [&](const std::string& gpus) {
    std::vector<std::string> all = asked;
    all.push_back(gpus);
    return dadsim(all);
  };
  const Outcome outcome = with("8");
  ASSERT_EQ(outcome.exit_code, kWrongInput) << outcome.err;
  const std::string remedy = "; use --gpus ";
  const std::size_t at = outcome.err.find(remedy);
  ASSERT_NE(at, std::string::npos) << outcome.err;
  const std::size_t begin = at + remedy.size();
  const std::string enough = outcome.err.substr(begin, outcome.err.find(';', begin) - begin);
  EXPECT_EQ(with(enough).exit_code, kSuccess) << enough;
}

TEST_F(TrainCommand, TakesTheConfigOfAModel) {
  std::ofstream(folder_.path() / "config.json")
      << R"({"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 16,)"
      << R"("num_key_value_heads": 8, "intermediate_size": 2816, "vocab_size": 32000,)"
      << R"("max_position_embeddings": 2048, "tie_word_embeddings": false})";
  const nlohmann::json answer =
      json_of({"train", "config.json", "--gpus", "4", "--device", "3090", "--sequence", "1024", "--write", "c.xml"});
  EXPECT_EQ(answer["workload"], "llama");
  const std::string text = read_file(folder_.path() / "c.xml");
  EXPECT_NE(text.find("hidden=\"1024\""), std::string::npos) << text;
  EXPECT_NE(text.find("sequence=\"1024\""), std::string::npos) << text;
  EXPECT_EQ(dadsim({"c.xml", "--check"}).exit_code, kSuccess);
}

}  // namespace
}  // namespace dadsim::cli
