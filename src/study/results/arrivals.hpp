#pragma once

#include <cstddef>

#include "report/run/result.hpp"
#include "study/learning/learned.hpp"

namespace dadsim::study {

/// When a run that is learned step by step had taken so many steps, in seconds from the start: as its curve says, and
/// beyond it with steps of its mean.
double seconds_at(const report::RunResult& run, std::int64_t step);

/// How far a seed moves the time to the target of runs of this kind: as its method or its compression does, whichever
/// is more.
double seed_scatter_of(const spec::RunSpec& run, bool exact);

/// Fills in when run `i` reached the target with each of its seeds, and what it came to (RunResult::arrivals,
/// best_accuracies, final_accuracies). Of event-driven runs with the first alone.
void add_arrivals(const Learned& learned, std::size_t i, double target, report::RunResult& run);

}  // namespace dadsim::study
