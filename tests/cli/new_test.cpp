// Tests that `dadsim new` writes valid scenarios with an answer, and overwrites no file.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "cli/templates.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::read_file;

class NewCommand : public testing::Test {
 protected:
  Outcome dadsim(const std::vector<std::string>& arguments) const {
    return test::run_dadsim(arguments, folder_.path());
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  test::TemporaryFolder folder_;
};

TEST_F(NewCommand, ListsItsTemplates) {
  const Outcome listed = dadsim({"new"});
  EXPECT_EQ(listed.exit_code, kSuccess);
  for (const char* name : {"clinics", "gpu-cluster", "csv", "sweep", "plan", "phones", "federated", "layout"}) {
    EXPECT_NE(find_template(name), nullptr) << name;
    EXPECT_NE(listed.out.find(std::string(name) + " "), std::string::npos) << listed.out;
  }
  EXPECT_EQ(std::ranges::count(listed.out, '\n'), static_cast<std::ptrdiff_t>(templates().size()));
}

TEST_F(NewCommand, WritesScenariosThatAreRight) {
  for (const Template& one : templates()) {
    const Outcome written = dadsim({"new", one.name});
    EXPECT_EQ(written.exit_code, kSuccess) << written.err;
    EXPECT_NE(written.out.find(one.question), std::string::npos) << written.out;
    const std::string path = one.name + ".xml";
    EXPECT_NE(written.out.find("  " + one.command + path + "\n"), std::string::npos) << written.out;
    EXPECT_EQ(one.command == "dadsim plan ", std::string(one.scenario).find("<goal") != std::string::npos) << one.name;
    const std::string text = read_file(folder_.path() / path);
    EXPECT_NE(text.find("xsi:noNamespaceSchemaLocation=\""), std::string::npos) << one.name;
    EXPECT_EQ(text.find("../../scenario"), std::string::npos) << "the schema of the source: " << one.name;
    EXPECT_NE(text.find("dadsim "), std::string::npos) << "how it is asked";
    EXPECT_EQ(read_file(folder_.path() / (one.name + ".csv")), std::string(one.table));
    const Outcome checked = dadsim({path, "--check"});
    EXPECT_EQ(checked.exit_code, kSuccess) << checked.err;
    EXPECT_EQ(checked.err, "") << one.name;
  }
}

TEST_F(NewCommand, OverwritesNothingUnlessForced) {
  ASSERT_EQ(dadsim({"new", "csv", "mine.xml"}).exit_code, kSuccess);
  EXPECT_EQ(files(), (std::vector<std::string>{"mine.csv", "mine.xml"}));
  EXPECT_NE(read_file(folder_.path() / "mine.xml").find("file=\"mine.csv\""), std::string::npos);
  EXPECT_NE(read_file(folder_.path() / "mine.xml").find("dadsim mine.xml"), std::string::npos);
  std::ofstream(folder_.path() / "mine.xml") << "precious";
  const Outcome refused = dadsim({"new", "clinics", "mine.xml"});
  EXPECT_EQ(refused.exit_code, kUsage);
  EXPECT_EQ(refused.err, "dadsim: 'mine.xml' exists already; use another name, or --force\n");
  EXPECT_EQ(read_file(folder_.path() / "mine.xml"), "precious");
  // The table would overwrite a file, so the scenario is not written either.
  std::ofstream(folder_.path() / "other.csv") << "precious";
  EXPECT_EQ(dadsim({"new", "csv", "other.xml"}).exit_code, kUsage);
  EXPECT_FALSE(fs::exists(folder_.path() / "other.xml"));
  fs::create_symlink("nowhere", folder_.path() / "link.xml");
  EXPECT_EQ(dadsim({"new", "clinics", "link.xml"}).exit_code, kUsage) << "a link that leads nowhere is there too";
  EXPECT_EQ(dadsim({"new", "clinics", "mine.xml", "--force"}).exit_code, kSuccess);
  EXPECT_NE(read_file(folder_.path() / "mine.xml"), "precious");
}

TEST_F(NewCommand, SaysWhatWouldBeRight) {
  const Outcome misspelt = dadsim({"new", "clinic"});
  EXPECT_EQ(misspelt.exit_code, kUsage);
  EXPECT_EQ(misspelt.err, "dadsim: no template is called 'clinic'; did you mean 'clinics'?\n");
  EXPECT_EQ(dadsim({"new", "csv", "-"}).exit_code, kUsage);
  EXPECT_EQ(dadsim({"new", "clinics", "a", "b"}).exit_code, kUsage);
  EXPECT_EQ(dadsim({"new", "clinics", "no-folder/x.xml"}).exit_code, kOutputFailed);
  const Outcome piped = dadsim({"new", "clinics", "-"});
  EXPECT_EQ(piped.exit_code, kSuccess);
  EXPECT_TRUE(piped.out.starts_with("<?xml")) << piped.out.substr(0, 40);
  EXPECT_TRUE(files().empty());
}

/// A template's question, as the user types it, and words of its answer.
struct Asked {
  const char* name;
  std::vector<std::string> command;
  std::vector<std::string> answer;
};

class NewScenario : public testing::TestWithParam<Asked> {};

TEST_P(NewScenario, IsAnswered) {
  const test::TemporaryFolder folder;
  const Asked& asked = GetParam();
  ASSERT_EQ(test::run_dadsim({"new", asked.name, "x.xml"}, folder.path()).exit_code, kSuccess);
  std::vector<std::string> command = asked.command;
  command.emplace_back("x.xml");
  const Outcome outcome = test::run_dadsim(command, folder.path());
  EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  for (const std::string& words : asked.answer) EXPECT_NE(outcome.out.find(words), std::string::npos) << outcome.out;
}

INSTANTIATE_TEST_SUITE_P(
    Templates, NewScenario,
    testing::Values(
        Asked{"clinics", {}, {"rank-dad reaches 85 % first"}}, Asked{"gpu-cluster", {"sweep"}, {"ib-edr", "ib-hdr"}},
        Asked{"more-gpus", {"sweep"}, {"nodes=8: 1.9", "times (", ") the throughput: "}},
        Asked{"cheapest", {"plan"}, {"gradient-sharing with nodes 2 likely meets the goal: ", "16 devices"}},
        Asked{"csv", {}, {"each for itself", "they reach 85 % in"}}, Asked{"sweep", {"sweep"}, {"12 points"}},
        Asked{"plan", {"plan"}, {"within 20.0 s", "rank-dad needs about 2."}},
        Asked{"layout", {"layout", "--simulate", "3"}, {"The quickest layout found for llama-2-13b on 64 h100-sxm5"}},
        Asked{"federated", {}, {"fedbuff, fedavg and fedprox cannot be told apart", "fedbuff is "}}),
    [](const auto& each) {
      std::string name = each.param.name;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace dadsim::cli
