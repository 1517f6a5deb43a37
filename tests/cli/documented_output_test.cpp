// What pages of the documentation print is what the program prints: blocks that begin with "$ dadsim …" are run. A line
// "…" stands for any that are left out.
#include <gtest/gtest.h>

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
        while (at < printed.size() && printed[at] != line) ++at;
      }
      ASSERT_LT(at, printed.size()) << "nothing printed reads: " << line;
      EXPECT_EQ(printed[at], line);
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
