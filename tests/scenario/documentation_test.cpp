#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "scenario/fake_catalog.hpp"
#include "scenario/language/rule.hpp"
#include "scenario/language/schema.hpp"

namespace dadsim::test {
namespace {

std::string page() { return file_content(std::string(DADSIM_SOURCE_DIR) + "/docs/scenario.md"); }

/// Returns the content of the file in a link "[name](../folder/name)", relative to the page's folder.
std::string linked_file(const std::string& link) {
  const std::size_t open = link.find("](") + 2;
  return file_content(std::string(DADSIM_SOURCE_DIR) + "/docs/" + link.substr(open, link.find(')') - open));
}

// The line after each example names the shipped file that it is an excerpt of: "(from [name](path))".
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

/// Returns a number in the page's notation: "1,000", "10⁶", "0.001".
std::string number_text(double value) {
  if (std::abs(value) >= 1e6) {
    const double power = std::log10(std::abs(value));
    if (power != std::round(power)) return value > 0 ? "2⁵³" : "−2⁵³";  // all other bounds are powers of ten
    std::string digits;
    for (const char digit : std::to_string(std::lround(power))) {
      static const std::vector<std::string> kRaised{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
      digits += kRaised.at(static_cast<std::size_t>(digit - '0'));
    }
    return "10" + digits;
  }
  std::string text = fmt::format("{}", value);
  if (text.size() > 3 && text.find_first_not_of("0123456789") == std::string::npos) text.insert(text.size() - 3, ",");
  return text;
}

std::string range_text(const scenario::Range& range) {
  const std::string low = number_text(range.minimum);
  if (std::isinf(range.maximum)) return (range.open_minimum ? "above " : "from ") + low;
  const std::string high = number_text(range.maximum);
  if (range.open_minimum) return fmt::format("above {}, {} {}", low, range.open_maximum ? "below" : "at most", high);
  return fmt::format("{} … {}{}", low, range.open_maximum ? "below " : "", high);
}

/// Returns the meaning of an attribute, as on the page or in another list.
std::string words_of(const std::string& element, const scenario::AttributeRule& rule) {
  const std::string words = rule.words.empty() ? scenario::attribute_words(element, rule.name) : rule.words;
  EXPECT_NE(words, "") << element << "." << rule.name << " needs a meaning in docs/scenario.md";
  return words;
}

/// Returns the possible values of an attribute, without those that its prose lists already.
std::string range_of(const scenario::AttributeRule& rule, const std::string& prose) {
  using Of = scenario::Kind::Of;
  switch (rule.kind.of) {
    case Of::text:
      return rule.kind.catalog.empty() ? "" : "`dadsim " + rule.kind.catalog + "`";
    case Of::any_text:
      return "";
    case Of::seed:
      return "0 … 2⁶⁴ − 1";
    case Of::quantity:
      return range_text(rule.kind.range) + ", with unit";
    case Of::integer:
    case Of::real:
      return range_text(rule.kind.range);
    case Of::integers:
    case Of::reals:
      return range_text(rule.kind.range) + "; spaces between several";
    case Of::word_or_count:
      return fmt::format("`{}`, or {}", rule.kind.names.front(), range_text(rule.kind.range));
    case Of::truth:
    case Of::name:
      break;
  }
  const bool told = std::ranges::all_of(
      rule.kind.names, [&](const std::string& name) { return prose.find("`" + name + "`") != std::string::npos; });
  return told ? "" : fmt::format("`{}`", fmt::join(rule.kind.names, "`, `"));
}

std::string default_of(const scenario::AttributeRule& rule) {
  if (rule.required) return "—";
  if (!rule.left_out.empty() || rule.fallback.empty()) return rule.left_out;
  return "`" + rule.fallback + "`";
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (std::string cell : cells) {
    for (std::size_t bar = cell.find('|'); bar != std::string::npos; bar = cell.find('|', bar + 2))
      cell.insert(bar, "\\");
    row += cell.empty() ? " |" : " " + cell + " |";
  }
  return row;
}

/// Returns the table of attributes of one or several elements.
std::vector<std::string> table_of(const std::vector<std::string>& elements) {
  const bool several = elements.size() > 1;
  std::vector<std::string> rows{
      several ? "| element | attribute | meaning | range | default |" : "| attribute | meaning | range | default |",
      several ? "|---|---|---|---|---|" : "|---|---|---|---|"};
  for (const std::string& name : elements) {
    const scenario::ElementRule* rule = scenario::find_rule(name);
    if (rule == nullptr) return {"no element '" + name + "'"};
    if (several) rows.push_back(row_of({"`<" + name + ">`", "", rule->words, "", ""}));
    const auto add = [&](std::vector<std::string> cells) {
      if (several) cells.insert(cells.begin(), "");
      rows.push_back(row_of(cells));
    };
    for (const scenario::AttributeRule& attribute : rule->attributes) {
      const std::string prose = words_of(name, attribute);
      add({"`" + attribute.name + "`", prose, range_of(attribute, prose), default_of(attribute)});
    }
    if (!rule->parameters.empty()) add({"any other", rule->parameters, "", ""});
  }
  return rows;
}

std::string joined(const std::vector<std::string>& lines) { return fmt::format("{}\n", fmt::join(lines, "\n")); }

// The table after a line "<!-- attributes of a b -->" must equal the attributes of the elements a and b in the
// language.
TEST(Documentation, TablesAreThoseOfTheLanguage) {
  constexpr std::string_view kMark = "<!-- attributes of ";
  std::istringstream lines(page());
  int tables = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kMark)) continue;
    std::istringstream words(line.substr(kMark.size()));
    std::vector<std::string> elements;
    for (std::string word; words >> word && word != "-->";) elements.push_back(word);
    std::vector<std::string> table;
    while (std::getline(lines, line) && line.starts_with('|')) table.push_back(line);
    EXPECT_EQ(joined(table), joined(table_of(elements))) << "docs/scenario.md should have\n"
                                                         << joined(table_of(elements));
    ++tables;
  }
  EXPECT_GE(tables, 30);
}

TEST(Documentation, NamesEveryElementAndAttribute) {
  const std::string text = page();
  for (const scenario::ElementRule& rule : scenario::vocabulary()) {
    EXPECT_NE(text.find("`<" + rule.name + ">`"), std::string::npos) << rule.name;
    for (const scenario::AttributeRule& attribute : rule.attributes) {
      EXPECT_NE(text.find("`" + attribute.name + "`"), std::string::npos) << rule.name << " " << attribute.name;
      words_of(rule.name, attribute);
    }
  }
}

}  // namespace
}  // namespace dadsim::test
