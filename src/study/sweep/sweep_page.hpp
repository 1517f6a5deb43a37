#pragma once

#include "report/sweep/sweep_report.hpp"
#include "study/sweep/results.hpp"

namespace dadsim::study {

/// The results of a file for a page (report/html/sweep.hpp).
report::SweepReport sweep_report_of(const SweepResults& results);
/// The same of a file. Throws InputError where it has more than kMostRunsShown runs.
report::SweepReport sweep_report_of_file(Database& database);

}  // namespace dadsim::study
