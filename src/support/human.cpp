#include "support/human.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "support/utf8.hpp"

namespace dadsim {
namespace {

constexpr const char* kNone = "–";

/// Returns a value with three significant digits and without an exponent. The value must round to less than 1000.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

/// Returns the character that starts at `at`; a byte that is not UTF-8 counts as one character.
Utf8Character character_at(std::string_view text, std::size_t at) {
  const Utf8Character found = first_character(text.substr(at));
  return found.bytes > 0 ? found : Utf8Character{1, static_cast<unsigned char>(text[at])};
}

std::size_t columns(std::uint32_t c) {
  if (c >= 0x300 && c <= 0x36F) return 0;
  static constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 14> kWide{{{0x1100, 0x115F},
                                                                                  {0x2329, 0x232A},
                                                                                  {0x2E80, 0x303E},
                                                                                  {0x3040, 0xA4CF},
                                                                                  {0xAC00, 0xD7A3},
                                                                                  {0xF900, 0xFAFF},
                                                                                  {0xFE10, 0xFE19},
                                                                                  {0xFE30, 0xFE6F},
                                                                                  {0xFF00, 0xFF60},
                                                                                  {0xFFE0, 0xFFE6},
                                                                                  {0x1F300, 0x1F64F},
                                                                                  {0x1F900, 0x1F9FF},
                                                                                  {0x20000, 0x2FFFD},
                                                                                  {0x30000, 0x3FFFD}}};
  for (const auto& [first, last] : kWide) {
    if (c >= first && c <= last) return 2;
  }
  return 1;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the longest prefix of `text` that fits into `width` columns.
std::string_view fitting(std::string_view text, std::size_t width) {
  std::size_t used = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Character c = character_at(text, at);
    if (used + columns(c.code) > width) break;
    used += columns(c.code);
    at += c.bytes;
  }
  return text.substr(0, at);
}

std::string cut(std::string_view text, std::size_t width) {
  if (display_width(text) <= width || width == 0) return std::string(text);
  return std::string(fitting(text, width - 1)) + "…";
}

}  // namespace

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds)) return kNone;
  if (seconds < 0) return fmt::format("-{}", human_seconds(-seconds));
  if (seconds == 0) return "0 s";
  if (seconds < 999.5e-9) return three_digits(seconds * 1e9) + " ns";
  if (seconds < 999.5e-6) return three_digits(seconds * 1e6) + " µs";
  if (seconds < 999.5e-3) return three_digits(seconds * 1e3) + " ms";
  if (seconds < 59.95) return three_digits(seconds) + " s";
  if (seconds < 3599.5) {
    const std::int64_t whole = std::llround(seconds);
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  }
  if (seconds < 47.95 * 3600) return three_digits(seconds / 3600) + " h";
  const double days = seconds / 86400;
  if (days < 999.5) return three_digits(days) + " days";
  constexpr double kCounted = 1e9;
  const std::string digits = fmt::format("{:.2e}", days);
  return (days < kCounted ? human_count(std::llround(std::stod(digits))) : digits) + " days";
}

std::string human_bytes(double bytes) {
  if (!std::isfinite(bytes)) return kNone;
  if (bytes < 0) return fmt::format("-{}", human_bytes(-bytes));
  if (bytes == 0) return "0 B";
  static constexpr std::array<const char*, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  const bool whole = unit == 0 && bytes == std::floor(bytes);
  return fmt::format("{} {}", whole ? fmt::format("{:.0f}", bytes) : three_digits(bytes), kUnits.at(unit));
}

std::string human_percent(double share) {
  if (!std::isfinite(share)) return kNone;
  return fmt::format("{:.1f} %", share * 100);
}

std::string human_energy(double joules) {
  constexpr double kJoulesPerWh = 3600;
  if (!std::isfinite(joules)) return kNone;
  if (joules == 0) return "0 J";
  if (joules < kJoulesPerWh) return three_digits(joules) + " J";
  static constexpr std::array<const char*, 4> kUnits{"Wh", "kWh", "MWh", "GWh"};
  double hours = joules / kJoulesPerWh;
  std::size_t unit = 0;
  while (hours >= 999.5 && unit + 1 < kUnits.size()) {
    hours /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(hours), kUnits.at(unit));
}

std::string human_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::ptrdiff_t first = count < 0 ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > first; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character c = character_at(text, at);
    width += columns(c.code);
    at += c.bytes;
  }
  return width;
}

std::string left_aligned(std::string_view text, std::size_t width) {
  std::string cell = cut(text, width);
  cell.append(width - std::min(width, display_width(cell)), ' ');
  return cell;
}

std::string right_aligned(std::string_view text, std::size_t width) {
  const std::string cell = cut(text, width);
  return std::string(width - std::min(width, display_width(cell)), ' ') + cell;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string lines;
  std::size_t used = 0;
  bool line_empty = true;
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t end = std::min(text.find(' ', at), text.size());
    while (end < text.size() && end > at && is_digit(text[end - 1]))
      end = std::min(text.find(' ', end + 1), text.size());
    const std::string_view word = text.substr(at, end - at);
    const std::size_t columns_of_word = display_width(word);
    if (!line_empty && used + 1 + columns_of_word > width) {
      lines += '\n';
      lines.append(indent, ' ');
      used = indent;
      line_empty = true;
    }
    if (!line_empty) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += columns_of_word;
    line_empty = false;
    at = end + 1;
  }
  return lines + '\n';
}

std::string human_link_rate(double bytes_per_second) {
  if (bytes_per_second >= 1e12 / 8) return fmt::format("{:.4g} GB/s", bytes_per_second / 1e9);
  const double bits = bytes_per_second * 8;
  if (bits >= 1e9) return fmt::format("{:.4g} Gbit/s", bits / 1e9);
  if (bits >= 1e6) return fmt::format("{:.4g} Mbit/s", bits / 1e6);
  return fmt::format("{:.4g} kbit/s", bits / 1e3);
}

}  // namespace dadsim
