#include "report/text/seconds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/human.hpp"

namespace dadsim::report {

std::string seconds_with_interval(double seconds, double low, double high) {
  const std::string value = human_seconds(seconds);
  std::string from = human_seconds(low);
  std::string to = human_seconds(high);
  // "4 min 10 s" has more than a number before its unit.
  const auto words = [](const std::string& text) { return std::ranges::count(text, ' '); };
  const std::size_t space = value.rfind(' ');
  if (space != std::string::npos && words(value) == 1 && words(from) == 1 && words(to) == 1) {
    const std::string unit = value.substr(space);
    if (from.ends_with(unit) && to.ends_with(unit)) {
      from.resize(from.size() - unit.size());
      to.resize(to.size() - unit.size());
    }
  }
  return fmt::format("{} ({} … {})", value, from, to);
}

std::string seconds_with_band(double seconds, const std::optional<estimate::Band>& factors) {
  if (!factors || !(seconds > 0)) return human_seconds(seconds);
  return seconds_with_interval(seconds, seconds * factors->low, seconds * factors->high);
}

}  // namespace dadsim::report
