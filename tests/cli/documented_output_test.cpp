// Runs the documentation's blocks that begin with "$ dadsim …" and compares their output. A line "…" stands for any
// lines. Learned numbers depend on the processor's kernels. A block therefore names its kernels ("$
// DADSIM_KERNELS=portable dadsim …"), or has the same output with all kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

#include "cli/chosen_runs.hpp"
#include "cli/process.hpp"
#include "cli/processors.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

struct DocumentedBlock {
  std::map<std::string, std::string> environment;
  std::vector<std::string> arguments, lines;

  bool names_its_kernels() const { return environment.contains("DADSIM_KERNELS"); }
  bool learns() const {
    return std::ranges::none_of(arguments, [](const std::string& word) {
      return word.ends_with(".xml") &&
             test::read_file(std::string(DADSIM_SOURCE_DIR "/") + word).find("<timing-only") != std::string::npos;
    });
  }
  /// Returns true if the block is run on this processor. A block without learning runs once, on the first processor. A
  /// block that names its kernels runs with the C library that differs most. On other processors these kernels give the
  /// same bits (CommandLine.SameSeedSameBytesWithEverySetOfKernels).
  bool is_tried_on(const test::Processor& processor) const {
    if (names_its_kernels()) return processor.old_library;
    return learns() || (processor.kernels == KernelSet::portable && !processor.old_library);
  }
};

