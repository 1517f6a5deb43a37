// Tests that applying each remedy of a message literally leads to an accepted scenario.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>
#include <regex>

#include "scenario/document/load.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/malformed_cases.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

/// Parts of a message on the value of an attribute: `alpha="0,3" of <split> is not a number; write 0.3`.
struct AboutValue {
  std::string attribute, value, remedy;
};

std::optional<AboutValue> about_value(const std::string& message) {
  static const std::regex kForm(R"re(^(?:@FILE@:\d+|--set [^ ]+): ([a-z-]+)="([^"]*)" of <[a-z-]+> [^;]*; (.*)$)re");
  std::smatch found;
  if (!std::regex_match(message, found, kForm)) return std::nullopt;
  return AboutValue{found[1], found[2], found[3]};
}

/// Returns the values that a remedy proposes; empty if there are none.
std::vector<std::string> values_named(const std::string& remedy) {
  std::vector<std::string> values;
  std::smatch found;
  static const std::regex kMeant("^did you mean (.*)\\?$"), kQuoted("'([^']+)'"), kWrite("^write ([^ ]+)$"),
      kChoice("^one of ((?:[^ ,]+, )+[^ ,]+)$"), kOnly("^only ([^ ]+)$"),
      kWhole("^a whole number from (-?\\d+) to \\d+$"), kFrom("^a number from ([^ ]+)(?: to [^ ]+)?$"),
      kExample("^[^;]*, e\\.g\\. ([^ ]+)$"), kComma("[^ ,]+");
  const auto each = [&](const std::string& text, const std::regex& part, int group) {
    for (std::sregex_iterator i(text.begin(), text.end(), part); i != std::sregex_iterator(); ++i)
      values.push_back((*i)[static_cast<std::size_t>(group)]);
  };
  if (std::regex_match(remedy, found, kMeant)) {
    each(found[1], kQuoted, 1);
  } else if (std::regex_match(remedy, found, kChoice)) {
    each(found[1], kComma, 0);
  } else if (std::regex_match(remedy, found, kWrite) || std::regex_match(remedy, found, kOnly) ||
             std::regex_match(remedy, found, kExample)) {
    values.push_back(found[1]);
  } else if (std::regex_match(remedy, found, kWhole) || std::regex_match(remedy, found, kFrom)) {
    values.push_back(found[1]);  // the upper bound may be more than the data allow
  }
  return values;
}

/// Returns the error that remains with another value of the attribute; empty if there is none.
std::string still_wrong(const MalformedCase& one, const AboutValue& about, const std::string& value) {
  const TemporaryFolder folder;
  const std::string platform = folder.write("platform.xml", fake_platform());
  const std::string path = folder.path("scenario.xml");
  MalformedCase mended = one;
  const std::string before = about.attribute + "=\"" + about.value + '"';
  const std::string after = about.attribute + "=\"" + value + '"';
  for (std::string& change : mended.overrides) {
    if (change.ends_with('=' + about.value))
      change.replace(change.size() - about.value.size(), std::string::npos, value);
  }
  if (one.overrides.empty()) mended.content = replaced(one.content, before, after);
  if (mended.content == one.content && mended.overrides == one.overrides)
    return {};  // the attribute is not in this
                // file
  if (!write_case(mended, path, platform)) return {};
  try {
    scenario::load_scenario(path, mended.overrides, fake_catalog());
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      const std::string said = to_string(diagnostic);
      if (said.find(after) != std::string::npos) return said;
    }
  }
  return {};
}

TEST(Remedies, ValuesThatMessagesNameAreAccepted) {
  unsetenv("DADSIM_DATA");
  std::size_t applied = 0;
  for (const MalformedCase& one : malformed_cases()) {
    if (!one.exact || one.expected.size() != 1) continue;
    const std::optional<AboutValue> about = about_value(one.expected.front());
    if (!about) continue;
    for (const std::string& value : values_named(about->remedy)) {
      EXPECT_EQ(still_wrong(one, *about, value), "") << one.name << ": " << one.expected.front();
      ++applied;
    }
  }
  EXPECT_GT(applied, 90U);
}

}  // namespace
}  // namespace dadsim::test
