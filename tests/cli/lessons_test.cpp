#include "cli/lessons.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "cli/lesson_checks.hpp"
#include "cli/process.hpp"
#include "cli/processors.hpp"
#include "quick_kernels.hpp"
#include "report/html/lesson.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;
using test::Results;

const std::filesystem::path kLessonFolder = std::filesystem::path(DADSIM_SOURCE_DIR) / "docs" / "lessons";

nlohmann::json json_of(const report::LessonBlock& block, const test::Processor& processor) {
  std::vector<std::string> arguments = arguments_of(block.command);
  for (const char* more : {"--json", "-", "--quiet"}) arguments.emplace_back(more);
  const double before = test::cpu_seconds_of_children();
  const Outcome outcome = test::run_dadsim(arguments, kLessonFolder, {}, processor.environment());
  std::cout << block.command << ": " << test::cpu_seconds_of_children() - before << " s of processor time\n";
  EXPECT_EQ(outcome.exit_code, 0) << block.command << "\n" << outcome.err;
  return outcome.exit_code == 0 ? nlohmann::json::parse(outcome.out) : nlohmann::json::object();
}

std::string text_of(const LessonFile& lesson) { return test::read_file(kLessonFolder / std::string(lesson.name)); }

/// Returns one processor for each set of kernels except the portable set, and an old processor.
std::vector<test::Processor> processors_of_lessons() {
  std::vector<test::Processor> some = test::with_other_kernels();
  some.push_back(test::processors().back());
  return some;
}

class LessonNumbers : public ::testing::TestWithParam<std::tuple<std::size_t, test::Processor>> {};

