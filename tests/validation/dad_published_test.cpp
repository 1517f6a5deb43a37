// Expects that the page of comparisons has every published figure of dAD's authors, with a figure of dadsim or a note
// that it is missing.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "validation/measured.hpp"

namespace dadsim {
namespace {

TEST(DadPublished, WhatIsNotReproducedIsNamed) {
  std::ifstream in(std::string(DADSIM_SOURCE_DIR) + "/docs/effective-ranks.md");
  std::stringstream whole;
  whole << in.rdbuf();
  const std::string page = whole.str();
  const std::size_t missing = page.find("## Published and not reproduced here");
  ASSERT_NE(missing, std::string::npos);
  const std::string shown_part = page.substr(0, missing);
  const std::string missing_part = page.substr(missing, page.find("\n## ", missing + 1) - missing);
  std::map<std::string, int> of_spoken_digits;
  for (auto& row : test::measured("dad-published")) {
    const bool is_missing = row["page"] == "missing";
    const std::string& name = row["what"] == "accuracy" ? row["run"] : row["what"];
    const std::string line = "| " + name + " | " + row["value"] + " |";
    const std::size_t at = is_missing ? missing_part.find(line) : shown_part.find(row["value"]);
    EXPECT_NE(at, std::string::npos) << line;
    if (row["data"] == "SpokenArabicDigits") ++of_spoken_digits[row["what"] == "accuracy" ? "accuracies" : "ranks"];
  }
  EXPECT_EQ(of_spoken_digits["accuracies"], 13);
  EXPECT_EQ(of_spoken_digits["ranks"], 5);
}

}  // namespace
}  // namespace dadsim
