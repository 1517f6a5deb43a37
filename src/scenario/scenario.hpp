#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/cost_specification.hpp"
#include "plan/goal_specification.hpp"
#include "plan/specification.hpp"
#include "plan/sweep_specification.hpp"

namespace dadsim {

/// A scenario as the user meant it: complete, every default filled in, every reference checked.
struct Scenario {
  std::string file;  ///< as given on the command line
  std::string name;
  std::string description;  ///< may be empty
  std::uint64_t seed = 1;
  PlatformSpec platform;
  NetworkSpec network;
  std::vector<DeviceSpec> devices;  ///< defined in the scenario itself
  std::vector<Placement> workers;
  std::optional<Placement> aggregator;
  DataSpec data;
  ModelSpec model;
  TrainingSpec training;
  std::optional<TimedAsSpec> timed_as;
  std::vector<RunSpec> runs;
  /// Of the resolved scenario with the contents of the files it names instead of their paths: equal scenarios have
  /// equal hashes wherever they lie.
  std::uint64_t hash = 0;
  bool ignore_memory = false;      ///< runs that do not fit the memory of their devices are timed all the same
  std::optional<SweepSpec> sweep;  ///< what `dadsim sweep` varies; it is no part of the hash
  std::optional<CostSpec> costs;
  std::optional<GoalSpec> goal;  ///< what `dadsim plan` is to reach; no part of the hash either
};

}  // namespace dadsim
