#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"
#include "spec/cost_specification.hpp"
#include "spec/evaluation_specification.hpp"
#include "spec/failure_specification.hpp"
#include "spec/framework_specification.hpp"
#include "spec/goal_specification.hpp"
#include "spec/metric_specification.hpp"
#include "spec/payload_specification.hpp"
#include "spec/scale_study_specification.hpp"
#include "spec/specification.hpp"
#include "spec/sweep_specification.hpp"

namespace dadsim::scenario {

/// A scenario as the user meant it: complete, every default filled in, every reference checked.
struct Scenario {
  std::string file;  ///< as given on the command line
  std::string name;
  std::string description;  ///< may be empty
  std::uint64_t seed = 1;
  spec::PlatformSpec platform;
  std::vector<std::string> platform_files;  ///< that a platform file names in its turn
  spec::NetworkSpec network;
  spec::FrameworkSpec framework;
  spec::FailureSpec failures;             ///< simulated by event-driven runs alone
  std::vector<spec::DeviceSpec> devices;  ///< defined in the scenario itself
  std::vector<spec::Placement> workers;   ///< of several devices: the first of each
  /// Where workers are of several devices, all of them as they were named: with T devices to a layer, C parts of a
  /// sequence and D workers, device t of part c in stage p of worker d is number t + T (c + C (d + D p)). Empty where
  /// every worker is of one.
  std::vector<spec::Placement> devices_of_workers;
  const std::vector<spec::Placement>& all_devices() const {
    return devices_of_workers.empty() ? workers : devices_of_workers;
  }
  /// The worker that such a device is of.
  std::size_t worker_of(std::size_t device) const {
    if (devices_of_workers.empty()) return device;
    return device / static_cast<std::size_t>(timed_as->parallelism.of_stage()) % workers.size();
  }
  std::optional<spec::Placement> aggregator;
  spec::DataSpec data;
  spec::ModelSpec model;
  spec::TrainingSpec training;
  std::optional<spec::TimedAsSpec> timed_as;
  std::shared_ptr<const schedule::Schedule>
      recorded;              ///< the step that the file of timed_as holds; null: it has layers
  bool timing_only = false;  ///< nothing is learned: steps are recorded for their sizes alone
  /// There is no network that learns: `data`, `model` and most of `training` are of one that steps are recorded on.
  bool stand_in = false;
  spec::PayloadSpec payload;  ///< what stands for a network and data there
  std::vector<spec::RunSpec> runs;
  /// The hash of the resolved scenario with the contents of the files it names instead of their paths: equal scenarios
  /// have equal hashes wherever they lie.
  std::uint64_t hash = 0;
  spec::AskedMetric metric = spec::AskedMetric::automatic;  ///< what runs are compared by
  bool ignore_memory = false;            ///< runs that do not fit the memory of their devices are timed all the same
  std::optional<spec::SweepSpec> sweep;  ///< what `dadsim sweep` varies; it is no part of the hash
  std::optional<spec::CostSpec> costs;
  std::optional<spec::EvaluationSpec> evaluation;   ///< of the last models of event-driven runs
  std::optional<spec::GoalSpec> goal;               ///< what `dadsim plan` is to reach; no part of the hash either
  std::optional<spec::ScaleStudySpec> scale_study;  ///< what `dadsim scale-study` learns; no part of it either
  std::string ladder;  ///< file of a scale study that relative steps are taken from; empty: none
};

}  // namespace dadsim::scenario
