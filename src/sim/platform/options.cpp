#include "sim/platform/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "sim/platform.hpp"
#include "sim/platform/engine.hpp"
#include "sim/platform/markup.hpp"
#include "sim/platform/state_profiles.hpp"
#include "support/diagnostics.hpp"
#include "support/terminal.hpp"

namespace dadsim::sim {
namespace {

constexpr std::string_view kBegin = "<config";

/// Where what begins with `<` at `begin` ends: a comment, a section of characters, an instruction, or a tag, in whose
/// values a > may stand.
std::size_t end_of_markup(std::string_view text, std::size_t begin) {
  const std::string_view rest = text.substr(begin);
  for (const auto& [open, close] :
       {std::pair<std::string_view, std::string_view>{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}}) {
    if (!rest.starts_with(open)) continue;
    const std::size_t end = rest.find(close, open.size());
    return end == std::string_view::npos ? text.size() : begin + end + close.size();
  }
  char quote = '\0';
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (quote != '\0') {
      if (text[i] == quote) quote = '\0';
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == '>') {
      return i + 1;
    }
  }
  return text.size();
}

bool begins_config(std::string_view tag) {
  return tag.starts_with(kBegin) && tag.size() > kBegin.size() &&
         std::string_view(" \t\r\n/>").find(tag[kBegin.size()]) != std::string_view::npos;
}

}  // namespace

std::vector<PlatformOption> options_in(const std::string& text) {
  std::vector<PlatformOption> options;
  if (text.find(kBegin) == std::string::npos) return options;
  Markup markup(text);
  bool in_config = false;
  while (const auto piece = markup.next()) {
    if (piece == Markup::Piece::doctype) continue;
    const std::string name = markup.name();
    if (name == "config") {
      in_config = piece == Markup::Piece::start && !markup.is_empty();
    } else if (name == "prop" && in_config && piece == Markup::Piece::start) {
      options.push_back({markup.attribute("id").value_or(""), markup.attribute("value").value_or(""), markup.line()});
    }
  }
  return options;
}

std::string without_options(const std::string& text) {
  std::string copy = text;
  bool inside = false;
  std::size_t at = 0;
  for (std::size_t begin = text.find('<'); begin != std::string::npos; begin = text.find('<', at)) {
    const std::size_t end = end_of_markup(text, begin);
    const std::string_view tag = std::string_view(text).substr(begin, end - begin);
    const bool begins = !inside && begins_config(tag);
    if (inside || begins) {
      // What stands before it belongs to the element as well.
      std::replace_if(
          copy.begin() + static_cast<std::ptrdiff_t>(begins ? begin : at),
          copy.begin() + static_cast<std::ptrdiff_t>(end), [](char c) { return c != '\n'; }, ' ');
    }
    if (begins)
      inside = !tag.ends_with("/>");
    else if (inside && tag.starts_with("</config"))
      inside = false;
    at = end;
  }
  return copy;
}

std::vector<std::string> passed_over_of(const spec::PlatformSpec& platform) {
  const auto* file = std::get_if<spec::PlatformFileSpec>(&platform.what);
  if (file == nullptr) return {};
  std::vector<std::string> names;
  int line = 0;
  for (const PlatformOption& option : options_in(text_of_file(file->path))) {
    if (!is_passed_over(option.name)) continue;
    if (names.empty()) line = option.line;
    names.push_back(fmt::format("'{}'", with_hidden_characters_shown(option.name)));
  }
  if (names.empty()) return {};
  return {to_string(
      Diagnostic{file->path, line,
                 fmt::format("{} of <config> {} passed over", fmt::join(names, ", "), names.size() == 1 ? "is" : "are"),
                 "dadsim sets them itself or has no use for them (docs/timing.md)"})};
}

}  // namespace dadsim::sim
