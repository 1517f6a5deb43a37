#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/names.hpp"
#include "spec/sweep_specification.hpp"

// What is to be reached, and what may be changed to reach it.

namespace dadsim::spec {

/// A change that a plan may make: one of a list of values, or any number of a range.
struct AllowedChange {
  VariedPath varied;
  /// Whether less of a range is better (a bandwidth that has to be paid for) or more (a latency that can be borne).
  bool prefers_least = true;
};

/// How the network is divided among its devices may be changed: what is quickest of all that fits is taken.
struct AllowedLayouts {
  /// Samples of all replicas per step; none: as many as each choice has where nothing divides the network.
  std::optional<std::int64_t> global_batch = {};
};

/// What is better of two answers that meet every limit.
enum class Objective : std::uint8_t {
  automatic,     ///< of a range the preferred number, then what has a limit, money first, then time
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

/// At most so much until the target accuracy is reached, or the work of the workload is done; what is not given is
/// free.
struct GoalSpec {
  std::optional<double> accuracy = {};  ///< 0…1; none: the target of the scenario
  std::optional<double> seconds = {};
  std::optional<double> money = {};            ///< in the currency of the scenario's <costs>
  std::optional<double> joules = {};           ///< of devices and links
  std::optional<double> carbon = {};           ///< grams of CO2 equivalent
  std::optional<double> memory = {};           ///< bytes that the device of a worker holds
  std::optional<double> watts = {};            ///< of all devices together, mean over a step
  std::optional<std::int64_t> devices = {};    ///< of all workers
  std::optional<double> throughput = {};       ///< at least: tokens per second, or samples where there are none
  std::optional<double> scaling = {};          ///< at least: scaling efficiency
  Objective objective = Objective::automatic;  ///< orders the answers that meet the limits
  std::optional<Objective> against = {};       ///< and shows the front of the two
  std::string run = {};                        ///< label of the run that has to meet it; empty: any
  /// The first range is the one that is answered to three digits; of other ranges a few values are tried.
  std::vector<AllowedChange> allowed = {};
  std::optional<AllowedLayouts> layouts = {};  ///< none: the network is divided as the scenario says
};

}  // namespace dadsim::spec
