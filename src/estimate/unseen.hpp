#pragma once

#include <span>
#include <string>
#include <vector>

namespace dadsim::estimate {

/// Settings of a step, apart from its network, that may differ from those of all measured steps.
struct StepSetting {
  std::string device;                         ///< generation of the device, or its name
  std::string program;                        ///< program that carries out operators
  std::string precision;                      ///< "bf16"
  std::vector<std::string> parallelism = {};  ///< kinds of division: "tensor"
  double devices = 1;
};

/// Settings of measured steps, for one kind of device and program: a row of seen_steps.csv.
struct SeenSteps {
  std::string device, program;
  std::vector<std::string> precisions, parallelism;
  double devices = 1;  ///< most devices in a measured step
};

/// Returns the settings of all validation rows.
std::span<const SeenSteps> seen_steps();

/// Returns a category for each setting that no step in `seen` has: unseen.device, or unseen.software, or any of
/// unseen.parallelism, unseen.precision and unseen.size.
std::vector<std::string> unseen_in(const StepSetting& step, std::span<const SeenSteps> seen);

}  // namespace dadsim::estimate
