#include <gtest/gtest.h>
#include <stdlib.h>

#include <set>

#include "scenario/document/load.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/malformed_cases.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

TEST(Malformed, FixtureItselfIsAccepted) {
  const TemporaryFolder folder;
  const std::string platform = folder.write("platform.xml", fake_platform());
  const std::string path = folder.write("scenario.xml", replaced(fixture(), "@PLATFORM@", platform));
  EXPECT_EQ(scenario::load_scenario(path, {}, fake_catalog()).name, "Fixture");
}

TEST(Malformed, NamesAreUnique) {
  std::set<std::string> names;
  for (const MalformedCase& one : malformed_cases()) EXPECT_TRUE(names.insert(one.name).second) << one.name;
}

TEST(Malformed, EveryCaseIsRefusedWithItsMessage) {
  unsetenv("DADSIM_DATA");
  const scenario::Catalog catalog = fake_catalog();
  for (const MalformedCase& one : malformed_cases()) {
    SCOPED_TRACE(one.name);
    const TemporaryFolder folder;
    const std::string platform = folder.write("platform.xml", fake_platform());
    const std::string path = folder.path("scenario.xml");
    if (!write_case(one, path, platform)) continue;
    try {
      scenario::load_scenario(path, one.overrides, catalog);
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      EXPECT_EQ(complaint(one, path, error.what()), "");
      for (const Diagnostic& diagnostic : error.diagnostics()) EXPECT_FALSE(diagnostic.what.empty());
    }
  }
}

// Cut off anywhere, a scenario is refused with a message, and nothing worse.
TEST(Malformed, EveryPrefixIsRefused) {
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform());
  const std::string text = replaced(fixture(), "@PLATFORM@", "platform.xml");
  const std::size_t end = text.rfind('>');
  const scenario::Catalog catalog = fake_catalog();
  for (std::size_t size = 0; size < end; ++size) {
    const std::string path = folder.write("scenario.xml", text.substr(0, size));
    EXPECT_THROW(scenario::load_scenario(path, {}, catalog), InputError) << size;
  }
}

}  // namespace
}  // namespace dadsim::test
