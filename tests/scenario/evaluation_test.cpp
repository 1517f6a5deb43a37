// Tests <evaluation>.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scenario/document/load.hpp"
#include "scenario/document/print.hpp"
#include "scenario/fake_catalog.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

scenario::Scenario load_evaluation(const std::string& evaluation, const std::string& source = "<digits/>",
                                   const std::string& runs = "<run algorithm=\"fedavg\"/>") {
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform());
  scenario::Catalog catalog = fake_catalog();
  std::ranges::find(catalog.algorithms, "fedavg", &scenario::Catalog::Algorithm::name)->needs_server = false;
  const std::string path =
      folder.write("scenario.xml",
                   "<scenario name=\"Test\"><platform file=\"platform.xml\"/><workers><worker hosts=\"site-[1-2]\" "
                   "device=\"rtx-4090\"/></workers><model><dense units=\"10\"/></model><data>" +
                       source + "</data>" + runs + "\n" + evaluation + "</scenario>");
  return load_scenario(path, {}, catalog);
}

std::vector<std::string> evaluation_errors(const std::string& evaluation, const std::string& source = "<digits/>",
                                           const std::string& runs = "<run algorithm=\"fedavg\"/>") {
  std::vector<std::string> errors;
  try {
    load_evaluation(evaluation, source, runs);
  } catch (const InputError& error) {
    for (const Diagnostic& one : error.diagnostics())
      errors.push_back(fmt::format("{}: {}; {}", one.line, one.what, one.remedy));
  }
  return errors;
}

TEST(EvaluationElement, IsReadAndPrintedAgain) {
  const scenario::Scenario scenario =
      load_evaluation(R"(<evaluation batch="32 256" quantiles="16" label-alpha="0.1"><site-shift corruption="blur"/>)"
                      R"(<site-shift corruption="gain-offset" severity="5 1"/></evaluation>)");
  const spec::EvaluationSpec expected{
      .batches = {256, 32},
      .quantiles = 16,
      .label_alpha = 0.1,
      .shifts = {{spec::Corruption::blur, {3}}, {spec::Corruption::gain_offset, {1, 5}}}};
  EXPECT_EQ(scenario.evaluation, expected);
  const std::string printed = print_scenario(scenario);
  const std::size_t begin = printed.find("<evaluation");
  ASSERT_NE(begin, std::string::npos);
  const std::string end = "</evaluation>";
  EXPECT_EQ(load_evaluation(printed.substr(begin, printed.find(end) + end.size() - begin)).evaluation, expected);
  // <evaluation> does not change what is learned, so both scenarios share their learning.
  const scenario::Scenario without = load_evaluation("");
  EXPECT_FALSE(without.evaluation);
  EXPECT_NE(without.hash, scenario.hash);
  EXPECT_EQ(learning_problem_hash_of(without, 1), learning_problem_hash_of(scenario, 1));
}

TEST(EvaluationElement, HasDefaults) { EXPECT_EQ(load_evaluation("<evaluation/>").evaluation, spec::EvaluationSpec()); }

TEST(EvaluationElement, SaysWhatIsWrong) {
  using Errors = std::vector<std::string>;
  const auto shift = [](const std::string& attributes) {
    return "<evaluation><site-shift " + attributes + "/></evaluation>";
  };
  EXPECT_EQ(evaluation_errors(shift(R"(corruption="nois")")).at(0),
            "2: corruption=\"nois\" of <site-shift> is unknown; did you mean 'noise'?");
  EXPECT_EQ(evaluation_errors(shift(R"(corruption="none")")).size(), 1U);
  EXPECT_EQ(evaluation_errors(shift("")),
            (Errors{"2: <site-shift> lacks 'corruption'; a corruption of the values, e.g. gain-offset"}));
  EXPECT_EQ(evaluation_errors(shift(R"(corruption="noise" severity="1 6")")),
            (Errors{"2: severity=\"1 6\" of <site-shift> holds '6'; whole numbers from 1 to 5 with spaces between "
                    "them"}));
  EXPECT_EQ(evaluation_errors(shift(R"(corruption="noise" severity="2 2")")),
            (Errors{"2: severity=\"2 2\" of <site-shift> names one twice; each once"}));
  EXPECT_EQ(evaluation_errors(shift(R"(corruption="blur")"), "<tabular classes=\"10\"/>"),
            (Errors{"2: corruption=\"blur\" of <site-shift> needs images, but the samples are not images; use noise, "
                    "gain-offset, clip, gamma or exponential"}));
  EXPECT_EQ(evaluation_errors(R"(<evaluation batch="0"/>)").size(), 1U);
  EXPECT_EQ(evaluation_errors(R"(<evaluation batch="8 8"/>)"),
            (Errors{"2: batch=\"8 8\" of <evaluation> names one twice; each once"}));
  EXPECT_EQ(evaluation_errors(R"(<evaluation quantiles="1"/>)"),
            (Errors{"2: quantiles=\"1\" of <evaluation> is out of range; a whole number from 2 to 10000"}));
}

TEST(EvaluationElement, NeedsARunWhoseLastModelIsKept) {
  const std::string first = "<run algorithm=\"dad\"/>";
  EXPECT_EQ(evaluation_errors("<evaluation/>", "<digits/>", first),
            (std::vector<std::string>{"2: <evaluation> needs an event-driven run: runs such as dad keep no last model; "
                                      "add an event-driven run, e.g. fedavg, or remove <evaluation>"}));
  EXPECT_TRUE(evaluation_errors("<evaluation/>", "<digits/>", first + "<run algorithm=\"fedavg\"/>").empty());
}

}  // namespace
}  // namespace dadsim::test
