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

/// Returns shorter steps several times as long and as far apart, in which doubts of flow are smaller; nothing if they
/// are no shorter than the whole step.
std::optional<FewerMicroBatches> longer(const FewerMicroBatches& numbers);

/// Continues two shorter steps to all micro-batches. Returns nothing unless both were timed by flow or closed form
/// without a doubt that a result would report, with equal schedules in the same order. `with_doubts`: steps with such
/// doubts are continued too, and keep them.
std::optional<sim::TimedRun> continued(const FewerMicroBatches& numbers, const sim::TimedRun& few,
                                       const sim::TimedRun& more, bool with_doubts = false);

}  // namespace dadsim::study
