// Tests <share> and <average-deltas>.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenario/document/load.hpp"
#include "scenario/document/print.hpp"
#include "scenario/fake_catalog.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

scenario::Scenario load_shared(const std::string& run, const std::string& batches = "equal") {
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform());
  const std::string path = folder.write(
      "scenario.xml",
      "<scenario name=\"Test\"><platform file=\"platform.xml\"/><workers><worker hosts=\"site-[1-2]\" "
      "device=\"rtx-4090\"/></workers><data><digits/></data><model><dense units=\"10\"/></model><training batches=\"" +
          batches + "\"/>\n" + run + "</scenario>");
  return load_scenario(path, {}, fake_catalog());
}

std::vector<std::string> share_errors(const std::string& run, const std::string& batches = "equal") {
  std::vector<std::string> errors;
  try {
    load_shared(run, batches);
  } catch (const InputError& error) {
    for (const Diagnostic& one : error.diagnostics())
      errors.push_back(fmt::format("{}: {}; {}", one.line, one.what, one.remedy));
  }
  return errors;
}

TEST(Share, IsReadInItsOrderAndIsPartOfWhatIsLearned) {
  const std::string run = R"(<run algorithm="flexible"><share layers="fc1" statistic="none"/>
    <share layers="fc*" statistic="dad" every="3"/><average-deltas above="fc1"/></run>)";
  const scenario::Scenario read = load_shared(run);
  const spec::RunSpec& one = read.runs.front();
  EXPECT_EQ(one.share, (std::vector<spec::ShareRule>{{"fc1", "none", 1}, {"fc*", "dad", 3}}));
  EXPECT_EQ(one.average_deltas_above, "fc1");
  const scenario::Scenario plain = load_shared(R"(<run algorithm="flexible"/>)");
  EXPECT_NE(scenario::learning_hash_of(read, one, read.training, 1),
            scenario::learning_hash_of(plain, plain.runs.front(), plain.training, 1));
  EXPECT_NE(scenario::print_scenario(read).find("<average-deltas above=\"fc1\"/>"), std::string::npos);
}

TEST(Share, MistakesAreToldAtTheirLines) {
  EXPECT_EQ(share_errors(R"(<run algorithm="flexible">
<share layers="fc1" statistic="dad"/>
<share layers="nothing" statistic="dad"/>
<average-deltas above="nothing"/>
</run>)"),
            (std::vector<std::string>{"4: <share>: no layer is called that; one of 1",
                                      "5: <average-deltas>: no layer is called that; another"}));
  const std::vector<std::string> unknown = share_errors(R"(<run algorithm="flexible">
<share layers="fc1" statistic="da"/>
<share statistic="dad" every="0"/>
</run>)");
  ASSERT_EQ(unknown.size(), 3U);
  EXPECT_TRUE(unknown[0].starts_with("3: ")) << unknown[0];
  EXPECT_NE(share_errors("<run algorithm=\"dad\"><share layers=\"*\" statistic=\"dad\"/></run>")
                .front()
                .find("<share> has no effect with 'dad'"),
            std::string::npos);
  EXPECT_NE(share_errors("<run algorithm=\"flexible\"><average-deltas above=\"fc1\"/></run>", "proportional")
                .front()
                .find("pairs the rows of all sites"),
            std::string::npos);
}

}  // namespace
}  // namespace dadsim::test
