// Tests the output on a terminal: it fits the terminal's width, the answer is first and bold, and assumptions are shown
// on request. A pipe gets plain text.
#include <gtest/gtest.h>

#include <sstream>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "cli/terminal_process.hpp"
#include "quick_kernels.hpp"
#include "study/sweep/tiny_sweep.hpp"
#include "support/human.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;
using Arguments = std::vector<std::string>;

/// Returns the text that stays on the terminal, without progress lines, bold type and colours.
std::string without_escapes(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\033') {
      plain += text[at];
      continue;
    }
    while (at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) == 0) ++at;
    if (at < text.size() && text[at] == 'K') plain.erase(plain.rfind('\n') + 1);
  }
  return plain;
}

/// Returns the lines of a text that are wider than `columns`.
std::vector<std::string> wider_than(std::size_t columns, const std::string& shown) {
  std::vector<std::string> wide;
  std::istringstream lines(without_escapes(shown));
  for (std::string line; std::getline(lines, line);) {
    if (display_width(line) > columns) wide.push_back(line);
  }
  return wide;
}

const std::string kScenarios = DADSIM_SOURCE_DIR "/scenarios/";

/// Returns arguments for GPT-2 medium on two nodes of two GPUs. It takes a tenth of a second and prints a table of
/// throughput.
Arguments small_gpt(Arguments arguments) {
  for (const char* change :
       {"platform.gpu-cluster.nodes=2", "platform.gpu-cluster.gpus=2", "workers.worker.hosts=gpu-[0-3]"})
    arguments.insert(arguments.end(), {"--set", change});
  return arguments;
}

struct TerminalCase {
  std::string name;
  Arguments arguments;
};

std::vector<TerminalCase> cases() {
  const std::string gpt = kScenarios + "gpt2-medium.xml";
  const std::string clinics = kScenarios + "hospitals.xml";
  const std::string platform = DADSIM_SOURCE_DIR "/platforms/infiniband.xml";
  return {
      {"run", test::small({clinics, "--verbose"})},
      {"run_timed_as", test::small({clinics, "--set", "timed-as.workload=resnet-18"})},
      {"run_timing_only", small_gpt({gpt})},
      {"explain", {"explain", "sweep.xml"}},
      {"compare", small_gpt({"compare", gpt, "--against", "platform.gpu-cluster.nic=roce-200"})},
      {"sweep", {"sweep", "sweep.xml"}},
      {"sweep_map", {"sweep", "map.xml"}},
      {"plan", {"plan", "plan.xml"}},
      {"scale_study",
       {"scale-study", kScenarios + "scale-study.xml", "--set", "data.digits.train=400", "--set", "training.seeds=2",
        "--set", "training.target-accuracy=0.3", "--set", "scale-study.vary.values=16 24 32 48 64", "--set",
        "data.digits.test=100"}},
      {"collective", {"collective", "--platform", platform, "--op", "all-reduce", "--sizes", "1kB,1MB", "--cold"}},
  };
}

class OnATerminal : public testing::TestWithParam<TerminalCase> {
 protected:
  OnATerminal() {
    const std::string up = R"(<vary path="platform.federation.sites.up" from="1" to="100" steps="2" unit="Mbps"/>)";
    const std::string latency =
        R"(<vary path="platform.federation.sites.latency" from="1" to="38" steps="38" unit="ms"/>)";
    const std::string runs =
        R"(<run algorithm="gradient-sharing"/><run algorithm="dad" label="factors, not gradients"/>)";
    folder_.write("sweep.xml", test::tiny_scenario("<sweep>" + up + "</sweep>", runs));
    folder_.write("map.xml", test::tiny_scenario("<sweep>" + up + latency + "</sweep>", runs));
    folder_.write("plan.xml", test::tiny_scenario(
                                  R"(<goal within="60s"><allow path="platform.federation.sites.up" from="1" to="20" )"
                                  R"(unit="Mbps"/></goal>)",
                                  runs));
  }
  test::TemporaryFolder folder_;
};

