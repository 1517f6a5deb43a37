#pragma once

#include "report/sweep_report.hpp"
#include "study/sweep/results.hpp"

namespace dadsim {

/// The results of a file for a page (report/html/sweep.hpp).
SweepReport sweep_report_of(const SweepResults& results);

}  // namespace dadsim
