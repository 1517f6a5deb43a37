// Tests the syntax of sentence templates, and the table of all templates.
#include "report/words/sentence_template.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "report/words/statement.hpp"
#include "report/words/statement_rows.hpp"
#include "support/split.hpp"

namespace dadsim::report {
namespace {

std::string words(const char* text, const Statement& statement) { return SentenceTemplate(text).words(statement); }

TEST(SentenceTemplate, WritesValuesInTheirUnits) {
  const Statement statement = Statement{"a kind", {"dad", "dsgd", "rank-dad"}}
                                  .with("share", 0.125)
                                  .with("bytes", 2.14e6)
                                  .with("seconds", 3.0)
                                  .with("seconds_low", 2.0)
                                  .with("seconds_high", 4.5)
                                  .with("points", std::vector<double>{1200, 7})
                                  .with("rate", std::vector<double>{2, 1.5, 3})
                                  .with("name", std::string("LL"));
  EXPECT_EQ(words("{0} {1}: {subjects}; {subjects:and}; {subjects:rest}", statement),
            "dad dsgd: dad, dsgd, rank-dad; dad, dsgd and rank-dad; dsgd and rank-dad");
  EXPECT_EQ(words("{share} {share:%} {share*100:.0f} {bytes/seconds:.2g} {bytes:B}", statement),
            "0.125 12.5 % 12 7.1e+05 2.14 MB");
  EXPECT_EQ(words("{seconds:s} {seconds:band} {name} {points.1:.0f} {points:and}", statement),
            "3.00 s 3.00 s (2.00 … 4.50) LL 7 1,200 and 7");
  EXPECT_EQ(words("{rate:factor}", statement), "2.0 times (1.5 … 3.0)");
  EXPECT_EQ(words("\\{share\\} a|b", statement), "{share} a|b");
}

TEST(SentenceTemplate, LeavesOutClausesWithoutTheirValues) {
  const auto statement = [](double seeds) {
    return Statement{"a kind"}.with("seeds", seeds).with("nothing", std::string());
  };
  const char* text = "It[ learns with {seeds:.0f} seed[seeds=1?|s]][ on {nothing}][ in {unknown:s}].";
  EXPECT_EQ(words(text, statement(1)), "It learns with 1 seed.");
  EXPECT_EQ(words(text, statement(3)), "It learns with 3 seeds.");
  EXPECT_EQ(words("[{nothing}|{unknown}|none of [seeds>2?many|few]]", statement(2)), "none of few");
  EXPECT_THROW(words("{unknown}", statement(1)), std::logic_error);
  EXPECT_THROW(words("{nothing:s}", statement(1)), std::logic_error) << "a text in seconds";
  // NaN is a given value and is printed as in tables.
  const Statement unknown = Statement{"a kind"}.with("seconds", std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(words("[in {seconds:s}][seconds<=inf?, known]", unknown), "in –");
}

TEST(SentenceTemplate, TestsValues) {
  const Statement statement = Statement{"a kind", {"a"}}
                                  .with("yes", true)
                                  .with("no", false)
                                  .with("metric", std::string("per-kwh"))
                                  .with("same", std::string("per-kwh"))
                                  .with("loss", 2.1)
                                  .with("before", 2.0);
  EXPECT_EQ(words("[yes?a|b][!yes?a|b][no?a|b][!no?a|b][other?a|b][!other?a|b]", statement), "abbaba");
  EXPECT_EQ(words("[metric=per-kwh?a|b][metric=same?a|b][metric!=other?a|b][subjects>1?a|b]", statement), "aaab");
  EXPECT_EQ(words("[loss>before?a|b][loss>1.05*before?a|b][loss<=2.1?a|b][other>1?a|b]", statement), "abab");
}

TEST(SentenceTemplate, RepeatsAndJoins) {
  const Statement part = Statement{"faster-device", {"xeon"}}.with("factor", 2.0).with("gap", 0.5);
  const Statement statement = Statement{"a kind", {"ring", "tree", "direct"}}
                                  .with("seconds", std::vector<double>{1, 2, 4})
                                  .with("steps", 8.0)
                                  .with("where", std::vector<std::string>{"here", "", "there"})
                                  .with(part)
                                  .with(Statement{"target-met"}.with("gap", 0.25));
  EXPECT_EQ(words("[each subjects(, )#=0?first {subjects}|#<2?{subjects} {seconds:.1f} of {steps:.0f}]", statement),
            "first ring, tree 2.0 of 8");
  EXPECT_EQ(words("[each where(; )at {where}]", statement), "at here; at there");
  EXPECT_EQ(words("[each parts(; ){parts} (+{parts.gap:%})] {parts-1}", statement),
            "workers twice as fast as xeon (+50.0 %); reaches it (+25.0 %) 1");
  EXPECT_EQ(words("[all( and )steps=8?eight|other?other|{steps}]", statement), "eight and 8");
}

TEST(SentenceTemplate, RefusesWhatIsNoTemplate) {
  for (const char* text : {"[a", "a]", "{name", "{name:no-unit}", "{Name}", "{}", "[each list a]", "[all(, a]"})
    EXPECT_THROW(SentenceTemplate{text}, std::invalid_argument) << text;
}

TEST(StatementRows, HaveATemplateOrAFunction) {
  std::set<std::string> phrases;
  for (const StatementRow& row : statement_rows()) {
    EXPECT_TRUE(row.words || words::function_of(row.kind) != nullptr) << row.kind;
    EXPECT_EQ(row.when.empty(), row.kind.starts_with('>')) << row.kind;
    if (!row.words) continue;
    for (const std::string& phrase : row.words->phrases()) {
      EXPECT_NO_THROW(template_of(phrase)) << row.kind;
      phrases.insert(phrase);
    }
  }
  for (const StatementRow& row : statement_rows())
    EXPECT_TRUE(!row.when.empty() || phrases.contains(row.kind)) << row.kind << " is in no row";
}

/// Returns all quoted texts in the source code of src/.
std::set<std::string, std::less<>> quoted_in_sources() {
  std::set<std::string, std::less<>> quoted;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(DADSIM_SOURCE_DIR "/src")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const std::string_view part : split_at(text, '"')) {
      if (part.size() < 40) quoted.emplace(part);
    }
  }
  return quoted;
}

TEST(StatementRows, ReadValuesThatStatementsAreGiven) {
  const auto quoted = quoted_in_sources();
  // Code may compose a name: "before_per_" + what, name + "_low".
  const auto is_given = [&](const std::string& name) {
    if (quoted.contains(name)) return true;
    for (std::size_t at = name.find('_'); at != name.npos; at = name.find('_', at + 1)) {
      if (quoted.contains(name.substr(0, at + 1)) || quoted.contains(name.substr(at))) return true;
    }
    return false;
  };
  for (const StatementRow& row : statement_rows()) {
    if (!row.words) continue;
    for (const std::string& name : row.words->names()) {
      const bool built_in = name == "subjects" || name == "parts" || name == "#";
      EXPECT_TRUE(built_in || is_given(name)) << row.kind << ": " << name;
    }
  }
}

}  // namespace
}  // namespace dadsim::report
