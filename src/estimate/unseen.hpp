#pragma once

#include <span>
#include <string>
#include <vector>

namespace dadsim::estimate {

/// Setting of a step, apart from its network, which measured steps may or may not have had.
struct StepSetting {
  std::string device;                         ///< generation of the device, or its name
  std::string program;                        ///< program that carries out operators
  std::string precision;                      ///< "bf16"
  std::vector<std::string> parallelism = {};  ///< kinds of division: "tensor"
  double devices = 1;
};

/// Measured steps of one kind of device and program: a row of seen_steps.csv.
struct SeenSteps {
  std::string device, program;
  std::vector<std::string> precisions, parallelism;
  double devices = 1;  ///< the most devices of a step
};

/// Steps of all rows of validation.
std::span<const SeenSteps> seen_steps();

/// Returns the categories of what no step of `seen` has: unseen.device, or unseen.software, or any of
/// unseen.parallelism, unseen.precision and unseen.size.
std::vector<std::string> unseen_in(const StepSetting& step, std::span<const SeenSteps> seen);

}  // namespace dadsim::estimate
