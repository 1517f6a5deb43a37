#include "support/link_rate.hpp"

#include <fmt/format.h>

namespace dadsim {

std::string human_link_rate(double bytes_per_second) {
  if (bytes_per_second >= 1e12 / 8) return fmt::format("{:.4g} GB/s", bytes_per_second / 1e9);
  const double bits = bytes_per_second * 8;
  if (bits >= 1e9) return fmt::format("{:.4g} Gbit/s", bits / 1e9);
  if (bits >= 1e6) return fmt::format("{:.4g} Mbit/s", bits / 1e6);
  return fmt::format("{:.4g} kbit/s", bits / 1e3);
}

}  // namespace dadsim
