#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace dadsim::report {

/// Hostile text: it ends a script, begins a comment, resembles a template's placeholder, and has characters that JSON
/// escapes.
inline const char* const kHostile = R"(</script><script>alert(1)</script><!-- <script> {{script}} {{ & "quoted" \ é)";

/// Returns the text between `before` and the next `after`.
inline std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t start = text.find(before);
  EXPECT_NE(start, std::string::npos) << before;
  if (start == std::string::npos) return {};
  const std::size_t end = text.find(after, start + before.size());
  EXPECT_NE(end, std::string::npos) << after;
  return text.substr(start + before.size(), end - start - before.size());
}

/// Reads the data of a page as a browser would, up to the first end tag.
inline nlohmann::ordered_json embedded(const std::string& html, const std::string& id = "result") {
  return nlohmann::ordered_json::parse(
      between(html, R"(<script type="application/json" id=")" + id + "\">", "</script"));
}

}  // namespace dadsim::report
