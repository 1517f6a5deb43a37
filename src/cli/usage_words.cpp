#include "cli/usage_words.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "support/split.hpp"

namespace dadsim::cli {
namespace {

std::string without_blanks_around(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// The name of a value is in capitals, with one blank before it: "PATH=VALUE", "I/N".
bool is_name_of_value(const std::string& word) {
  return !word.empty() && std::ranges::none_of(word, [](unsigned char c) { return std::islower(c) != 0; });
}

}  // namespace

std::string words_of_options(const boost::program_options::options_description& options) {
  std::ostringstream text;
  text.exceptions(std::ios::badbit);  // makes a bad_alloc leave the stream
  text << options;
  return text.str();
}

std::vector<OptionWords> options_in(const std::string& usage) {
  std::vector<OptionWords> options;
  bool inside = false;
  for (const std::string_view said : lines_of(usage)) {
    const std::string line(said);
    if (line.starts_with("  --")) {
      OptionWords option;
      std::size_t end = std::min(line.find(' ', 2), line.size());
      option.name = line.substr(2, end - 2);
      const std::size_t next = std::min(line.find(' ', std::min(end + 1, line.size())), line.size());
      if (end < line.size() && is_name_of_value(line.substr(end + 1, next - end - 1))) {
        option.value = line.substr(end + 1, next - end - 1);
        end = next;
      }
      option.help = without_blanks_around(line.substr(end));
      options.push_back(std::move(option));
      inside = true;
    } else if (inside && line.starts_with("    ")) {
      std::string& help = options.back().help;
      help += (help.empty() ? "" : " ") + without_blanks_around(line);
    } else {
      inside = false;
    }
  }
  return options;
}

std::string before_options(const std::string& usage) {
  const std::size_t title = usage.find("\nOptions:");
  return usage.substr(0, title == std::string::npos ? title : title + 1);
}

}  // namespace dadsim::cli
