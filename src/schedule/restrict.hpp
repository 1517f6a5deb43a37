#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace dadsim::schedule {

/// Returns the schedule of some of its replicas, in ascending order: their computations and messages, and the edges
/// between them.
Schedule restricted(const Schedule& schedule, const std::vector<std::int32_t>& replicas);

}  // namespace dadsim::schedule
