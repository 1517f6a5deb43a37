#include "report/words/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <map>
#include <stdexcept>

#include "estimate/bands.hpp"
#include "estimate/verdict.hpp"
#include "report/text/factor_text.hpp"
#include "report/text/path_name.hpp"
#include "report/text/seconds.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"
#include "support/link_rate.hpp"

namespace dadsim::report::words {
namespace {

template <class Value>
using Units = std::map<std::string_view, std::string (*)(const Value&)>;

std::string bit_rate_in_words(double bits) {
  constexpr std::array kPrefixes{"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  for (; bits >= 999.5 && prefix + 1 < kPrefixes.size(); ++prefix) bits /= 1000;
  return fmt::format("{:.3g} {}bit/s", bits, kPrefixes.at(prefix));
}

/// Returns "twice", "half" or "3 times".
std::string multiple_in_words(double factor) {
  if (factor == 2) return "twice";
  return factor == 0.5 ? "half" : fmt::format("{:.3g} times", factor);
}

std::string without_unit(std::string text) { return text.substr(0, text.find(' ')); }

const Units<double>& units_of_numbers() {
  using Number = const double&;
  static const Units<double> kUnits{
      {"s", [](Number x) { return human_seconds(x); }},
      {"B", [](Number x) { return human_bytes(x); }},
      {"%", [](Number x) { return human_percent(x); }},
      {"J", [](Number x) { return human_energy(x); }},
      {"W", [](Number x) { return x < 1e3 ? fmt::format("{:.3g} W", x) : fmt::format("{:.3g} kW", x / 1e3); }},
      {"gCO2e", [](Number x) { return carbon_in_words(x); }},
      {"B/s", [](Number x) { return human_link_rate(x); }},
      {"bit/s", [](Number x) { return bit_rate_in_words(x); }},
      {"share", [](Number x) { return share_in_words(x); }},
      {"accuracy", [](Number x) { return accuracy_in_words(x); }},
      {"count", [](Number x) { return human_count(std::llround(x)); }},
      {"rate", [](Number x) { return rate_in_words(x); }},
      {"large", [](Number x) { return large_number_in_words(x); }},
      {"price", [](Number x) { return without_unit(money_in_words(x, "")); }},
      {"times", [](Number x) { return times_in_words(x); }},
      {"multiple", [](Number x) { return multiple_in_words(x); }},
      {"fraction", [](Number x) { return multiple_in_words(1 / x); }},
  };
  return kUnits;
}

const Units<std::string>& units_of_texts() {
  using Text = const std::string&;
  static const Units<std::string> kUnits{
      {"cause", [](Text x) { return cause_in_words(x); }},
      {"category", [](Text x) { return estimate::error_category(x).meaning; }},
      {"path", [](Text x) { return path_in_words(x); }},
      {"rounded", [](Text x) { return rounded_in_words(x); }},
      {"would-tell", [](Text x) { return would_tell_in_words(estimate::would_tell_of(x)); }},
  };
  return kUnits;
}

const Units<std::vector<std::string>>& units_of_lists() {
  using List = const std::vector<std::string>&;
  static const Units<std::vector<std::string>> kUnits{
      {"", [](List x) { return fmt::format("{}", fmt::join(x, ", ")); }},
      {"and", [](List x) { return listed(x); }},
      {"rest",
       [](List x) {
         return listed({x.begin() + (x.empty() ? 0 : 1), x.end()});
       }},
      {"changes", [](List x) { return assignments_in_words(x); }},
  };
  return kUnits;
}

template <class Value>
std::string by(const Units<Value>& units, std::string_view unit, const Value& value) {
  const auto found = units.find(unit);
  if (found == units.end()) throw std::logic_error(fmt::format("a value has the unit '{}' of another type", unit));
  return found->second(value);
}

bool is_specification(std::string_view unit) { return unit.starts_with('.'); }

}  // namespace

bool has_interval(std::string_view unit) { return unit == "band" || unit == "factor" || unit == "ratio"; }

bool is_unit(std::string_view unit) {
  return is_specification(unit) || has_interval(unit) || units_of_numbers().contains(unit) ||
         units_of_texts().contains(unit) || units_of_lists().contains(unit);
}

std::string in_unit(std::string_view unit, double number) {
  if (unit.empty()) return fmt::format("{}", number);
  if (is_specification(unit)) return fmt::format(fmt::runtime(fmt::format("{{:{}}}", unit)), number);
  return by(units_of_numbers(), unit, number);
}

std::string in_unit(std::string_view unit, double number, std::optional<double> low, std::optional<double> high) {
  if (unit == "factor") return factor_in_words({number, low, high});
  if (unit == "ratio") return interval_in_words({number, low, high});
  return low && high ? seconds_with_interval(number, *low, *high) : human_seconds(number);
}

std::string in_unit(std::string_view unit, const std::string& text) {
  return unit.empty() ? text : by(units_of_texts(), unit, text);
}

std::string in_unit(std::string_view unit, const std::vector<std::string>& list) {
  return by(units_of_lists(), unit, list);
}

}  // namespace dadsim::report::words
