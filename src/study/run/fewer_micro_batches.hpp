#pragma once

#include <cstdint>
#include <optional>

#include "sim/simulator.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// Micro-batches of two shorter steps, from which a step of `all` micro-batches is extrapolated. Once a pipeline is
/// full, each further round of micro-batches takes the same time and sends the same bytes.
struct FewerMicroBatches {
  std::int64_t few = 0, more = 0, all = 0;
};

/// Returns the shorter steps; nothing if they are not much shorter, if the step has no equal micro-batches, or if it is
/// recorded or a device's step is measured.
std::optional<FewerMicroBatches> fewer_micro_batches(const TimedAs& timed, const sim::Cluster& cluster);

/// Returns a longer pair of short steps, whose first one is `numbers.more`; nothing if they are not much shorter than
/// the whole step.
std::optional<FewerMicroBatches> further(const FewerMicroBatches& numbers);

/// Extrapolates two shorter steps to all micro-batches. Returns nothing unless both were timed by flow or closed form
/// with equal schedules in the same order. Without `doubt`, also returns nothing if flow has a doubt that a result
/// would report. With `doubt`, the step keeps that doubt, and `doubt` is added as a share of the step.
std::optional<sim::TimedRun> continued(const FewerMicroBatches& numbers, const sim::TimedRun& few,
                                       const sim::TimedRun& more, std::optional<double> doubt = {});

}  // namespace dadsim::study
