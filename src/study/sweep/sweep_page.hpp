#pragma once

#include "report/sweep/sweep_report.hpp"
#include "study/sweep/results.hpp"
#include "study/sweep/winners.hpp"

namespace dadsim::study {

/// The results of a file as its page shows them; `all`: the outcome of every point.
report::SweepReport sweep_report_of(const SweepResults& results, const std::vector<PointOutcome>& all);

}  // namespace dadsim::study
