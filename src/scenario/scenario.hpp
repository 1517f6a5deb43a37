#pragma once

#include <cstddef>
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
#include "spec/islands.hpp"
#include "spec/payload_specification.hpp"
#include "spec/scale_study_specification.hpp"
#include "spec/specification.hpp"
#include "spec/sweep_specification.hpp"

namespace dadsim::scenario {

/// A complete scenario: every default is filled in, and every reference is checked.
struct Scenario {
  std::string file;  ///< path given on the command line
  std::string name;
  std::string description;  ///< text of <description>; may be empty
  std::uint64_t seed = 1;
  spec::PlatformSpec platform;
  std::vector<std::string> platform_files;  ///< files that a platform file names
  spec::NetworkSpec network;
  spec::FrameworkSpec framework;
  spec::FailureSpec failures;             ///< outages, which only event-driven runs simulate
  std::vector<spec::DeviceSpec> devices;  ///< devices that the scenario defines
  std::vector<spec::Placement> workers;   ///< placement of each worker; if workers have several devices, of their first
                                          ///< devices
  /// All named devices, for workers of several devices: with T devices to a layer, C parts of a sequence and D workers,
  /// device t of part c in stage p of worker d has number t + T (c + C (d + D p)). Empty if every worker is one device.
  std::vector<spec::Placement> devices_of_workers;
  const std::vector<spec::Placement>& all_devices() const {
    return devices_of_workers.empty() ? workers : devices_of_workers;
  }
  /// Returns the worker to which a device with this number belongs.
  std::size_t worker_of(std::size_t device) const {
    if (devices_of_workers.empty()) return device;
    return device / static_cast<std::size_t>(timed_as->parallelism.of_stage()) % workers.size();
  }
  std::optional<spec::Placement> aggregator;
  spec::DataSpec data;
  spec::ModelSpec model;
  spec::TrainingSpec training;
  std::optional<spec::TimedAsSpec> timed_as;
  std::shared_ptr<const schedule::Schedule> recorded;  ///< recorded step from the file of timed_as; null: the workload
                                                       ///< has layers
  bool timing_only = false;                            ///< true: nothing is learned, and steps are recorded for their
                                                       ///< sizes alone
  /// True if no network learns. `data`, `model` and most of `training` are then stand-ins, on which steps are recorded.
  bool stand_in = false;
  spec::PayloadSpec payload;  ///< with timing_only: sizes in place of a network and data
  std::vector<spec::RunSpec> runs;
  /// The hash of the resolved scenario, with the contents of files in place of their paths. Equal scenarios have equal
  /// hashes in any folder.
  std::uint64_t hash = 0;
  spec::AskedMetric metric = spec::AskedMetric::automatic;  ///< metric by which reports compare runs
  bool ignore_memory = false;            ///< true: runs are timed even if they do not fit their devices' memory
  std::optional<spec::SweepSpec> sweep;  ///< axes of `dadsim sweep`; not part of the hash
  std::optional<spec::CostSpec> costs;
  std::optional<spec::EvaluationSpec> evaluation;   ///< evaluation of the last models of event-driven runs
  std::optional<spec::GoalSpec> goal;               ///< goal of `dadsim plan`; not part of the hash
  std::optional<spec::ScaleStudySpec> scale_study;  ///< study for `dadsim scale-study`; not part of the hash
  std::string ladder;                               ///< scale study file with relative steps; empty: none
};

/// Returns the number of participants of a run. A participant is a group of consecutive devices, all groups of one
/// size: one replica of the network, or several replicas that share gradients.
inline std::size_t participants_of(const Scenario& scenario, const spec::RunSpec& run) {
  const auto islands = static_cast<std::size_t>(spec::islands_of(run.parameters));
  return islands > 0 ? islands : scenario.workers.size();
}

inline std::size_t devices_of_participant(const Scenario& scenario, const spec::RunSpec& run) {
  return scenario.all_devices().size() / participants_of(scenario, run);
}

inline std::size_t replicas_of_participant(const Scenario& scenario, const spec::RunSpec& run) {
  return scenario.workers.size() / participants_of(scenario, run);
}

}  // namespace dadsim::scenario
