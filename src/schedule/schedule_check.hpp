#pragma once

#include <cstddef>
#include <string>

#include "schedule/schedule.hpp"

namespace dadsim::schedule {

/// The law of a schedule, which whoever simulates it relies on: why it cannot be simulated by `workers` workers, with
/// an aggregator or without, as the words behind "schedule 3 "; empty if it can.
std::string fault_of(const Schedule& schedule, std::size_t workers, bool has_aggregator);

}  // namespace dadsim::schedule
