#pragma once

#include <array>
#include <cstdint>

#include "spec/names.hpp"

namespace dadsim::report {

/// The quantity that compares runs.
enum class Metric : std::uint8_t {
  time_at_scale,   ///< time of the workload to the accuracy that its known steps refer to
  time_per_step,   ///< step time of the workload, if its steps are unknown, or nothing was learned: at equal work
  time_per_round,  ///< time of event-driven runs at the points of a sweep, if nothing was learned
  throughput,      ///< samples or tokens per second, if steps do different amounts of work
  per_money,       ///< tokens or samples for the same money
  per_energy,      ///< tokens or samples for the same energy
  time_to_target,  ///< time of the network that learned, if it is the timed one
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
