#include "cli/print.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "support/atomic_file.hpp"
#include "support/human.hpp"
#include "support/split.hpp"
#include "support/terminal.hpp"

namespace dadsim::cli {
namespace {

/// Breaks lines that are wider than the terminal; files and pipes get unbroken lines.
std::string fitted(std::string_view text) {
  std::string shown = for_terminal(text);
  if (!columns_of_terminal(STDOUT_FILENO)) return shown;
  const std::size_t width = report::table_width();
  std::string result;
  for (const std::string_view line : lines_of(shown)) {
    if (display_width(line) <= width) {
      result.append(line).push_back('\n');
    } else {
      const std::size_t indent = std::min(std::min(line.find_first_not_of(' '), line.size()) + 2, width / 2);
      result += wrapped(line, width, indent);
    }
  }
  return result;
}

}  // namespace

void print(std::string_view text) { write_to_standard_output(fitted(text)); }

void print(const report::Summary& summary) {
  const bool coloured = is_coloured(STDOUT_FILENO);
  std::string text;
  const auto add = [&](const std::string& part, const char* weight) {
    if (part.empty()) return;
    if (!text.empty()) text += '\n';
    const std::string shown = fitted(part);
    if (!coloured || *weight == '\0') {
      text += shown;
    } else {
      text += weight + shown.substr(0, shown.find_last_not_of('\n') + 1) + "\033[0m\n";
    }
  };
  add(summary.answer, "\033[1m");
  add(summary.body, "");
  add(summary.background, "\033[2m");
  write_to_standard_output(text);
}

void fit_standard_output() {
  if (const auto columns = columns_of_terminal(STDOUT_FILENO)) report::fit_tables_to(*columns);
}

}  // namespace dadsim::cli
