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

// Elements were once read before their names were checked.
TEST(Malformed, AnUnknownElementIsRefusedAnywhere) {
  const scenario::Catalog catalog = fake_catalog();
  std::vector<std::string> texts{replaced(fixture(), "@PLATFORM@", "platform.xml")};
  for (const char* name : {"failures", "hospitals-plan", "gpt-175b", "scale-study", "drift", "crossover"})
    texts.push_back(file_content(std::string(DADSIM_SOURCE_DIR) + "/scenarios/" + name + ".xml"));
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform());
  std::size_t places = 0;
  for (const std::string& text : texts) {
    for (std::size_t end = text.find('>'); end != std::string::npos; end = text.find('>', end + 1)) {
      const std::size_t begin = text.rfind('<', end);
      if (text[begin + 1] == '?' || text[begin + 1] == '!' || text[begin + 1] == '/') continue;
      const bool closed = text[end - 1] == '/';
      const std::string tag = text.substr(begin + 1, text.find_first_of(" \n/>", begin + 1) - begin - 1);
      const std::string unknown = "<nothing links=\"a\" path=\"b\" name=\"c\" value=\"1\"/>";
      std::string changed = text;
      changed.replace(closed ? end - 1 : end, closed ? 2 : 1, ">" + unknown + (closed ? "</" + tag + ">" : ""));
      ++places;
      try {
        scenario::load_scenario(folder.write("scenario.xml", changed), {}, catalog);
        ADD_FAILURE() << "accepted in <" << tag << ">";
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("unknown element <nothing> in <" + tag + ">"), std::string::npos)
            << error.what();
      }
    }
  }
  EXPECT_GT(places, 100U);
}

// A scenario that is cut off anywhere must be refused with a message, without a crash.
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
