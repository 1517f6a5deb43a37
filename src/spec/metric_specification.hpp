#pragma once

#include <array>
#include <cstdint>

#include "spec/names.hpp"

namespace dadsim::spec {

/// Metric by which a scenario compares its runs.
enum class AskedMetric : std::uint8_t {
  automatic,   ///< time to accuracy, or to a budget, if known; otherwise throughput
  throughput,  ///< tokens, or samples, per second
  per_money,   ///< tokens, or samples, for the same money
  per_energy,  ///< tokens, or samples, for the same energy
};
constexpr auto names_of(AskedMetric) {
  using enum AskedMetric;
  return std::to_array<Name<AskedMetric>>(
      {{automatic, "auto"}, {throughput, "throughput"}, {per_money, "per-money"}, {per_energy, "per-kwh"}});
}

}  // namespace dadsim::spec
