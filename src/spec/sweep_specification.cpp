#include "spec/sweep_specification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "support/parse_whole.hpp"

namespace dadsim::spec {
namespace {

/// Returns six significant digits, so that three steps from 0.1 to 0.3 give 0.2 instead of 0.20000000000000001; all
/// digits of whole numbers. The ends of a range stay as written.
std::string number_text(const VariedPath& varied, double number) {
  if (varied.whole) return fmt::format("{:.0f}", std::round(number));
  if (number == varied.from || number == varied.to) return fmt::format("{}", number);
  return fmt::format("{}", parse_whole<double>(fmt::format("{:.6g}", number)).value_or(number));
}

double number_at(const VariedPath& varied, double share) {
  if (share <= 0) return varied.from;
  if (share >= 1) return varied.to;
  if (!varied.logarithmic) return varied.from + share * (varied.to - varied.from);
  return varied.from * std::pow(varied.to / varied.from, share);
}

std::string put_into(const std::string& form, const std::string& value) {
  const std::size_t place = form.find("{}");
  if (place == std::string::npos) throw std::logic_error("a form without {}");
  return form.substr(0, place) + value + form.substr(place + 2);
}

}  // namespace

std::string VariedPath::at(std::size_t index) const {
  if (!values.empty()) return put_into(form, values.at(index));
  const double share = steps > 1 ? static_cast<double>(index) / static_cast<double>(steps - 1) : 0.0;
  return put_into(form, number_text(*this, number_at(*this, share)));
}

std::string VariedPath::at_quantile(double quantile) const {
  if (!values.empty()) {
    const auto index = static_cast<std::size_t>(quantile * static_cast<double>(values.size()));
    return put_into(form, values[std::min(index, values.size() - 1)]);
  }
  if (!whole || logarithmic) return put_into(form, number_text(*this, number_at(*this, quantile)));
  // All whole numbers, including both ends, have equal shares of the range.
  const double low = std::min(from, to);
  const double count = std::abs(to - from) + 1;
  return put_into(form, number_text(*this, std::min(low + std::floor(quantile * count), low + count - 1)));
}

std::string VariedPath::with(double number) const { return put_into(form, number_text(*this, number)); }

std::int64_t count_points(const SweepSpec& sweep) {
  constexpr std::int64_t kBeyond = kMostSweepPoints + 1;
  if (sweep.drawn()) return std::min(sweep.points, kBeyond);
  if (sweep.axes.empty()) return 0;
  if (sweep.method == SweepSpec::Method::list) {
    return std::min(static_cast<std::int64_t>(sweep.axes.front().front().count()), kBeyond);
  }
  std::int64_t points = 1;
  for (const SweepAxis& axis : sweep.axes) {
    // Both factors are at most 1,000,001, so that the product does not overflow.
    points = std::min(points * std::min(static_cast<std::int64_t>(axis.front().count()), kBeyond), kBeyond);
  }
  return points;
}

}  // namespace dadsim::spec
