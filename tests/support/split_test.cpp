#include "support/split.hpp"

#include <gtest/gtest.h>

namespace dadsim {
namespace {

using Parts = std::vector<std::string_view>;

Parts all_lines(std::string_view text) {
  Parts lines;
  for (const std::string_view line : lines_of(text)) lines.push_back(line);
  return lines;
}

TEST(Split, PartsAreOneMoreThanSeparators) {
  EXPECT_EQ(split_at("a,,b,", ','), (Parts{"a", "", "b", ""}));
  EXPECT_EQ(split_at("", ','), Parts{""});
}

TEST(Split, LinesAreThoseOfGetline) {
  EXPECT_EQ(all_lines("a\n\nb\n"), (Parts{"a", "", "b"}));
  EXPECT_EQ(all_lines("a\r\nb"), (Parts{"a\r", "b"}));
  EXPECT_EQ(all_lines("\n"), Parts{""});
  EXPECT_EQ(all_lines(""), Parts{});
}

TEST(Split, WordsStandBetweenBlanks) {
  EXPECT_EQ(words_of("  one\ttwo\r\n three"), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_TRUE(words_of(" \n").empty());
  EXPECT_TRUE(words_of("").empty());
}

}  // namespace
}  // namespace dadsim
