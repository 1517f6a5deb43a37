#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/names.hpp"
#include "spec/sweep_specification.hpp"

// The goal of a plan, and the changes that the plan may make to reach it.

namespace dadsim::spec {

/// A change that a plan may make: a value from a list, or any number of a range.
struct AllowedChange {
  VariedPath varied;
  /// True: the least number of the range is preferred, e.g. of a bandwidth that costs money; false: the largest, e.g.
  /// of a tolerable latency.
  bool prefers_least = true;
};

/// Permission to choose how the network is divided among devices: the fastest division that fits is used.
struct AllowedLayouts {
  /// global batch, samples; none: that of the undivided network of each choice
  std::optional<std::int64_t> global_batch = {};
};

/// Order of two answers that meet all limits.
enum class Objective : std::uint8_t {
  automatic,     ///< a limited quantity (money, else energy, else CO2 equivalent), then the preferred number of the
                 ///< range, then money if time is limited, then time
  quickest,      ///< least time
  cheapest,      ///< least money
  least_energy,  ///< least energy
  least_carbon,  ///< least CO2 equivalent
};
constexpr auto names_of(Objective) {
  using enum Objective;
  return std::to_array<Name<Objective>>({{automatic, "auto"},
                                         {quickest, "quickest"},
                                         {cheapest, "cheapest"},
                                         {least_energy, "least-energy"},
                                         {least_carbon, "least-carbon"}});
}

/// Limits until the target accuracy is reached, or the workload is done; empty: no limit.
struct GoalSpec {
  std::optional<double> accuracy = {};  ///< accuracy, 0…1; none: the scenario's target
  std::optional<double> seconds = {};
  std::optional<double> money = {};            ///< limit on money, in the currency of the scenario's <costs>
  std::optional<double> joules = {};           ///< limit on the energy of devices and links, joules
  std::optional<double> carbon = {};           ///< limit on emissions, grams of CO2 equivalent
  std::optional<double> memory = {};           ///< limit on the memory in use on a worker's device, bytes
  std::optional<double> watts = {};            ///< limit on the power of all devices together, watts, mean over a step
  std::optional<std::int64_t> devices = {};    ///< largest number of devices, of all workers together
  std::optional<double> throughput = {};       ///< lower limit on tokens per second, or on samples per second if there
                                               ///< are no tokens
  std::optional<double> scaling = {};          ///< lower limit on scaling efficiency
  Objective objective = Objective::automatic;  ///< order of the answers that meet the limits
  std::optional<Objective> against = {};       ///< second objective of a Pareto front
  std::string run = {};                        ///< label of the run that must meet the goal; empty: any run
  /// allowed changes; the first range is searched to three digits, every other range only at a few values
  std::vector<AllowedChange> allowed = {};
  std::optional<AllowedLayouts> layouts = {};  ///< permission to choose layouts; none: the scenario's layout is kept
};

}  // namespace dadsim::spec
