#include "sim/platform/by_number.hpp"

#include <cctype>
#include <string_view>
#include <utility>

namespace dadsim::sim {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Returns the digits that start at `at`, without leading zeros, and the position after them.
std::pair<std::string_view, std::size_t> number_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  while (at + 1 < end && text[at] == '0') ++at;
  return {text.substr(at, end - at), end};
}

}  // namespace

bool before_by_number(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto [first, after_first] = number_at(a, i);
      const auto [second, after_second] = number_at(b, j);
      if (first.size() != second.size()) return first.size() < second.size();
      if (first != second) return first < second;
      i = after_first;
      j = after_second;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if ((i == a.size()) != (j == b.size())) return i == a.size();
  return a < b;  // equal numbers may differ in leading zeros
}

}  // namespace dadsim::sim
