#pragma once

#include <cstdint>
#include <optional>

#include "sim/simulator.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// Micro-batches of two shorter steps, from which a step of `all` micro-batches follows. Once a pipeline is full, every
/// further round of micro-batches takes the same time and sends the same bytes.
struct FewerMicroBatches {
  std::int64_t few = 0, more = 0, all = 0;
};

/// Returns the shorter steps; nothing if they are not much shorter, or a device's step was measured as a whole.
std::optional<FewerMicroBatches> fewer_micro_batches(const TimedAs& timed, const sim::Cluster& cluster);

/// Continues two shorter steps to all micro-batches. Returns nothing unless both were timed by flow or closed form
/// without a doubt that a result would report, with equal schedules in the same order.
std::optional<sim::TimedRun> continued(const FewerMicroBatches& numbers, const sim::TimedRun& few,
                                       const sim::TimedRun& more);

}  // namespace dadsim::study
