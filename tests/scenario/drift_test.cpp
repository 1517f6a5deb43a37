// Tests <drift> in <data>.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scenario/document/load.hpp"
#include "scenario/document/print.hpp"
#include "scenario/fake_catalog.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

scenario::Scenario load_drift(const std::string& drifts, const std::string& source = "<digits/>",
                              const std::string& run = "fedavg") {
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform());
  scenario::Catalog catalog = fake_catalog();
  const auto rounds = std::ranges::find(catalog.algorithms, "fedavg", &scenario::Catalog::Algorithm::name);
  rounds->follows_drift = true;
  rounds->needs_server = false;
  const std::string path =
      folder.write("scenario.xml",
                   "<scenario name=\"Test\"><platform file=\"platform.xml\"/><workers><worker hosts=\"site-[1-2]\" "
                   "device=\"rtx-4090\"/></workers><model><dense units=\"10\"/></model>\n<data>" +
                       source + drifts + "</data><run algorithm=\"" + run + "\"/></scenario>");
  return load_scenario(path, {}, catalog);
}

std::vector<std::string> drift_errors(const std::string& drifts, const std::string& source = "<digits/>",
                                      const std::string& run = "fedavg") {
  std::vector<std::string> errors;
  try {
    load_drift(drifts, source, run);
  } catch (const InputError& error) {
    for (const Diagnostic& one : error.diagnostics())
      errors.push_back(fmt::format("{}: {}; {}", one.line, one.what, one.remedy));
  }
  return errors;
}

TEST(DriftElement, ACorruptionIsOfPixelsBetween0And1) {
  const std::string drift = R"(<drift at="1s" corruption="blur"/>)";
  EXPECT_TRUE(drift_errors(drift).empty());
  for (const char* scale : {"none", "standard"}) {
    EXPECT_EQ(drift_errors(drift, fmt::format("<digits scale=\"{}\"/>", scale)),
              (std::vector<std::string>{"2: corruption=\"blur\" of <drift> needs pixels between 0 and 1; set "
                                        "scale=\"unit\" on the source of data"}));
  }
}

TEST(DriftElement, IsReadSortedAndPrintedAgain) {
  const scenario::Scenario scenario =
      load_drift(R"(<drift at="20s" label-alpha="0.1"/><drift sites="site-[2-2]" at="10s" corruption="blur"/>)"
                 R"(<drift sites="site-2" at="30s" corruption="none"/>)");
  const std::vector<spec::DriftSpec>& drifts = scenario.data.drifts;
  ASSERT_EQ(drifts.size(), 3U);
  EXPECT_EQ(drifts[0].at, 10);
  EXPECT_EQ(drifts[0].workers, (std::vector<std::int32_t>{1}));
  EXPECT_EQ(drifts[0].corruption, spec::Corruption::blur);
  EXPECT_EQ(drifts[0].severity, 3);
  EXPECT_EQ(drifts[1].workers, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(drifts[1].label_alpha, 0.1);
  EXPECT_FALSE(drifts[1].corrupts);
  EXPECT_TRUE(drifts[2].corrupts);
  const auto printed_drifts = [](const scenario::Scenario& one) {
    const std::string printed = print_scenario(one);
    const std::size_t begin = printed.find("<drift");
    return printed.substr(begin, printed.find("</data>") - begin);
  };
  EXPECT_EQ(printed_drifts(load_drift(printed_drifts(scenario))), printed_drifts(scenario));
  // The date of a drift does not change what is learned from one state of the data.
  scenario::Scenario later = scenario;
  for (spec::DriftSpec& drift : later.data.drifts) drift.at += 5;
  EXPECT_EQ(learning_problem_hash_of(later, 1), learning_problem_hash_of(scenario, 1));
  EXPECT_NE(problem_hash_of(later, 1), problem_hash_of(scenario, 1));
}

TEST(DriftElement, SaysWhatIsWrong) {
  using Errors = std::vector<std::string>;
  EXPECT_EQ(drift_errors(R"(<drift at="1s" corruption="nois"/>)").at(0),
            "2: corruption=\"nois\" of <drift> is unknown; did you mean 'noise'?");
  EXPECT_EQ(drift_errors(R"(<drift at="1s" corruption="blur" severity="6"/>)"),
            (Errors{"2: severity=\"6\" of <drift> is out of range; a whole number from 1 to 5"}));
  EXPECT_EQ(drift_errors(R"(<drift corruption="blur"/>)").size(), 1U);
  EXPECT_EQ(drift_errors(R"(<drift at="1s"/>)"),
            (Errors{"2: <drift> lacks 'corruption' and 'label-alpha'; add one of the two, or both"}));
  EXPECT_EQ(drift_errors(R"(<drift at="1s" severity="2" label-alpha="1"/>)"),
            (Errors{"2: severity=\"2\" of <drift> needs 'corruption'; add corruption=\"…\", or remove 'severity'"}));
  EXPECT_EQ(drift_errors(R"(<drift sites="site-9" at="1s" label-alpha="1"/>)"),
            (Errors{"2: sites=\"site-9\" of <drift> holds 'site-9', which hosts no worker; use hosts of workers, e.g. "
                    "gpu-[0-3], or remove 'sites' to let all sites drift"}));
  EXPECT_EQ(drift_errors(R"(<drift at="1s" corruption="blur"/>)", "<tabular classes=\"10\"/>"),
            (Errors{"2: corruption=\"blur\" of <drift> needs images, but the samples are not images; use noise, "
                    "gain-offset, clip, gamma or exponential"}));
  EXPECT_EQ(drift_errors(R"(<drift at="1s" corruption="noise"/>)", "<digits/>", "dad"),
            (Errors{"2: <drift> cannot act on a run of dad, which is learned before it is timed; use event-driven "
                    "algorithms only, e.g. fedavg, or remove <drift>"}));
}

}  // namespace
}  // namespace dadsim::test
