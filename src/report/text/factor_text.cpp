#include "report/text/factor_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dadsim::report {
namespace {

/// Writes `digits` significant digits without an exponent.
std::string with_digits(double value, int digits) {
  if (!std::isfinite(value)) return "∞";
  const int before = value >= 1 ? static_cast<int>(std::floor(std::log10(value))) + 1 : 0;
  return fmt::format("{:.{}f}", value, std::max(0, digits - before));
}

/// Returns the digits that an interval leaves: three if its ends differ by less than a fifth, else two.
int digits_of(const estimate::Estimate& ratio) {
  constexpr double kWide = 1.2;
  return ratio.low && ratio.high && *ratio.low > 0 && *ratio.high / *ratio.low < kWide ? 3 : 2;
}

std::string ends_in_words(const estimate::Estimate& ratio, int digits) {
  return fmt::format("{} … {}", with_digits(ratio.low.value_or(0), digits),
                     ratio.high ? with_digits(*ratio.high, digits) : "?");
}

}  // namespace

std::string times_in_words(double factor) {
  if (!std::isfinite(factor)) return "infinitely many times";  // a multiple of a time of zero
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
