#pragma once

#include <cstdint>

#include "algorithms/leak/sample_rows.hpp"

namespace dadsim::algorithms {

/// Sites whose batches are measured in a step, at most; the others take turns.
inline constexpr std::size_t kLeakSites = 4;

/// In every how many steps spans are measured, so that all of a run takes some 2 % of the multiply-adds of its learning
/// and is done some twelve times at most; in the first step and in the last it always is. `batch`: samples of a site in
/// a step.
std::int64_t leak_interval(const SampleRows& rows, const models::Network& network, std::int64_t batch,
                           std::size_t sites, std::int64_t steps);

}  // namespace dadsim::algorithms
