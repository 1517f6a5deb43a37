#include "scenario/elements/count_row.hpp"

#include <array>
#include <cmath>

#include "scenario/xml/white_space.hpp"

namespace dadsim::scenario {
namespace {

struct Multiple {
  char letter;
  double factor;
};
constexpr std::array kMultiples{Multiple{'T', 1e12}, Multiple{'B', 1e9}, Multiple{'M', 1e6}, Multiple{'k', 1e3}};
constexpr double kMostCounted = 1e18;

}  // namespace

std::optional<double> parse_count(const std::string& text) {
  std::string number = trimmed(text);
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

std::string count_text(double count) {
  for (const Multiple& one : kMultiples) {
    if (count < one.factor) continue;
    const std::string text = fmt::format("{}{}", count / one.factor, one.letter);
    if (parse_count(text) == count && text.find('e') == std::string::npos) return text;
  }
  return fmt::format("{}", count);
}

}  // namespace dadsim::scenario
