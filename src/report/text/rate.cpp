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

}  // namespace dadsim::report
