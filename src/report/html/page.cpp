#include "report/html/page.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include "report/html/page_text.hpp"

namespace dadsim::report {
namespace {

/// Text between tags.
std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

/// JSON inside <script>: there "</script" and "<!--" mean something to HTML. "<" stands only within JSON's strings,
/// where it can be written as a number.
std::string within_script(std::string_view json) {
  std::string text;
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

using Part = std::pair<std::string_view, std::string_view>;

/// The template with each {{name}} replaced. What is put in is not looked at again: data may hold braces.
template <std::size_t size>
std::string filled_in(std::string_view page, const std::array<Part, size>& parts) {
  std::string html;
  for (std::size_t at = 0;;) {
    const std::size_t open = page.find("{{", at);
    html += page.substr(at, open - at);
    if (open == std::string_view::npos) return html;
    const std::size_t close = page.find("}}", open);
    if (close == std::string_view::npos) throw std::logic_error("a page has a {{ without }}");
    const std::string_view name = page.substr(open + 2, close - open - 2);
    bool known = false;
    for (const auto& [part, text] : parts) {
      if (part != name) continue;
      html += text;
      known = true;
    }
    if (!known) throw std::logic_error("a page: nothing is called " + std::string(name));
    at = close + 2;
  }
}

}  // namespace

std::string make_page(PageKind kind, const PageContent& content) {
  const bool run = kind == PageKind::run;
  const std::string answer = escaped(content.answer);
  const std::array<Part, 2> of_sections{{{"answer", answer}, {"platform", content.platform_svg}}};
  const std::string sections = filled_in(run ? kRunSections : kSweepSections, of_sections);
  const std::string title = escaped(content.title);
  const std::string json = within_script(content.json);
  const std::string script = std::string(kSharedScript) + std::string(run ? kRunScript : kSweepScript);
  const std::array<Part, 7> parts{{{"title", title},
                                   {"kind", run ? "dadsim report" : "dadsim sweep"},
                                   {"sections", sections},
                                   {"result", json},
                                   {"style", kStyle},
                                   {"chart.js", kChartJs},
                                   {"script", script}}};
  return filled_in(kPage, parts);
}

}  // namespace dadsim::report
