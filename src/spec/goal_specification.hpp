#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/sweep_specification.hpp"

// What is to be reached, and what may be changed to reach it.

namespace dadsim::spec {

/// A change that a plan may make: one of a list of values, or any number of a range.
struct AllowedChange {
  VariedPath varied;
  /// Whether less of a range is better (a bandwidth that has to be paid for) or more (a latency that can be borne).
  bool prefers_least = true;
};

/// At most so much until the target accuracy is reached; what is not given is free.
struct GoalSpec {
  std::optional<double> accuracy = {};  ///< 0…1; none: the target of the scenario
  std::optional<double> seconds = {};
  std::optional<double> money = {};   ///< in the currency of the scenario's <costs>
  std::optional<double> joules = {};  ///< of devices and links
  std::optional<double> carbon = {};  ///< grams of CO2 equivalent
  std::string run = {};               ///< label of the run that has to meet it; empty: any
  /// The first range is the one that is answered to three digits; of other ranges a few values are tried.
  std::vector<AllowedChange> allowed = {};
};

}  // namespace dadsim::spec
