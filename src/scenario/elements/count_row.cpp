#include "scenario/elements/count_row.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "support/diagnostics.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

struct Multiple {
  char letter;
  double factor;
};
constexpr std::array kMultiples{Multiple{'T', 1e12}, Multiple{'B', 1e9}, Multiple{'M', 1e6}, Multiple{'k', 1e3}};
constexpr double kMostCounted = 1e18;
constexpr std::array<std::pair<std::string_view, char>, 11> kWords{{{"t", 'T'},
                                                                    {"tn", 'T'},
                                                                    {"trillion", 'T'},
                                                                    {"b", 'B'},
                                                                    {"bn", 'B'},
                                                                    {"g", 'B'},
                                                                    {"billion", 'B'},
                                                                    {"m", 'M'},
                                                                    {"million", 'M'},
                                                                    {"k", 'k'},
                                                                    {"thousand", 'k'}}};

}  // namespace

std::optional<double> parse_count(const std::string& text) {
  std::string number(trimmed(text));
  double factor = 1;
  for (const Multiple& one : kMultiples) {
    if (number.empty() || number.back() != one.letter) continue;
    factor = one.factor;
    number.pop_back();
    break;
  }
  const std::optional<double> value = parse_real(number);
  if (!value || !std::isfinite(*value) || !(*value > 0) || *value * factor > kMostCounted) return std::nullopt;
  return *value * factor;
}

std::string remedy_for_count(const std::string& text) {
  std::vector<std::string> forms = other_notations(text);
  forms.push_back(text);
  for (const std::string& form : forms) {
    if (form != text && parse_count(form)) return did_you_mean(std::vector{form});
    const std::size_t number = std::min(form.find_first_not_of("0123456789."), form.size());
    const auto* word = std::ranges::find(kWords, lower_case(form.substr(number)), &decltype(kWords)::value_type::first);
    if (word == kWords.end()) continue;
    const std::string meant = form.substr(0, number) + word->second;
    if (parse_count(meant)) return did_you_mean(std::vector{meant});
  }
  return fmt::format("use {}", kCountForm);
}

std::string count_text(double count) {
  for (const Multiple& one : kMultiples) {
    if (count < one.factor) continue;
    const std::string text = fmt::format("{}{}", count / one.factor, one.letter);
    if (parse_count(text) == count && text.find('e') == std::string::npos) return text;
  }
  return fmt::format("{}", count);
}

}  // namespace dadsim::scenario
