#pragma once

#include <cstdint>
#include <optional>

#include "sim/simulator.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// Micro-batches of two shorter steps, from which a step of `all` micro-batches follows. Once a pipeline is full, each
/// further round of micro-batches takes the same time and sends the same bytes.
struct FewerMicroBatches {
  std::int64_t few = 0, more = 0, all = 0;
};

/// Returns the shorter steps; nothing if they are not much shorter, or a device's step was measured as a whole.
std::optional<FewerMicroBatches> fewer_micro_batches(const TimedAs& timed, const sim::Cluster& cluster);

/// Returns a more distant pair of shorter steps, whose shorter one is `numbers.more`; nothing if they are not much
/// shorter than the whole step.
std::optional<FewerMicroBatches> further(const FewerMicroBatches& numbers);

/// Extrapolates two shorter steps to all micro-batches. Returns nothing unless both were timed by flow or closed form
/// with equal schedules in the same order. Without `doubt`, also returns nothing if flow has a doubt that a result
/// would report. With it, the step keeps that doubt, and `doubt` is added as a share of the step.
std::optional<sim::TimedRun> continued(const FewerMicroBatches& numbers, const sim::TimedRun& few,
                                       const sim::TimedRun& more, std::optional<double> doubt = {});

}  // namespace dadsim::study
