#pragma once

#include <span>
#include <string>
#include <vector>

namespace dadsim::estimate {

/// Settings of a step, apart from its network, for which no measured step may exist.
struct StepSetting {
  std::string device;                         ///< generation of the device, or its name
  std::string program;                        ///< program whose operators run
  std::string precision;                      ///< name of the precision, for example "bf16"
  std::vector<std::string> parallelism = {};  ///< kinds of parallelism, for example "tensor"
  double devices = 1;
};

/// Settings of measured steps, for one kind of device and program: a row of seen_steps.csv.
struct SeenSteps {
  std::string device, program;
  std::vector<std::string> precisions, parallelism;
  double devices = 1;  ///< largest number of devices in a measured step
};

/// Returns the settings of all validation rows.
std::span<const SeenSteps> seen_steps();

/// Returns categories for the settings that no step in `seen` has: unseen.device alone; otherwise unseen.software
/// alone; otherwise any of unseen.parallelism, unseen.precision and unseen.size.
std::vector<std::string> unseen_in(const StepSetting& step, std::span<const SeenSteps> seen);

}  // namespace dadsim::estimate
