#pragma once

#include <array>
#include <cstdint>

#include "spec/names.hpp"

namespace dadsim::report {

/// What runs are compared by.
enum class Metric : std::uint8_t {
  time_at_scale,   ///< of the workload to the accuracy that its known steps are to
  time_per_step,   ///< of the workload, where no steps are known, or nothing was learned: at equal work
  time_per_round,  ///< the same of event-driven runs at the points of a sweep, where nothing was learned
  throughput,      ///< the same where a step of one does more than a step of the other: samples or tokens per second
  per_money,       ///< tokens or samples for the same money
  per_energy,      ///< and for the same energy
  time_to_target,  ///< of the network that learned, where that is what is timed
};
constexpr auto names_of(Metric) {
  using enum Metric;
  return std::to_array<spec::Name<Metric>>({{time_at_scale, "time-at-scale"},
                                            {time_per_step, "time-per-step"},
                                            {time_per_round, "time-per-round"},
                                            {throughput, "throughput"},
                                            {per_money, "per-money"},
                                            {per_energy, "per-kwh"},
                                            {time_to_target, "time-to-target"}});
}
using spec::to_string;

}  // namespace dadsim::report
