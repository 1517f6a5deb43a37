#include "report/html/markdown.hpp"

#include <md4c-html.h>

#include <new>
#include <regex>

#include "report/html/page_text.hpp"

namespace dadsim::report {
namespace {

/// Returns the id of a glossary entry: "word-critical-path" for "critical path", "word-dad" for "dAD, edAD, rank-dAD".
std::string id_of(std::string_view word) {
  std::string id = "word-";
  for (const char c : word.substr(0, word.find(','))) {
    if (c >= 'A' && c <= 'Z') {
      id += static_cast<char>(c - 'A' + 'a');
    } else {
      id += c == ' ' ? '-' : c;
    }
  }
  return id;
}

std::string glossary_of(std::string_view markdown) {
  const std::size_t title_ends = markdown.find('\n');
  std::string html = with_own_links(html_of(std::string(markdown.substr(title_ends))));
  html = std::regex_replace(html, std::regex("<(/?)h2>"), "<$1h3>");
  static const std::regex word("<td><strong>([^<]*)</strong>");
  std::string marked;
  auto from = html.cbegin();
  for (std::sregex_iterator at(html.begin(), html.end(), word), end; at != end; ++at) {
    marked.append(from, (*at)[0].first);
    marked += "<td id=\"" + id_of((*at)[1].str()) + "\"><strong>" + (*at)[1].str() + "</strong>";
    from = (*at)[0].second;
  }
  return marked.append(from, html.cend());
}

}  // namespace

std::string html_of(const std::string& markdown) {
  std::string html;
  const auto append = [](const MD_CHAR* text, MD_SIZE size, void* out) {
    static_cast<std::string*>(out)->append(text, size);
  };
  if (md_html(markdown.data(), static_cast<MD_SIZE>(markdown.size()), append, &html, MD_FLAG_TABLES, 0) != 0) {
    throw std::bad_alloc();  // md4c has no other errors, because any text is Markdown
  }
  return html;
}

std::string with_own_links(const std::string& html) {
  static const std::regex lesson(R"rx(<a href="(\d)-[a-z-]+\.md">)rx");
  static const std::regex by_name(R"rx(<a href="(?:\.\./|)([^":#]+\.md)(?:#[^"]*)?">\1</a>)rx");
  static const std::regex documentation(R"rx(<a href="(?:\.\./|)([^":#]+\.md)(?:#[^"]*)?">([^<]*)</a>)rx");
  static const std::regex outside(R"rx(<a href="https?:[^"]*">([^<]*)</a>)rx");
  const std::string alone = std::regex_replace(html, outside, "<cite>$1</cite>");
  const std::string linked = std::regex_replace(alone, lesson, R"(<a href="lesson-$1.html">)");
  const std::string named = std::regex_replace(linked, by_name, "<code>docs/$1</code>");
  return std::regex_replace(named, documentation, "<cite>$2</cite> (<code>docs/$1</code>)");
}

const std::string& glossary_html() {
  static const std::string html = glossary_of(kGlossary);
  return html;
}

}  // namespace dadsim::report
