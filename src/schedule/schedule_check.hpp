#pragma once

#include <cstddef>
#include <string>

#include "schedule/schedule.hpp"

namespace dadsim::schedule {

/// Returns why a schedule for `workers` workers, with or without an aggregator, breaks the rules that simulations rely
/// on, in words that follow "schedule 3 ". Returns an empty text if it does not.
std::string fault_of(const Schedule& schedule, std::size_t workers, bool has_aggregator);

}  // namespace dadsim::schedule
