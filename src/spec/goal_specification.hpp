#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/names.hpp"
#include "spec/sweep_specification.hpp"

// Goals of a plan, and the changes that it may make to reach them.

namespace dadsim::spec {

/// A change that a plan may make: one of a list of values, or any number of a range.
struct AllowedChange {
  VariedPath varied;
  /// Preferred end of the range: least (a bandwidth that costs money) or most (a tolerable latency).
  bool prefers_least = true;
};

/// Permits changing how the network is divided among its devices: the fastest division that fits is taken.
struct AllowedLayouts {
  /// Samples of all replicas per step; none: those of the undivided network of each choice.
  std::optional<std::int64_t> global_batch = {};
};

/// Order of two answers that meet every limit.
enum class Objective : std::uint8_t {
  automatic,     ///< the preferred number of a range, then the quantities with limits: money first, then time
  quickest,      ///< the least time
  cheapest,      ///< the least money
  least_energy,  ///< the fewest joules
  least_carbon,  ///< the least CO2 equivalent
};
constexpr auto names_of(Objective) {
  using enum Objective;
  return std::to_array<Name<Objective>>({{automatic, "auto"},
                                         {quickest, "quickest"},
                                         {cheapest, "cheapest"},
                                         {least_energy, "least-energy"},
                                         {least_carbon, "least-carbon"}});
}

/// Limits until the target accuracy is reached, or the workload is done; absent ones are unlimited.
struct GoalSpec {
  std::optional<double> accuracy = {};  ///< 0…1; none: the target of the scenario
  std::optional<double> seconds = {};
  std::optional<double> money = {};            ///< money, in the currency of the scenario's <costs>
  std::optional<double> joules = {};           ///< energy of devices and links
  std::optional<double> carbon = {};           ///< grams of CO2 equivalent
  std::optional<double> memory = {};           ///< bytes in the memory of a worker's device
  std::optional<double> watts = {};            ///< mean power over a step, all devices together, watts
  std::optional<std::int64_t> devices = {};    ///< number of devices of all workers
  std::optional<double> throughput = {};       ///< minimum: tokens per second, or samples for workloads without tokens
  std::optional<double> scaling = {};          ///< minimum scaling efficiency
  Objective objective = Objective::automatic;  ///< orders the answers that meet the limits
  std::optional<Objective> against = {};       ///< second objective, against which the trade-off front is shown
  std::string run = {};                        ///< label of the run that must meet the goal; empty: any run
  /// Only the first range is solved to three digits; of other ranges a few values are tried.
  std::vector<AllowedChange> allowed = {};
  std::optional<AllowedLayouts> layouts = {};  ///< layouts that a plan may choose; none: the network is divided as in
                                               ///< the scenario
};

}  // namespace dadsim::spec
