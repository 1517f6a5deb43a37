#include "step/timing.hpp"

#include <fmt/format.h>

namespace dadsim::step {

std::string name_of(const Bound& bound) {
  return bound.device.empty() ? bound.resource : fmt::format("{} ({})", bound.resource, bound.device);
}

}  // namespace dadsim::step
