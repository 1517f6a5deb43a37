#include "report/text/amounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "support/human.hpp"

namespace dadsim::report {
namespace {

/// Returns a number without an exponent and with at least `digits` digits; below 1, with `digits` decimals. "∞" if it
/// is not finite.
std::string with_digits(double value, int digits) {
  if (!std::isfinite(value)) return "∞";
  const int before = value >= 1 ? static_cast<int>(std::floor(std::log10(value))) + 1 : 0;
  return fmt::format("{:.{}f}", value, std::max(0, digits - before));
}

/// Returns the number of digits that an interval justifies: three if its ends differ by less than a fifth, else two.
int digits_of(const estimate::Estimate& ratio) {
  constexpr double kWide = 1.2;
  return ratio.low && ratio.high && *ratio.low > 0 && *ratio.high / *ratio.low < kWide ? 3 : 2;
}

std::string ends_in_words(const estimate::Estimate& ratio, int digits) {
  return fmt::format("{} … {}", with_digits(ratio.low.value_or(0), digits),
                     ratio.high ? with_digits(*ratio.high, digits) : "?");
}

}  // namespace

std::string money_in_words(double money, const std::string& currency) {
  return money < 1 ? fmt::format("{:.3g} {}", money, currency) : fmt::format("{:.2f} {}", money, currency);
}

std::string carbon_in_words(double grams) {
  return grams < 1000 ? fmt::format("{:.3g} g CO2e", grams) : fmt::format("{:.4g} kg CO2e", grams / 1000);
}

std::string costs_in_words(const std::optional<double>& money, const std::optional<double>& joules,
                           const std::optional<double>& carbon, const std::string& currency) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (money) add(money_in_words(*money, currency));
  if (joules) add(human_energy(*joules));
  if (carbon) add(carbon_in_words(*carbon));
  return text.empty() ? "not known" : text;
}

std::string rate_in_words(double rate) {
  if (rate < 100) return fmt::format("{:.3g}", rate);
  if (rate < 1e6) return human_count(static_cast<std::int64_t>(rate + 0.5));
  return rate < 1e9 ? fmt::format("{:.3g} M", rate / 1e6) : fmt::format("{:.3g} G", rate / 1e9);
}

std::string large_number_in_words(double number) {
  if (number >= 1e12) return fmt::format("{:.3g} T", number / 1e12);
  if (number >= 1e9) return fmt::format("{:.3g} B", number / 1e9);
  return number >= 1e6 ? fmt::format("{:.3g} M", number / 1e6) : rate_in_words(number);
}

std::string seconds_with_interval(double seconds, double low, double high) {
  const std::string value = human_seconds(seconds);
  std::string from = human_seconds(low);
  std::string to = human_seconds(high);
  // A time such as "4 min 10 s" has more than one number, so the unit cannot be shared.
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

std::string times_in_words(double factor) {
  if (!std::isfinite(factor)) return "infinitely many times";  // the time of reference is zero
  if (factor < 1.1) return fmt::format("{:.3f} times", factor);
  return factor < 10 ? fmt::format("{:.2f} times", factor) : fmt::format("{:.0f} times", factor);
}

std::string factor_in_words(const estimate::Estimate& factor) {
  if ((!factor.low && !factor.high) || !std::isfinite(factor.value)) return times_in_words(factor.value);
  const int digits = digits_of(factor);
  return fmt::format("{} times ({})", with_digits(factor.value, digits), ends_in_words(factor, digits));
}

std::string interval_in_words(const estimate::Estimate& ratio) {
  const int digits = digits_of(ratio);
  return fmt::format("{}; {}", with_digits(ratio.value, digits), ends_in_words(ratio, digits));
}

std::string would_tell_in_words(estimate::WouldTell what) {
  switch (what) {
    case estimate::WouldTell::seeds:
      return "more seeds (seeds=\"5\" of <training>) would decide";
    case estimate::WouldTell::evaluations:
      return "more evaluations (evaluate-every of <training>) would decide";
    case estimate::WouldTell::calibration:
      return "a measured step of each (dadsim calibrate) would decide";
    case estimate::WouldTell::nothing:
      break;
  }
  return "no change here would decide it";
}

}  // namespace dadsim::report
