#include "report/text/escape.hpp"

namespace dadsim::report {

std::string escaped(std::string_view text) {
  std::string html;
  html.reserve(text.size() + text.size() / 16);
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
      case '"':
        html += "&quot;";
        break;
      default:
        // XML has no other control characters.
        if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') html += c;
    }
  }
  return html;
}

}  // namespace dadsim::report
