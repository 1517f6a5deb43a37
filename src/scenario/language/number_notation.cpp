#include "scenario/language/number_notation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "support/parse_whole.hpp"
#include "support/text_encoding.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kLongest = 60;  // characters of a text that may be a number

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns whether every comma may separate thousands: no zero first, three digits after each.
bool separates_thousands(const std::string& number) {
  if (number.empty() || number.front() == '0' || !is_digit(number.front())) return false;
  for (std::size_t comma = number.find(','); comma != std::string::npos; comma = number.find(',', comma + 1)) {
    std::size_t digits = 0;
    while (comma + 1 + digits < number.size() && is_digit(number[comma + 1 + digits])) ++digits;
    if (digits != 3) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> other_notations(const std::string& text) {
  if (text.size() > kLongest) return {};
  std::string compact = with_plain_characters(text);
  std::erase_if(compact, [](unsigned char c) { return std::isspace(c) != 0 || c == '_' || c == '\'' || c == '"'; });
  if (compact.starts_with('+')) compact.erase(0, 1);
  std::vector<std::string> forms{compact};
  if (const auto commas = std::ranges::count(compact, ','); commas > 0) {
    forms.clear();
    std::string without = compact, pointed = compact;
    std::erase(without, ',');
    if (separates_thousands(compact)) forms.push_back(without);
    std::ranges::replace(pointed, ',', '.');
    if (commas == 1 && compact.find('.') == std::string::npos) forms.push_back(pointed);
  }
  std::erase(forms, text);
  return forms;
}

std::string remedy_for_number(const std::string& text, const std::function<bool(const std::string&)>& accepts) {
  std::vector<std::string> forms = other_notations(text);
  forms.push_back(text);
  for (std::string& form : forms) {  // "16.0" and "1e3" are whole numbers too
    const std::optional<double> value = accepts(form) ? std::nullopt : parse_whole<double>(form);
    if (value && *value == std::floor(*value)) form = fmt::format("{:.0f}", *value);
  }
  std::vector<std::string> right;
  for (const std::string& form : forms) {
    if (form != text && accepts(form) && std::ranges::find(right, form) == right.end()) right.push_back(form);
  }
  return right.empty() ? std::string() : fmt::format("write {}", fmt::join(right, " or "));
}

}  // namespace dadsim::scenario
