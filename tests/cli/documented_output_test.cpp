// What pages of the documentation print is what the program prints: blocks that begin with "$ dadsim …" are run. A line
// "…" stands for any that are left out. What was learned differs in its last digits between processors, whose C library
// takes other ways to exponentials and logarithms: words have to be the same, and numbers near.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>

#include "cli/process.hpp"

namespace dadsim::cli {
namespace {

struct DocumentedBlock {
  std::vector<std::string> arguments, lines;
};

std::vector<DocumentedBlock> blocks_of(const std::string& page) {
  std::istringstream text(test::read_file(DADSIM_SOURCE_DIR "/docs/" + page));
  std::vector<DocumentedBlock> blocks;
  bool inside = false;
  bool fence = false;
  for (std::string line; std::getline(text, line);) {
    const bool opened = fence;
    fence = line.starts_with("```");
    if (fence) {
      inside = false;
    } else if (opened && line.starts_with("$ dadsim ")) {
      inside = true;
      blocks.emplace_back();
      std::istringstream words(line.substr(9));
      for (std::string word; words >> word;) blocks.back().arguments.push_back(word);
    } else if (inside) {
      blocks.back().lines.push_back(line);
    }
  }
  return blocks;
}

/// A line with its numbers taken out, which follow in `numbers`. Blanks are one: columns are as wide as their numbers.
std::string words_of(const std::string& line, std::vector<double>& numbers) {
  static const std::regex kNumber("[0-9]+(\\.[0-9]+)?");
  std::string words;
  std::string::const_iterator at = line.begin();
  for (std::sregex_iterator found(line.begin(), line.end(), kNumber); found != std::sregex_iterator(); ++found) {
    words.append(at, line.begin() + found->position()).append("#");
    numbers.push_back(std::stod(found->str()));
    at = line.begin() + found->position() + found->length();
  }
  words.append(at, line.end());
  words.erase(std::unique(words.begin(), words.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
              words.end());
  return words;
}

/// Between the processors that it was tried on, figures of learned ranks differ by 1 %.
constexpr double kNear = 0.03;

bool reads_as(const std::string& printed, const std::string& documented) {
  std::vector<double> ours, theirs;
  if (words_of(printed, ours) != words_of(documented, theirs)) return false;
  return std::ranges::equal(ours, theirs, [](double a, double b) {
    return std::abs(a - b) <= std::max(kNear * std::max(a, b), 0.11);  // a tenth: the last digit of per cents
  });
}

TEST(DocumentedNumbers, MayDifferByLittleAndWordsNotAtAll) {
  EXPECT_TRUE(reads_as("a step  takes 7.17 ms", "a step takes 7.16 ms"));
  EXPECT_TRUE(reads_as("saves 1.0 %", "saves 1.1 %"));
  EXPECT_FALSE(reads_as("a step takes 7.5 ms", "a step takes 7.16 ms"));
  EXPECT_FALSE(reads_as("a step takes 7.17 ms", "a step takes 7.17 s"));
  EXPECT_FALSE(reads_as("a step takes 7.17 ms", "a step takes"));
}

class DocumentedOutput : public testing::TestWithParam<std::string> {};

TEST_P(DocumentedOutput, IsWhatIsPrinted) {
  const std::vector<DocumentedBlock> blocks = blocks_of(GetParam());
  ASSERT_FALSE(blocks.empty());
  for (const DocumentedBlock& block : blocks) {
    const test::Outcome outcome = test::run_dadsim(block.arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<std::string> printed;
    std::istringstream text(outcome.out);
    for (std::string line; std::getline(text, line);) printed.push_back(line);
    std::size_t at = 0;
    bool left_out = false;
    for (const std::string& line : block.lines) {
      if (line == "…") {
        left_out = true;
        continue;
      }
      if (left_out) {
        while (at < printed.size() && !reads_as(printed[at], line)) ++at;
      }
      ASSERT_LT(at, printed.size()) << "nothing printed reads: " << line;
      EXPECT_TRUE(reads_as(printed[at], line)) << "printed:    " << printed[at] << "\ndocumented: " << line;
      ++at;
      left_out = false;
    }
    EXPECT_TRUE(left_out || at == printed.size()) << "more is printed";
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, DocumentedOutput, testing::Values("explain.md", "compare.md"),
                         [](const auto& tested) { return tested.param.substr(0, tested.param.find('.')); });

}  // namespace
}  // namespace dadsim::cli
