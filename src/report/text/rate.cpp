#include "report/text/rate.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "support/human.hpp"

namespace dadsim::report {

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

}  // namespace dadsim::report
