#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "scenario/fake_catalog.hpp"
#include "scenario/language/rule.hpp"

namespace dadsim::test {
namespace {

std::string page() { return file_content(std::string(DADSIM_SOURCE_DIR) + "/docs/scenario.md"); }

/// The content of "[name](../folder/name)", which leads there from the folder of the page.
std::string linked_file(const std::string& link) {
  const std::size_t open = link.find("](") + 2;
  return file_content(std::string(DADSIM_SOURCE_DIR) + "/docs/" + link.substr(open, link.find(')') - open));
}

// Each example names the shipped file it is from, in the line after it: "(from [name](path))".
TEST(Documentation, ExamplesAreExcerptsOfShippedFiles) {
  std::istringstream lines(page());
  std::vector<std::string> example;
  bool inside = false;
  int examples = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```xml") {
      example.clear();
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside && line.find("…") == std::string::npos) {
      example.push_back(line);
    } else if (line.starts_with("(from [")) {
      std::string text;
      for (const std::string& part : example) text += part + "\n";
      EXPECT_NE(linked_file(line).find(text), std::string::npos) << line << " does not hold\n" << text;
      ++examples;
    }
  }
  EXPECT_GE(examples, 9);
}

TEST(Documentation, NamesEveryElementAndAttribute) {
  const std::string text = page();
  for (const scenario::ElementRule& rule : scenario::vocabulary()) {
    EXPECT_NE(text.find("`<" + rule.name + ">`"), std::string::npos) << rule.name;
    for (const std::string& attribute : rule.attribute_names()) {
      EXPECT_NE(text.find("`" + attribute + "`"), std::string::npos) << rule.name << " " << attribute;
    }
  }
}

}  // namespace
}  // namespace dadsim::test
