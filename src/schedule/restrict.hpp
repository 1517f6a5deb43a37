#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace dadsim::schedule {

/// The schedule for some of its replicas, by their numbers, rising: what they compute and hand over, and the edges
/// between them.
Schedule restricted(const Schedule& schedule, const std::vector<std::int32_t>& replicas);

}  // namespace dadsim::schedule
