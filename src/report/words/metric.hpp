#pragma once

#include <array>
#include <cstdint>

#include "spec/names.hpp"

namespace dadsim::report {

/// The quantity by which runs are compared.
enum class Metric : std::uint8_t {
  time_at_scale,   ///< time of the workload to its published accuracy
  time_per_step,   ///< step time of the workload, if its number of steps is unknown or nothing was learned; for equal
                   ///< work
  time_per_round,  ///< time of a round of event-driven runs at the points of a sweep, if nothing was learned
  throughput,      ///< samples or tokens per second, if steps do different work
  per_money,       ///< tokens or samples per money
  per_energy,      ///< tokens or samples per energy
  time_to_target,  ///< time to the target of the learning network, if it is the timed one
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
