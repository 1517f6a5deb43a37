#include "xml_mutation.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "support/random.hpp"

namespace dadsim::fuzz {
namespace {

// Values that users or attackers write in place of a number, a name or a path.
constexpr auto kValues = std::to_array<std::string_view>({"",
                                                          " ",
                                                          "0",
                                                          "-1",
                                                          "1",
                                                          "2",
                                                          "1.5",
                                                          "1e999",
                                                          "nan",
                                                          "-inf",
                                                          "1e-320",
                                                          "9223372036854775808",
                                                          "18446744073709551615",
                                                          "1000000000",
                                                          "0s",
                                                          "-5ms",
                                                          "1e300s",
                                                          "0Bps",
                                                          "1e300GBps",
                                                          "1EiB",
                                                          "10Mbps 20Mbps",
                                                          "site-[1-999999999]",
                                                          "[0-",
                                                          "s-[1-3]",
                                                          "a,b",
                                                          "&#10;",
                                                          "&#x9b;31m",
                                                          "&lt;",
                                                          "\xE2\x80\xAE",
                                                          "\xEF\xBF\xBE",
                                                          "1;1;1",
                                                          "true",
                                                          "none",
                                                          "*",
                                                          "../x",
                                                          "/dev/zero",
                                                          "ring",
                                                          "message",
                                                          "flow"});

struct Range {
  std::size_t begin = 0, end = 0;
};

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == ':' || c == '.';
}

/// Returns the ranges of all `name="value"`, each with the white space before it.
std::vector<Range> attributes_of(std::string_view text) {
  std::vector<Range> found;
  for (std::size_t at = text.find("=\""); at != std::string_view::npos; at = text.find("=\"", at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_name(text[begin - 1])) --begin;
    const std::size_t end = text.find('"', at + 2);
    if (begin == at || begin == 0 || end == std::string_view::npos) continue;
    found.push_back({begin - 1, end + 1});
  }
  return found;
}

/// Returns the ranges of elements, from the start tag's `<` to the end tag's `>`, if tags are properly nested.
std::vector<Range> elements_of(std::string_view text) {
  std::vector<Range> found;
  std::vector<std::size_t> open;
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string_view::npos || at + 1 == text.size()) break;
    if (text[at + 1] == '?' || text[at + 1] == '!') continue;
    if (text[at + 1] == '/') {
      if (open.empty()) continue;
      found.push_back({open.back(), end + 1});
      open.pop_back();
    } else if (text[end - 1] == '/') {
      found.push_back({at, end + 1});
    } else {
      open.push_back(at);
    }
  }
  return found;
}

}  // namespace

std::string changed_xml(std::string document, std::uint32_t number) {
  RandomStream random(1, Purpose::test, number);
  const std::vector<Range> attributes = attributes_of(document);
  const std::vector<Range> elements = elements_of(document);
  if (attributes.empty() || elements.empty()) return document;
  const Range attribute = attributes[random() % attributes.size()];
  const Range element = elements[random() % elements.size()];
  const std::string whole_attribute = document.substr(attribute.begin, attribute.end - attribute.begin);
  const std::string whole_element = document.substr(element.begin, element.end - element.begin);
  const std::size_t value = attribute.begin + whole_attribute.find('"') + 1;
  switch (random() % 8) {
    case 0:
    case 1:
    case 2:
      return document.replace(value, attribute.end - 1 - value, kValues[random() % kValues.size()]);
    case 3: {  // takes the value of another attribute
      const Range other = attributes[random() % attributes.size()];
      const std::size_t theirs = document.find('"', other.begin) + 1;
      return document.replace(value, attribute.end - 1 - value, document.substr(theirs, other.end - 1 - theirs));
    }
    case 4:
      return document.erase(attribute.begin, attribute.end - attribute.begin);
    case 5: {  // moves the attribute to another element, or doubles it
      const Range other = attributes[random() % attributes.size()];
      return document.insert(other.end, whole_attribute);
    }
    case 6:
      return document.erase(element.begin, element.end - element.begin);
    default: {
      const Range other = elements[random() % elements.size()];
      return document.insert(random() % 2 == 0 ? other.begin : other.end, whole_element);
    }
  }
}

}  // namespace dadsim::fuzz
