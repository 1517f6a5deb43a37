#pragma once

#include <cstddef>
#include <vector>

#include "sim/process/compat.hpp"
#include "spec/device_specification.hpp"
#include "spec/framework_specification.hpp"

namespace dadsim::sim {

/// The nodes of a cluster on a loaded platform: workers first, then the aggregator if there is one.
struct Nodes {
  std::vector<simgrid::s4u::Host*> hosts;
  std::vector<const spec::DeviceSpec*> devices;
  std::size_t workers = 0;
  const spec::FrameworkSpec* framework = nullptr;  ///< framework that carries out collectives; null: it takes no time
};

}  // namespace dadsim::sim
