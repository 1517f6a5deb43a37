#include "scenario/language/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <regex>
#include <span>
#include <system_error>

#include "support/parse_whole.hpp"
#include "support/text_encoding.hpp"

namespace dadsim::scenario {
namespace {

struct UnitName {
  std::string_view written;  ///< spelling, in lower case
  const char* right;
};

// Common spellings that are unambiguous. Rates in lower case are bits, as in offers of network lines.
constexpr std::array kTimeNames{
    UnitName{"sec", "s"},   UnitName{"secs", "s"},  UnitName{"second", "s"},     UnitName{"seconds", "s"},
    UnitName{"msec", "ms"}, UnitName{"usec", "us"}, UnitName{"\xc2\xb5s", "us"}, UnitName{"\xce\xbcs", "us"},
    UnitName{"min", "m"},   UnitName{"mins", "m"},  UnitName{"minute", "m"},     UnitName{"minutes", "m"},
    UnitName{"hour", "h"},  UnitName{"hours", "h"}, UnitName{"day", "d"},        UnitName{"days", "d"},
    UnitName{"ns", "ns"},   UnitName{"us", "us"},   UnitName{"ms", "ms"},        UnitName{"s", "s"},
    UnitName{"m", "m"},     UnitName{"h", "h"},     UnitName{"d", "d"}};
constexpr std::array kRateEnds{UnitName{"bps", "bps"},    UnitName{"bit/s", "bps"}, UnitName{"bits/s", "bps"},
                               UnitName{"bit", "bps"},    UnitName{"b/s", "bps"},   UnitName{"byte/s", "Bps"},
                               UnitName{"bytes/s", "Bps"}};
constexpr std::array kByteEnds{UnitName{"b", "B"}, UnitName{"byte", "B"}, UnitName{"bytes", "B"}};
constexpr std::array kFlopEnds{UnitName{"f", "F"}, UnitName{"flops", "F"}, UnitName{"flop/s", "F"},
                               UnitName{"flops/s", "F"}, UnitName{"flop", "F"}};

enum class Prefixes { none, decimal, decimal_and_binary, in_words };
struct UnitFactor {
  Unit of;
  std::string_view name;
  double factor;
  Prefixes prefixes = Prefixes::none;
};

/// Units as SimGrid reads them, and a capital F for flop/s, as in data sheets.
constexpr std::array kFactors{UnitFactor{Unit::seconds, "s", 1},
                              UnitFactor{Unit::seconds, "ms", 1e-3},
                              UnitFactor{Unit::seconds, "us", 1e-6},
                              UnitFactor{Unit::seconds, "ns", 1e-9},
                              UnitFactor{Unit::seconds, "ps", 1e-12},
                              UnitFactor{Unit::seconds, "m", 60},
                              UnitFactor{Unit::seconds, "h", 3600},
                              UnitFactor{Unit::seconds, "d", 86400},
                              UnitFactor{Unit::seconds, "w", 604800},
                              UnitFactor{Unit::bytes, "b", 0.125, Prefixes::decimal_and_binary},
                              UnitFactor{Unit::bytes, "B", 1, Prefixes::decimal_and_binary},
                              UnitFactor{Unit::bytes_per_second, "bps", 0.125, Prefixes::decimal_and_binary},
                              UnitFactor{Unit::bytes_per_second, "Bps", 1, Prefixes::decimal_and_binary},
                              UnitFactor{Unit::flops, "f", 1, Prefixes::decimal},
                              UnitFactor{Unit::flops, "F", 1, Prefixes::decimal},
                              UnitFactor{Unit::flops, "flops", 1, Prefixes::in_words}};
constexpr std::array<std::string_view, 8> kDecimal{"k", "M", "G", "T", "P", "E", "Z", "Y"};
constexpr std::array<std::string_view, 8> kBinary{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"};
constexpr std::array<std::string_view, 8> kInWords{"kilo", "mega", "giga", "tera", "peta", "exa", "zeta", "yotta"};

/// Returns the size of a prefixed unit, in units without prefix.
std::optional<double> factor_of(Unit kind, std::string_view name) {
  for (const UnitFactor& unit : kFactors) {
    if (unit.of != kind || !name.ends_with(unit.name)) continue;
    const std::string_view prefix = name.substr(0, name.size() - unit.name.size());
    if (prefix.empty()) return unit.factor;
    if (unit.prefixes == Prefixes::none) continue;
    double decimal = unit.factor;
    double binary = unit.factor;
    for (std::size_t i = 0; i < kDecimal.size(); ++i) {
      decimal *= 1000;
      binary *= 1024;
      if (prefix == (unit.prefixes == Prefixes::in_words ? kInWords : kDecimal)[i]) return decimal;
      if (unit.prefixes == Prefixes::decimal_and_binary && prefix == kBinary[i]) return binary;
    }
  }
  return std::nullopt;
}

/// Converts "mbit/s" to "Mbps". The unit consists of a prefix of powers of 1000 or 1024, and one of `ends`.
std::string with_prefix(std::string_view unit, std::span<const UnitName> ends) {
  constexpr std::string_view kPrefixes = "kmgtpe";
  for (const UnitName& end : ends) {
    if (!unit.ends_with(end.written)) continue;
    const std::string_view prefix = unit.substr(0, unit.size() - end.written.size());
    if (prefix.empty()) return end.right;
    const bool binary = prefix.size() == 2 && prefix[1] == 'i';
    if ((prefix.size() > 1 && !binary) || kPrefixes.find(prefix[0]) == std::string_view::npos) continue;
    const bool small = prefix[0] == 'k' && !binary;
    const char first = small ? 'k' : static_cast<char>(std::toupper(static_cast<unsigned char>(prefix[0])));
    return first + std::string(binary ? "i" : "") + end.right;
  }
  return {};
}

std::string right_unit(Unit kind, const std::string& written) {
  std::string unit = written;
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  switch (kind) {
    case Unit::seconds: {
      const auto* found = std::ranges::find(kTimeNames, std::string_view(unit), &UnitName::written);
      return found == kTimeNames.end() ? std::string() : found->right;
    }
    case Unit::bytes:
      return with_prefix(unit, kByteEnds);
    case Unit::bytes_per_second: {
      const std::string right = with_prefix(unit, kRateEnds);
      // A capital B means bytes ("MB/s"), except in a text all in capitals, and in "MBit".
      const bool shouted =
          std::ranges::none_of(written, [](unsigned char c) { return c == '/' || std::islower(c) != 0; });
      const bool bits = unit.find("bit") != std::string::npos;
      const bool bytes = written.find('B') != std::string::npos && right.ends_with("bps") && !shouted && !bits;
      return bytes ? right.substr(0, right.size() - 3) + "Bps" : right;
    }
    case Unit::flops:
      return with_prefix(unit, kFlopEnds);
  }
  return {};
}

/// Returns whether every comma may separate thousands: three digits follow each, and the first digit is not 0.
bool separates_thousands(const std::string& number) {
  static const std::regex kThousands("[1-9]\\d{0,2}(,\\d{3})+([^\\d,].*)?");
  return std::regex_match(number, kThousands);
}

}  // namespace

std::vector<std::string> other_notations(const std::string& text) {
  constexpr std::size_t kLongest = 60;  // longest text that may be a number, bytes
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
  const std::optional<double> whole = parse_whole<double>(text);  // "16.0" and "1e3" are whole numbers too
  if (whole && *whole == std::floor(*whole)) forms.push_back(fmt::format("{:.0f}", *whole));
  std::vector<std::string> right;
  for (const std::string& form : forms) {
    if (form != text && accepts(form) && std::ranges::find(right, form) == right.end()) right.push_back(form);
  }
  return right.empty() ? std::string() : fmt::format("write {}", fmt::join(right, " or "));
}

std::optional<double> parse_quantity(Unit unit, std::string_view text) {
  if (text.empty() || (text[0] != '.' && std::isdigit(static_cast<unsigned char>(text[0])) == 0)) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  if (name.empty()) return number == 0 ? std::optional(number) : std::nullopt;  // 0 needs no unit
  const std::optional<double> factor = factor_of(unit, name);
  const double value = number * factor.value_or(0);
  return factor && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

const char* base_unit(Unit unit) {
  return unit == Unit::seconds ? "s" : unit == Unit::bytes ? "B" : unit == Unit::bytes_per_second ? "Bps" : "f";
}

std::string meant_quantity(Unit unit, const std::string& text) {
  const auto is_right = [&](const std::string& one) { return parse_quantity(unit, one).has_value(); };
  std::vector<std::string> forms = other_notations(text);
  if (const auto right = std::ranges::find_if(forms, is_right); right != forms.end()) return *right;
  forms.push_back(text);
  for (const std::string& form : forms) {
    const std::size_t number = std::min(form.find_first_not_of("0123456789."), form.size());
    if (number == 0 || number == form.size()) continue;
    const std::string right = right_unit(unit, form.substr(number));
    const std::string meant = form.substr(0, number) + right;
    if (!right.empty() && meant != text && is_right(meant)) return meant;
  }
  return {};
}

std::optional<double> required_quantity(const Node& node, const char* attribute, const QuantityForm& form) {
  const std::optional<std::string> text = node.required_text(attribute, form.remedy);
  if (!text) return std::nullopt;
  const std::optional<double> value = parse_quantity(form.unit, *text);
  if (!value) {
    const std::string meant = meant_quantity(form.unit, *text);
    node.fail_at(attribute, "is not a number with a known unit",
                 meant.empty() ? form.remedy : fmt::format("did you mean '{}'?", meant));
    return std::nullopt;
  }
  if (!form.range.contains(*value)) {
    node.fail_at(attribute, "is out of range", form.remedy);
    return std::nullopt;
  }
  return value;
}

double quantity(const Node& node, const char* attribute, const QuantityForm& form, double fallback) {
  return node.has(attribute) ? required_quantity(node, attribute, form).value_or(fallback) : fallback;
}

}  // namespace dadsim::scenario
