#include "scenario/language/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <span>
#include <string_view>

namespace dadsim::scenario {
namespace {

struct UnitName {
  std::string_view written;  ///< in small letters
  const char* right;
};

// Common spellings that are unambiguous. Rates in small letters are bits, as lines are sold.
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

/// "mbit/s" → "Mbps": a prefix of thousands or of 1024s and one of the ends.
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

std::string right_unit(Catalog::Unit kind, const std::string& written) {
  std::string unit = written;
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  switch (kind) {
    case Catalog::Unit::seconds: {
      const auto* found = std::ranges::find(kTimeNames, std::string_view(unit), &UnitName::written);
      return found == kTimeNames.end() ? std::string() : found->right;
    }
    case Catalog::Unit::bytes:
      return with_prefix(unit, kByteEnds);
    case Catalog::Unit::bytes_per_second: {
      const std::string right = with_prefix(unit, kRateEnds);
      // A capital B is a byte, "MB/s", unless all is in capitals.
      const bool shouted =
          std::ranges::none_of(written, [](unsigned char c) { return c == '/' || std::islower(c) != 0; });
      const bool bytes = written.find('B') != std::string::npos && right.ends_with("bps") && !shouted;
      return bytes ? right.substr(0, right.size() - 3) + "Bps" : right;
    }
    case Catalog::Unit::flops:
      return with_prefix(unit, kFlopEnds);
  }
  return {};
}

}  // namespace

const char* base_unit(Catalog::Unit unit) {
  switch (unit) {
    case Catalog::Unit::seconds:
      return "s";
    case Catalog::Unit::bytes:
      return "B";
    case Catalog::Unit::bytes_per_second:
      return "Bps";
    case Catalog::Unit::flops:
      return "f";
  }
  return "";
}

std::string meant_quantity(Catalog::Unit unit, const std::string& text, const Catalog& catalog) {
  std::string compact;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) compact += c;
  }
  const auto is_right = [&](const std::string& one) {
    const std::optional<double> value = catalog.parse_unit(unit, one);
    return value && std::isfinite(*value);
  };
  if (compact != text && is_right(compact)) return compact;
  const std::size_t number = std::min(compact.find_first_not_of("0123456789."), compact.size());
  if (number == 0 || number == compact.size()) return {};
  const std::string right = right_unit(unit, compact.substr(number));
  if (right.empty()) return {};
  const std::string meant = compact.substr(0, number) + right;
  return meant != text && is_right(meant) ? meant : std::string();
}

std::optional<double> required_quantity(const Node& node, const char* attribute, const QuantityForm& form,
                                        const Catalog& catalog) {
  const std::optional<std::string> text = node.required_text(attribute, form.remedy);
  if (!text) return std::nullopt;
  const std::optional<double> value = catalog.parse_unit(form.unit, *text);
  if (!value || !std::isfinite(*value)) {
    const std::string meant = meant_quantity(form.unit, *text, catalog);
    node.fail_at(attribute, "is not a number with such a unit",
                 meant.empty() ? form.remedy : fmt::format("did you mean '{}'?", meant));
    return std::nullopt;
  }
  if (!form.range.contains(*value)) {
    node.fail_at(attribute, "is out of range", form.remedy);
    return std::nullopt;
  }
  return value;
}

double quantity(const Node& node, const char* attribute, const QuantityForm& form, double fallback,
                const Catalog& catalog) {
  return node.has(attribute) ? required_quantity(node, attribute, form, catalog).value_or(fallback) : fallback;
}

}  // namespace dadsim::scenario
