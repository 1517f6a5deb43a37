#pragma once

#include <cstddef>
#include <numeric>

#include "step/event_log.hpp"

namespace dadsim::report {

/// Returns the sum over the first `count` nodes of an event-driven run.
template <class Number>
Number sum_over(const step::EventLog& log, std::size_t count, Number step::EventLog::NodeUse::*what) {
  return std::accumulate(log.nodes.begin(), log.nodes.begin() + static_cast<std::ptrdiff_t>(count), Number{},
                         [&](Number sum, const step::EventLog::NodeUse& node) { return sum + node.*what; });
}

}  // namespace dadsim::report
