#include "cli/byte_sizes.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "cli/usage_error.hpp"
#include "support/split.hpp"

namespace dadsim::cli {
namespace {

constexpr const char* kForm = "e.g. 1KB:1GB, 1KB:1GB:4 or 1MB,4MB (powers of 1024, up to 1024TB)";

/// A number and what stands behind it.
std::optional<std::pair<double, std::string_view>> number_and_rest(std::string_view text) {
  if (text.empty() || (std::isdigit(static_cast<unsigned char>(text[0])) == 0 && text[0] != '.')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  return std::pair{value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

/// "", "B", "K", "KB", "KiB", … as bytes.
std::optional<double> unit(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower.empty() || lower == "b") return 1;
  const std::size_t power = std::string_view("kmgt").find(lower[0]);
  const std::string rest = lower.substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "b" || rest == "ib")) return std::nullopt;
  return std::pow(1024.0, static_cast<double>(power + 1));
}

double parse_size(std::string_view text) {
  const auto number = number_and_rest(text);
  const std::optional<double> scale = number ? unit(number->second) : std::nullopt;
  if (!scale) throw UsageError(fmt::format("--sizes: '{}' is no size in bytes; {}", text, kForm));
  const double size = number->first * *scale;
  if (!(size > 0) || size > kLargestSize) {
    throw UsageError(fmt::format("--sizes: '{}' is out of range; above 0, {}", text, kForm));
  }
  return size;
}

}  // namespace

std::vector<double> parse_byte_sizes(const std::string& text) {
  std::vector<double> sizes;
  const auto add = [&](double size) {
    if (sizes.size() == kMostSizes) throw UsageError(fmt::format("--sizes names more than {} sizes", kMostSizes));
    sizes.push_back(size);
  };
  for (const std::string_view part : split_at(text, ',')) {
    const std::vector<std::string_view> ends = split_at(part, ':');
    if (ends.size() > 3) throw UsageError(fmt::format("--sizes: '{}' has too many colons; {}", part, kForm));
    const double first = parse_size(ends[0]);
    const double last = ends.size() > 1 ? parse_size(ends[1]) : first;
    double factor = 2;
    if (ends.size() == 3) {
      const auto number = number_and_rest(ends[2]);
      if (!number || !number->second.empty() || !(number->first > 1)) {
        throw UsageError(fmt::format("--sizes: the factor '{}' is no number above 1; {}", ends[2], kForm));
      }
      factor = number->first;
    }
    if (last < first)
      throw UsageError(fmt::format("--sizes: '{}' ends before it begins; the smaller size first", part));
    for (double size = first; size <= last; size *= factor) add(size);
  }
  return sizes;
}

}  // namespace dadsim::cli
