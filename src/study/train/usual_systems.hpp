#pragma once

#include <cstdint>
#include <string>

namespace dadsim::study {

/// The system in which a device usually stands: a row of usual_systems.csv.
struct UsualSystem {
  std::string device, system;
  std::int64_t gpus = 1;  ///< joined by `inside`: a node, a rack, or a pod
  std::int64_t tray = 1;  ///< GPUs that come together; a job may use a part of a rack
  std::string inside;
  bool mesh = false;
  std::string nic;
  std::int64_t adapters = 1;  ///< adapters per node
  std::int64_t axes = 0;      ///< axes of a torus of devices; 0: nodes at a switch
};

/// nullptr if nothing is known.
const UsualSystem* usual_system_of(const std::string& device);

/// Tokens of a step of all devices that are usual for so many parameters.
double usual_tokens(std::int64_t parameters);

}  // namespace dadsim::study
