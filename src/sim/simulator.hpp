#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan/schedule.hpp"
#include "plan/specification.hpp"
#include "plan/timing.hpp"

namespace dadsim {

/// The simulation itself failed (a deadlock, a link that is down). The message carries SimGrid's words.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The simulated cluster: where each worker runs, and on what.
struct Cluster {
  std::string platform;             ///< SimGrid platform file
  std::vector<std::string> hosts;   ///< per worker
  std::vector<DeviceSpec> devices;  ///< per worker
  std::string aggregator_host;      ///< empty if there is none
  DeviceSpec aggregator_device;
};

/// Times every schedule from an idle cluster, one after the other, in one forked process (SimGrid's engine is a
/// singleton with a clock that never goes back). A schedule of fewer workers than the cluster has uses the first ones.
/// Distinct schedules are simulated once, unless the platform varies over time: then all are, and should be all steps
/// of a run in order. `progress` is called with the number done. Throws SimulationError.
std::vector<StepTiming> time_schedules(const Cluster& cluster, std::span<const Schedule> schedules,
                                       const std::function<void(std::size_t)>& progress = {});

/// In words, for every result: which network model was used and with which settings.
std::string network_model_description();

/// E.g. "3.32".
std::string simgrid_version();

}  // namespace dadsim