TEST_P(OnATerminal, NoLineIsWiderThanTheTerminalAndThePipeIsPlain) {
  const test::QuickKernels quick;
  const Outcome shown = test::run_on_terminal(GetParam().arguments, 80, folder_.path());
  ASSERT_EQ(shown.exit_code, kSuccess) << shown.out;
  EXPECT_EQ(wider_than(80, shown.out), Arguments()) << shown.out;
  const Outcome piped = test::run_dadsim(GetParam().arguments, folder_.path());
  ASSERT_EQ(piped.exit_code, kSuccess) << piped.err;
  EXPECT_EQ((piped.out + piped.err).find('\033'), std::string::npos) << piped.out;
  EXPECT_EQ(wider_than(132, piped.out), Arguments());
}

INSTANTIATE_TEST_SUITE_P(Commands, OnATerminal, testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

class Terminal : public testing::Test {
 protected:
  Arguments run_ = small_gpt({kScenarios + "gpt2-medium.xml"});
};

TEST_F(Terminal, TheAnswerIsFirstAndBoldUnlessColourIsUnwanted) {
  const std::string bold = test::run_on_terminal(run_, 80).out;
  const std::size_t begin = bold.find("\033[1m");
  ASSERT_NE(begin, std::string::npos) << bold;
  EXPECT_EQ(without_escapes(bold.substr(0, begin)), "") << bold;
  EXPECT_NE(bold.substr(begin, bold.find("\033[0m") - begin).find("gpt-2-medium"), std::string::npos) << bold;
  for (const auto& environment : {std::map<std::string, std::string>{{"NO_COLOR", "1"}}, {{"TERM", "dumb"}}})
    EXPECT_EQ(test::run_on_terminal(run_, 80, DADSIM_SOURCE_DIR, environment).out.find("\033[1m"), std::string::npos);
  Arguments never = run_;
  never.insert(never.end(), {"--color", "never"});
  EXPECT_EQ(test::run_on_terminal(never, 80).out.find("\033[1m"), std::string::npos);
  Arguments always = run_;
  always.insert(always.end(), {"--color", "always"});
  EXPECT_NE(test::run_dadsim(always).out.find("\033[1m"), std::string::npos);
}

TEST_F(Terminal, AssumptionsAreCountedAndListedWhenAskedFor) {
  const std::string brief = test::run_dadsim(run_).out;
  EXPECT_EQ(brief.find("Assumed: "), std::string::npos) << brief;
  EXPECT_NE(brief.find("--verbose"), std::string::npos) << brief;
  Arguments verbose = run_;
  verbose.emplace_back("--verbose");
  const std::string all = test::run_dadsim(verbose).out;
  std::size_t count = 0;
  for (std::size_t at = 0; (at = all.find("\nAssumed: ", at)) != std::string::npos; ++at) ++count;
  EXPECT_GT(count, 0U);
  EXPECT_NE(brief.find("Based on " + std::to_string(count + all.starts_with("Assumed: ")) + " assumption"),
            std::string::npos)
      << brief << all;
  EXPECT_NE(all.find("Network model: "), std::string::npos);
}

TEST_F(Terminal, ColumnsSaysHowWideItIsAndErrorsAreRed) {
  EXPECT_EQ(wider_than(70, test::run_on_terminal(run_, 200, DADSIM_SOURCE_DIR, {{"COLUMNS", "70"}}).out), Arguments());
  EXPECT_NE(wider_than(80, test::run_on_terminal(run_, 200).out), Arguments());
  const Outcome wrong = test::run_on_terminal({"nowhere.xml"}, 80);
  EXPECT_EQ(wrong.exit_code, kWrongInput);
  EXPECT_TRUE(wrong.out.starts_with("\033[31m")) << wrong.out;
  EXPECT_TRUE(wrong.out.ends_with("\033[0m\n")) << wrong.out;
  EXPECT_EQ(test::run_dadsim({"nowhere.xml", "--color", "sometimes"}).exit_code, kUsage);
}

}  // namespace
}  // namespace dadsim::cli
