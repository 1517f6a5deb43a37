// Tests <training shuffle="no">, which keeps the order of the samples, and methods on which it has no effect.
#include <gtest/gtest.h>

#include <algorithm>

#include "scenario/document/load.hpp"
#include "scenario/document/print.hpp"
#include "scenario/fake_catalog.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

/// Returns the error, or else the printed scenario.
std::string load_ordered(const std::string& training, const std::string& run, bool draws = false) {
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform());
  scenario::Catalog catalog = fake_catalog();
  const auto rounds = std::ranges::find(catalog.algorithms, "fedavg", &scenario::Catalog::Algorithm::name);
  rounds->draws_samples = draws;
  rounds->needs_server = false;
  const std::string path =
      folder.write("scenario.xml",
                   "<scenario name=\"Test\"><platform file=\"platform.xml\"/><workers><worker hosts=\"site-[1-2]\" "
                   "device=\"rtx-4090\"/></workers><model><dense units=\"10\"/></model><data><digits/></data>" +
                       training + "<run algorithm=\"" + run + "\"/></scenario>");
  try {
    const scenario::Scenario scenario = load_scenario(path, {}, catalog);
    return print_scenario(scenario);
  } catch (const InputError& error) {
    return error.diagnostics().front().what;
  }
}

TEST(TrainingOrder, IsReadAndPrintedWhereItIsNotTheUsualOne) {
  EXPECT_NE(load_ordered(R"(<training shuffle="no"/>)", "dad").find(R"(shuffle="no")"), std::string::npos);
  EXPECT_EQ(load_ordered(R"(<training shuffle="yes"/>)", "dad").find("shuffle"), std::string::npos);
}

TEST(TrainingOrder, IsRefusedWhereSamplesAreDrawn) {
  EXPECT_NE(load_ordered(R"(<training shuffle="no" batches="poisson"/>)", "dad")
                .find("has no effect: samples are drawn at random"),
            std::string::npos);
  EXPECT_NE(load_ordered(R"(<training shuffle="no"/>)", "fedavg", true).find("draws its samples at random"),
            std::string::npos);
  EXPECT_NE(load_ordered(R"(<training shuffle="no"/>)", "fedavg", false).find(R"(shuffle="no")"), std::string::npos);
}

}  // namespace
}  // namespace dadsim::test
