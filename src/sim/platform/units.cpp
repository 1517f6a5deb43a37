#include <algorithm>
#include <cctype>
#include <cmath>
#include <simgrid/Exception.hpp>
#include <string_view>
#include <xbt/parse_units.hpp>

#include "sim/platform.hpp"

namespace dadsim::sim {
namespace {

using Parser = double (*)(const std::string&, int, const std::string&, const std::string&);

/// Length of the decimal number (digits, one point, an exponent) at the start of `text`; 0 if there is none. SimGrid's
/// parsers start with strtod, which would also take hexadecimal digits, "nan", "inf", signs and leading blanks.
std::size_t number_length(std::string_view text) {
  const auto digits = [&](std::size_t from) {
    std::size_t end = from;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    return end - from;
  };
  std::size_t length = digits(0);
  std::size_t significant = length;
  if (length < text.size() && text[length] == '.') {
    const std::size_t fraction = digits(length + 1);
    significant += fraction;
    length += 1 + fraction;
  }
  if (significant == 0) return 0;
  if (length < text.size() && (text[length] == 'e' || text[length] == 'E')) {
    std::size_t exponent = length + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    if (const std::size_t count = digits(exponent); count > 0) length = exponent + count;
  }
  return length;
}

std::optional<double> parse(Parser parser, const std::string& text) {
  const std::size_t number = number_length(text);
  if (number == 0 || text.find_first_of(std::string_view("xX\0", 3)) != std::string::npos) return std::nullopt;
  if (number == text.size()) {  // no unit: only a zero needs none
    const bool zero =
        std::ranges::none_of(text.substr(0, text.find_first_of("eE")), [](char c) { return c >= '1' && c <= '9'; });
    return zero ? std::optional<double>(0.0) : std::nullopt;
  }
  try {
    const double value = parser("", 0, text, "");
    if (!std::isfinite(value) || value < 0) return std::nullopt;
    return value;
  } catch (const simgrid::Exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<double> parse_seconds(const std::string& text) { return parse(&xbt_parse_get_time, text); }
std::optional<double> parse_bytes(const std::string& text) { return parse(&xbt_parse_get_size, text); }
std::optional<double> parse_bytes_per_second(const std::string& text) { return parse(&xbt_parse_get_bandwidth, text); }

std::optional<double> parse_flops(const std::string& text) {
  // SimGrid writes "312Tf"; data sheets write a capital F.
  std::string spelled = text;
  if (spelled.ends_with('F')) spelled.back() = 'f';
  return parse(&xbt_parse_get_speed, spelled);
}

}  // namespace dadsim::sim
