#include "methods/method_page.hpp"

#include <cctype>

#include "methods/method_pages_text.hpp"
#include "support/split.hpp"

namespace dadsim::methods {
namespace {

constexpr std::string_view kOverview = "README.md";

/// Makes a clause of a paragraph: it begins with a small letter and has no full stop at its end.
void make_clause(std::string& text) {
  if (text.ends_with('.')) text.pop_back();
  if (!text.empty()) text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
}

/// Removes empty lines around a text.
void trim(std::string& text) {
  text.erase(0, text.find_first_not_of('\n'));
  text.erase(text.find_last_not_of('\n') + 1);
}

MethodPage read_method_page(std::string_view text) {
  constexpr std::string_view kHeading = "## ";
  MethodPage page;
  std::string* into = &page.description;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with(kHeading)) {
      into = &page.sections[std::string(line.substr(kHeading.size()))];
    } else if (!line.starts_with("# ") && !line.starts_with(kFamily) && line != kFooter) {
      into->append(line) += '\n';
    }
  }
  trim(page.description);
  for (auto& [title, section] : page.sections) trim(section);
  make_clause(page.sections[kOnFailure]);
  std::string& sent = page.sections[kSent];
  for (const std::string_view unit : {kOfCompressor, kOfEvents, kOfSteps}) {
    if (sent.ends_with(unit)) sent.resize(sent.size() - unit.size());
  }
  for (const std::string_view begin : {kBeginOfCompressor, kBeginOfEvents, kBeginOfSteps}) {
    if (sent.starts_with(begin)) sent.erase(0, begin.size());
  }
  return page;
}

}  // namespace

std::string MethodPage::section(std::string_view title) const {
  const auto found = sections.find(title);
  return found == sections.end() ? "" : found->second;
}

const MethodPage& method_page(const std::string& file) {
  static const std::map<std::string, MethodPage> kPages = [] {
    std::map<std::string, MethodPage> pages;
    for (const auto& [name, text] : kMethodPages) pages[std::string(name)] = read_method_page(text);
    return pages;
  }();
  static const MethodPage kNone;
  const auto found = kPages.find(file + ".md");
  return found == kPages.end() ? kNone : found->second;
}

std::string_view overview_page() {
  for (const auto& [name, text] : kMethodPages) {
    if (name == kOverview) return text;
  }
  return {};
}

}  // namespace dadsim::methods
