#pragma once

#include "report/sweep/sweep_report.hpp"
#include "study/sweep/results.hpp"

namespace dadsim::study {

/// The results of a file for a page (report/html/sweep.hpp).
report::SweepReport sweep_report_of(const SweepResults& results);

}  // namespace dadsim::study
