#include "report/band_text.hpp"

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

std::string band_sentence(const RunResult& run) {
  if (!run.step_band) return {};
  std::string text = fmt::format("{}: nine measurements of ten are expected at a step of {}", run.spec.label,
                                 seconds_with_band(run.step_seconds, run.factors()));
  if (run.target_reached && run.target_seconds > 0)
    text += fmt::format(", to the target {}", seconds_with_band(run.target_seconds, run.factors()));
  return text + fmt::format(": {}.", run.step_band->basis);
}

}  // namespace dadsim::report
