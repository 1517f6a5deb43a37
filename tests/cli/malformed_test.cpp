// Tests messages, exit code and remaining files of the program for refused scenarios. tests/scenario/malformed_test.cpp
// tests the reader's message for each of them. This test runs all scenarios that are not plain text, and one in eight
// of the others (all with DADSIM_ALL_DRAWN).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "scenario/malformed_cases.hpp"

namespace dadsim::cli {
namespace {

/// Returns the expected exit code, which is 2 if every message begins with an option.
int code_of(const std::string& messages) {
  for (std::size_t line = 0; line < messages.size(); line = std::min(messages.find('\n', line), messages.size()) + 1) {
    if (messages.compare(line, 2, "--") != 0) return kWrongInput;
  }
  return kUsage;
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

TEST(Malformed, IsRefusedWithMessageAndExitCode) {
  ::unsetenv("DADSIM_DATA");
  const std::string platform = (std::filesystem::path(DADSIM_SOURCE_DIR) / "platforms" / "hospitals.xml").string();
  const std::size_t every = std::getenv("DADSIM_ALL_DRAWN") != nullptr ? 1 : 8;
  std::size_t refused = 0, number = 0;
  for (const test::MalformedCase& one : test::malformed_cases()) {
    const bool is_plain = one.file == test::MalformedCase::File::regular && one.size == 0;
    if (number++ % every != 0 && is_plain) continue;
    SCOPED_TRACE(one.name);
    const test::TemporaryFolder folder;
    const std::string path = (folder.path() / "scenario.xml").string();
    if (!test::write_case(one, path, platform)) continue;
    const std::set<std::string> before = names_in(folder.path());
    std::vector<std::string> arguments{path, "--json", (folder.path() / "result.json").string()};
    for (const std::string& change : one.overrides) {
      arguments.emplace_back("--set");
      arguments.push_back(change);
    }
    const test::Outcome outcome = test::run_dadsim(arguments, folder.path());
    EXPECT_EQ(outcome.exit_code, code_of(outcome.err)) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    ASSERT_FALSE(outcome.err.empty());
    EXPECT_EQ(test::complaint(one, path, outcome.err.substr(0, outcome.err.size() - 1)), "");
    EXPECT_EQ(names_in(folder.path()), before) << "a file was left behind";
    ++refused;
  }
  EXPECT_GE(refused, 40U);
}

struct BrokenFile {
  std::string name;
  std::string content;
  std::string says;
};

/// Valid scenarios name platforms that SimGrid cannot use.
TEST(Malformed, BrokenPlatformsAreRefused) {
  const std::string head = "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n";
  const std::vector<BrokenFile> cases{
      {"empty", "", "the file is empty"},
      {"not XML", "host hub 1Gf\n", "this is not XML"},
      {"truncated",
       head + "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n<host id=\"hub\" speed=\"1Gf\"/>\n",
       "platform.xml"},
      {"speed without unit",
       head + "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n<host id=\"hub\" "
              "speed=\"fast\"/>\n</zone>\n</platform>\n",
       "platform.xml:5"},
      {"no hosts", head + "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\"/>\n</platform>\n",
       "no host 'hub'"},
      {"entities", "<!DOCTYPE platform [<!ENTITY a \"b\">]>\n<platform version=\"4.1\"/>\n", "DOCTYPE"},
      {"no routes",
       head + "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n<host id=\"hub\" speed=\"1Gf\"/><host "
              "id=\"hospital-1\" "
              "speed=\"1Gf\"/><host id=\"hospital-2\" speed=\"1Gf\"/><host id=\"hospital-3\" speed=\"1Gf\"/><host "
              "id=\"hospital-4\" speed=\"1Gf\"/><host id=\"hospital-5\" speed=\"1Gf\"/>\n</zone>\n</platform>\n",
       "no route from"},
  };
  for (const BrokenFile& one : cases) {
    SCOPED_TRACE(one.name);
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / "platform.xml") << one.content;
    std::ofstream(folder.path() / "scenario.xml") << test::replaced(test::fixture(), "@PLATFORM@", "platform.xml");
    const test::Outcome outcome = test::run_dadsim({"scenario.xml"}, folder.path());
    EXPECT_EQ(outcome.exit_code, kWrongInput) << outcome.err;
    EXPECT_NE(outcome.err.find(one.says), std::string::npos) << outcome.err;
    EXPECT_EQ(folder.files(), 2U);
  }
}

/// Valid scenarios name invalid data files.
TEST(Malformed, BrokenDataFilesAreRefused) {
  const std::string labels = std::string("\0\0\x08\x01\0\0\0\x02\0\1", 10);
  const std::string images = std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x01\x10\x20", 18);
  const std::vector<BrokenFile> cases{
      {"empty", "", "images"},
      {"text", "these are no images", "images"},
      {"wrong type", std::string("\0\0\x0d\x03\0\0\0\x02\0\0\0\x01\0\0\0\x01\x10\x20", 18), "images"},
      {"truncated", images.substr(0, 17), "images"},
      {"trailing", images + "x", "images"},
      {"too many", std::string("\0\0\x08\x03\x7f\xff\xff\xff\x7f\xff\xff\xff\x7f\xff\xff\xff", 16), "images"},
      {"broken gzip", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03garbage", 17), "images"},
  };
  for (const BrokenFile& one : cases) {
    SCOPED_TRACE(one.name);
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / "images") << one.content;
    std::ofstream(folder.path() / "labels") << labels;
    const std::string platform = (std::filesystem::path(DADSIM_SOURCE_DIR) / "platforms" / "hospitals.xml").string();
    std::string scenario = test::replaced(test::fixture(), "@PLATFORM@", platform);
    scenario = test::replaced(scenario, "<digits train=\"800\" test=\"200\"/>",
                              "<idx images=\"images\" labels=\"labels\" train=\"1\" test=\"1\"/>");
    std::ofstream(folder.path() / "scenario.xml") << scenario;
    const test::Outcome outcome = test::run_dadsim({"scenario.xml"}, folder.path());
    EXPECT_EQ(outcome.exit_code, kWrongInput) << outcome.err;
    EXPECT_NE(outcome.err.find(one.says), std::string::npos) << outcome.err;
    EXPECT_EQ(folder.files(), 3U);
  }
}

}  // namespace
}  // namespace dadsim::cli
