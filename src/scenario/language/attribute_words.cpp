#include "scenario/language/attribute_words.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "scenario/scenario.md.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

/// Meanings by element and attribute.
using PageWords = std::map<std::pair<std::string, std::string>, std::string, std::less<>>;

/// Returns the cells of a row without blanks around them; a bar in a cell has a backslash before it.
std::vector<std::string> row_cells(std::string_view row) {
  std::vector<std::string> cells(1);
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] == '|') {
      cells.emplace_back();
    } else if (row.substr(i, 2) != "\\|") {
      cells.back() += row[i];
    } else {
      cells.back() += row[++i];
    }
  }
  for (std::string& cell : cells) {
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
  }
  return cells;
}

/// Reads the tables after lines "<!-- attributes of a b -->". Those of several elements name each in a row of its own.
PageWords read_page() {
  constexpr std::string_view kMark = "<!-- attributes of ";
  PageWords words;
  std::vector<std::string> elements;  // and "-->"
  std::string element;
  for (const std::string_view line : lines_of(tables::kScenarioPage.text)) {
    if (line.starts_with(kMark)) {
      elements = words_of(line.substr(kMark.size()));
      element = elements.front();
    } else if (!line.starts_with('|')) {
      elements.clear();
    } else if (!elements.empty()) {
      const std::vector<std::string> cells = row_cells(line);
      const std::size_t name = elements.size() > 2 ? 1 : 0;
      if (name == 1 && cells[0].starts_with("`<")) element = cells[0].substr(2, cells[0].size() - 4);
      if (cells[name].starts_with('`'))
        words[{element, cells[name].substr(1, cells[name].size() - 2)}] = cells[name + 1];
    }
  }
  return words;
}

}  // namespace

std::string attribute_words(std::string_view element, std::string_view attribute) {
  static const PageWords kPageWords = read_page();
  const auto found = kPageWords.find({std::string(element), std::string(attribute)});
  return found == kPageWords.end() ? "" : found->second;
}

}  // namespace dadsim::scenario