/// Parses "$ DADSIM_KERNELS=portable dadsim explain a.xml", with dadsim or scripts/run; returns nothing for other
/// lines.
std::optional<DocumentedBlock> command_of(const std::string& line) {
  std::istringstream words(line);
  DocumentedBlock block;
  std::string word;
  if (!(words >> word) || word != "$") return std::nullopt;
  while (words >> word && word.find('=') != std::string::npos) {
    block.environment[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  if (word != "dadsim" && word != "scripts/run") return std::nullopt;
  while (words >> word) block.arguments.push_back(word);
  return block;
}

std::vector<DocumentedBlock> blocks_of(const std::string& page) {
  std::istringstream text(test::read_file(DADSIM_SOURCE_DIR "/" + page));
  std::vector<DocumentedBlock> blocks;
  bool inside = false;
  bool fence = false;
  for (std::string line; std::getline(text, line);) {
    const bool opened = fence;
    fence = line.starts_with("```");
    if (fence) {
      inside = false;
    } else if (std::optional<DocumentedBlock> block = command_of(line); opened && block) {
      inside = true;
      blocks.push_back(std::move(*block));
    } else if (inside) {
      blocks.back().lines.push_back(line);
    }
  }
  return blocks;
}

/// A number in a line of output.
struct Figure {
  double value = 0;
  double last_digit = 0;  ///< value of one unit in the last digit
};

/// Returns a line without its numbers, which are added to `figures`. Several blanks become one, since the width of a
/// column depends on its numbers. "2 min 6 s" is one number of seconds.
std::string words_of(const std::string& line, std::vector<Figure>& figures) {
  static const std::regex kNumber("([0-9]+) min ([0-9]+)(?= s)|[0-9]+(\\.[0-9]+)?");
  std::string words;
  auto at = line.begin();
  for (std::sregex_iterator found(line.begin(), line.end(), kNumber); found != std::sregex_iterator(); ++found) {
    words.append(at, line.begin() + found->position()).append("#");
    at = line.begin() + found->position() + found->length();
    const bool minutes = (*found)[1].matched;
    const auto decimals = static_cast<double>(std::max<std::ptrdiff_t>((*found)[3].length() - 1, 0));
    figures.push_back({minutes ? 60 * std::stod((*found)[1]) + std::stod((*found)[2]) : std::stod(found->str()),
                       std::pow(10, -decimals)});
  }
  words.append(at, line.end());
  words.erase(std::unique(words.begin(), words.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
              words.end());
  return words;
}

/// Returns true if two printed numbers differ by at most one unit in the last digit. The last bit of a number can
/// decide its rounding, and code paths of the C library differ in this bit.
bool reads_as(const std::string& printed, const std::string& documented) {
  std::vector<Figure> ours, theirs;
  if (words_of(printed, ours) != words_of(documented, theirs)) return false;
  return std::ranges::equal(ours, theirs, [](const Figure& a, const Figure& b) {
    return std::abs(a.value - b.value) <= 1.01 * std::max(a.last_digit, b.last_digit);
  });
}

TEST(DocumentedNumbers, MayDifferByTheirLastDigitAndWordsNotAtAll) {
  EXPECT_TRUE(reads_as("a step  takes 7.17 ms", "a step takes 7.16 ms"));
  EXPECT_TRUE(reads_as("saves 1.0 %, in 59.9 s", "saves 1.1 %, in 1 min 0 s"));
  EXPECT_TRUE(reads_as("2 min 7 s", "2 min 6 s"));
  EXPECT_FALSE(reads_as("2 min 8 s", "2 min 6 s"));
  EXPECT_FALSE(reads_as("saves 1.3 %", "saves 1.1 %"));
  EXPECT_FALSE(reads_as("a step takes 7.18 ms", "a step takes 7.16 ms"));
  EXPECT_FALSE(reads_as("a step takes 7.17 ms", "a step takes 7.16 s"));
  EXPECT_FALSE(reads_as("a step takes 7.17 ms", "a step takes"));
}

TEST(DocumentedCommands, NameTheirKernels) {
  const std::optional<DocumentedBlock> block = command_of("$ DADSIM_KERNELS=portable scripts/run explain a.xml");
  ASSERT_TRUE(block);
  EXPECT_EQ(block->environment.at("DADSIM_KERNELS"), "portable");
  EXPECT_EQ(block->arguments, (std::vector<std::string>{"explain", "a.xml"}));
  EXPECT_TRUE(block->names_its_kernels());
  EXPECT_TRUE(command_of("$ dadsim scenarios/hospitals.xml")->learns());
  EXPECT_FALSE(command_of("$ dadsim scenarios/questions/gpus.xml")->learns());
  EXPECT_FALSE(command_of("$ cat lab.csv"));
}

class DocumentedOutput : public testing::TestWithParam<std::tuple<std::string, test::Processor>> {};

TEST_P(DocumentedOutput, IsWhatIsPrinted) {
  const auto& [page, processor] = GetParam();
  if (!processor.missing().empty()) GTEST_SKIP() << processor.missing();
  const std::vector<DocumentedBlock> blocks = blocks_of(page);
  ASSERT_FALSE(blocks.empty());
  for (const DocumentedBlock& block : blocks) {
    if (!block.is_tried_on(processor)) continue;
    std::map<std::string, std::string> environment = processor.environment();
    for (const auto& [name, value] : block.environment) environment[name] = value;
    const test::Outcome outcome = test::run_dadsim(block.arguments, DADSIM_SOURCE_DIR, {}, environment);
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

std::string name_of_page(const testing::TestParamInfo<std::tuple<std::string, test::Processor>>& tested) {
  const std::string& page = std::get<0>(tested.param);
  const std::size_t from = page.rfind('/') + 1;
  std::string name = page.substr(from, page.find('.') - from) + "_" + std::get<1>(tested.param).name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Pages, DocumentedOutput,
                         testing::Combine(testing::Values("docs/explain.md", "docs/compare.md", "docs/plan.md",
                                                          "docs/scale-study.md", "docs/questions.md",
                                                          "docs/timing-only.md"),
                                          testing::ValuesIn(test::processors())),
                         name_of_page);
INSTANTIATE_TEST_SUITE_P(Readme, DocumentedOutput, testing::Values(std::tuple("README.md", test::processors().back())),
                         name_of_page);

/// Tests the README's answer with other kernels, for the runs that its first sentence names.
class ReadmeAnswer : public testing::TestWithParam<test::Processor> {};

TEST_P(ReadmeAnswer, HasTheSameRows) {
  if (!GetParam().missing().empty()) GTEST_SKIP() << GetParam().missing();
  const std::vector<std::string> documented = blocks_of("README.md").front().lines;
  const std::set<std::string> runs{"edad", "rank-dad (cap 16)"};
  const test::TemporaryFolder folder;
  const test::Outcome outcome = test::run_dadsim({folder.write("hospitals.xml", test::with_runs("hospitals", runs))},
                                                 DADSIM_SOURCE_DIR, {}, GetParam().environment());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream text(outcome.out);
  std::size_t rows = 0;
  for (std::string line; std::getline(text, line);) {
    if (std::ranges::none_of(
            runs, [&](const std::string& run) { return line.starts_with(run + " ") || line.starts_with(run + ":"); })) {
      continue;
    }
    if (line.find("first, in") != std::string::npos) continue;
    EXPECT_TRUE(std::ranges::any_of(documented, [&](const std::string& row) { return reads_as(line, row); })) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 2 * runs.size()) << "a row of the table and a sentence of each";
}

INSTANTIATE_TEST_SUITE_P(Kernels, ReadmeAnswer, testing::ValuesIn(test::with_other_kernels()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace dadsim::cli