TEST_P(LessonNumbers, AreWhatTheirCommandsGive) {
  const auto& [number, processor] = GetParam();
  if (!processor.missing().empty()) GTEST_SKIP() << processor.missing();
  const std::string markdown = text_of(lessons()[number]);
  const std::vector<report::LessonBlock> blocks = report::blocks_of(markdown);
  std::set<std::string> all;
  for (const report::LessonBlock& block : blocks) all.insert(block.name);
  const std::vector<test::LessonClaim> claims = test::claims_of(markdown);
  // Learned results depend on the processor. Portable kernels are tested with the C library that differs most, as for
  // pages that name their kernels (documented_output_test.cpp). There, all blocks are run.
  std::set<std::string> tried = processor.old_library ? all : std::set<std::string>();
  for (const test::LessonClaim& claim : claims) {
    if (test::is_learned(claim)) tried.merge(test::blocks_of(claim, all));
  }
  Results results;
  for (const report::LessonBlock& block : blocks) {
    if (tried.contains(block.name)) results[block.name] = json_of(block, processor);
  }
  for (const test::LessonClaim& claim : claims) {
    if (!std::ranges::includes(tried, test::blocks_of(claim, all))) continue;
    EXPECT_EQ(test::wrong_with(claim, results), "") << claim.words;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LessonNumbers,
                         ::testing::Combine(::testing::Range<std::size_t>(0, 8),
                                            ::testing::ValuesIn(processors_of_lessons())),
                         [](const auto& tested) {
                           return std::to_string(std::get<0>(tested.param) + 1) + "_" + std::get<1>(tested.param).name;
                         });

class Lessons : public ::testing::TestWithParam<std::size_t> {
 protected:
  static const LessonFile& lesson() { return lessons()[GetParam()]; }
  static std::string text() { return text_of(lesson()); }
};

TEST_P(Lessons, SayWhereTheirNumbersAreFrom) {
  const std::string markdown = text();
  const std::vector<test::LessonClaim> claims = test::claims_of(markdown);
  EXPECT_GE(claims.size(), 10U);
  std::size_t comments = 0;
  for (std::size_t at = markdown.find("<!--"); at != std::string::npos; at = markdown.find("<!--", at + 1)) ++comments;
  EXPECT_EQ(comments, claims.size()) << "a comment that is not understood stands behind no number";
}

TEST_P(Lessons, HaveQuestionsAndNoNumberInAnAnswerWithoutItsSource) {
  const std::string markdown = text();
  EXPECT_EQ(test::unfounded_numbers(markdown), std::vector<std::string>());
  EXPECT_EQ(test::given_away(markdown), std::vector<std::string>()) << "the command belongs into the answer";
  std::size_t questions = 0;
  for (std::size_t at = markdown.find("<details>"); at != std::string::npos; at = markdown.find("<details>", at + 1)) {
    ++questions;
  }
  EXPECT_GE(questions, 4U);
  for (const char* part : {"**Aim.**", "**You should know**", "## Exercises", "## On a large cluster", "glossary.md"}) {
    EXPECT_NE(markdown.find(part), std::string::npos) << part;
  }
}

TEST_P(Lessons, AreBuiltInAsTheyStandAndBecomePagesThatLoadNothing) {
  EXPECT_EQ(lesson().text, text());
  std::vector<report::LessonRun> runs;
  for (const report::LessonBlock& block : report::blocks_of(lesson().text)) {
    runs.push_back({block.name, "Result", "<p class=\"x\">a & b</p>"});
  }
  const std::string page = report::lesson_page(lesson().text, runs);
  for (const char* outside : {"src=\"http", "href=\"http", "src=\"/", "url(", "@import", "<link", "<img", ".md\">",
                              "<!-- base", "{{", "data-run"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  std::size_t frames = 0;
  for (std::size_t at = page.find("<iframe"); at != std::string::npos; at = page.find("<iframe", at + 1)) ++frames;
  EXPECT_EQ(frames, runs.size());
  EXPECT_NE(page.find("srcdoc=\"&lt;p class=&quot;x&quot;&gt;a &amp; b&lt;/p&gt;\""), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, Lessons, ::testing::Range<std::size_t>(0, 8));

TEST(LessonTexts, AreEight) { EXPECT_EQ(lessons().size(), 8U); }

TEST(LessonTexts, ScenariosAreTheOnesInTheDocs) {
  EXPECT_EQ(lesson_scenarios().size(), 8U);
  for (const LessonFile& scenario : lesson_scenarios()) {
    EXPECT_EQ(scenario.text, test::read_file(kLessonFolder / std::string(scenario.name)));
  }
}

// Changes single digits of a lesson, each of which the check must reject.
TEST(LessonChecks, FindWhatIsWrong) {
  const Results results{{"base", {{"runs", {{{"label", "dad, one"}, {"bytes", 99968}, {"times", {0.5, 0.25}}}}}}},
                        {"wide", {{"rows", {{{"size", 1024}, {"seconds", 0.0814}}}}, {"bytes", 199936}}}};
  const auto verdict = [&](const std::string& markdown) {
    const std::vector<test::LessonClaim> claims = test::claims_of(markdown);
    return claims.size() == 1 ? test::wrong_with(claims[0], results) : std::to_string(claims.size()) + " claims";
  };
  EXPECT_EQ(verdict("so **100 kB**<!-- base: runs[dad, one].bytes --> go"), "");
  EXPECT_EQ(verdict("so 99,968 bytes<!-- base: runs[0].bytes --> go"), "");
  EXPECT_EQ(verdict("**81.4 ms**<!-- wide: rows[size=1024].seconds -->"), "");
  EXPECT_EQ(verdict("**2 times**<!-- base: wide.bytes / runs[dad, one].bytes -->"), "");
  EXPECT_EQ(verdict("**25 %**<!-- base: runs[0].times[-1] -->"), "");
  EXPECT_EQ(verdict("**1.5**<!-- base: (runs[0].times[0] + 0.25) * 2 -->"), "");
  EXPECT_EQ(verdict("**20 to 25 %**<!-- base: runs[0].times[-1] -->"), "");
  EXPECT_EQ(verdict("**1,020 to 1,025**<!-- wide: rows[0].size -->"), "");
  EXPECT_NE(verdict("**20 to 24 %**<!-- base: runs[0].times[-1] -->"), "");
  EXPECT_NE(verdict("**26 to 30 %**<!-- base: runs[0].times[-1] -->"), "");
  EXPECT_NE(verdict("so **101 kB**<!-- base: runs[dad, one].bytes --> go"), "");
  EXPECT_NE(verdict("so 99,969 bytes<!-- base: runs[0].bytes --> go"), "");
  EXPECT_NE(verdict("**81.5 ms**<!-- wide: rows[size=1024].seconds -->"), "");
  EXPECT_NE(verdict("**81.4 s**<!-- wide: rows[size=1024].seconds -->"), "");
  EXPECT_NE(verdict("**100 kB**<!-- base: runs[edad].bytes -->"), "");
  EXPECT_NE(verdict("**100 kB**<!-- other: runs[0].bytes -->"), "");
  EXPECT_NE(verdict("**100 kB**<!-- base: runs[0].bites -->"), "");
  EXPECT_NE(verdict("**100 kB**<!-- base: runs[0].bytes / -->"), "");
  EXPECT_EQ(test::unfounded_numbers("**9** <details>\n**7 kB** and **a** 6 **8**<!-- a: b --></details>"),
            std::vector<std::string>{"**7 kB**"});
}

TEST(LessonChecks, FindWhatACommandGivesAway) {
  const std::string question = "\n## Exercises\n\n1. Which line makes it 100 ms?\n\n";
  const std::string command = "```sh up\ndadsim a.xml --set b.up=68.3Mbps --set training.epochs=1\n```\n\n";
  const std::string open = "<details><summary>Solutions</summary>\n\n";
  const std::string solution = "1. 68.2; with 68.3 it is **99.8 ms**<!-- up: x -->.\n\n</details>\n";
  EXPECT_EQ(test::given_away(question + command + open + solution), std::vector<std::string>{"b.up=68.3"});
  EXPECT_EQ(test::given_away(question + open + command + solution), std::vector<std::string>());
  EXPECT_EQ(test::given_away("\n## Try 68.3 Mbit/s\n\n" + command + open + solution), std::vector<std::string>());
}

TEST(LessonCommand, ListsWritesAndRefuses) {
  const test::QuickKernels quick;
  const Outcome list = test::run_dadsim({"lesson"});
  EXPECT_EQ(list.exit_code, 0);
  for (const LessonFile& lesson : lessons()) EXPECT_NE(list.out.find(report::title_of(lesson.text)), std::string::npos);
  const test::TemporaryFolder folder;
  const Outcome made = test::run_dadsim({"lesson", "4"}, folder.path());
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(test::read_file(folder.path() / "lesson-4.xml"), test::read_file(kLessonFolder / "lesson-4.xml"));
  const std::string page = test::read_file(folder.path() / "lesson-4.html");
  EXPECT_NE(page.find("<iframe"), std::string::npos);
  EXPECT_NE(page.find("id=&quot;result&quot;"), std::string::npos);
  const Outcome none = test::run_dadsim({"lesson", "9"}, folder.path());
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("a number from 1 to 8"), std::string::npos);
}

TEST(LessonCommand, LeavesAScenarioThatWasChanged) {
  const test::QuickKernels quick;
  const test::TemporaryFolder folder;
  std::string changed = test::read_file(kLessonFolder / "lesson-4.xml");
  const auto change = [&](const std::string& from, const std::string& to) {
    const std::size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
  };
  change("seed=\"1\"", "seed=\"2\"");
  // One run that learns little, so that its pages are written sooner.
  change("train=\"800\" test=\"200\"", "train=\"80\" test=\"40\"");
  change("epochs=\"2\"", "epochs=\"1\"");
  change("<run algorithm=\"rank-dad\" label=\"rank 1\" cap=\"1\"/>", "");
  std::ofstream(folder.path() / "lesson-4.xml") << changed;
  const Outcome made = test::run_dadsim({"lesson", "4"}, folder.path());
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(made.err.find("dadsim keeps it and shows its results"), std::string::npos);
  EXPECT_EQ(test::read_file(folder.path() / "lesson-4.xml"), changed);
}

}  // namespace
}  // namespace dadsim::cli
