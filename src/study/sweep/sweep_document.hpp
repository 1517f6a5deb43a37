#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "report/document/document.hpp"
#include "report/sweep/sweep_report.hpp"
#include "study/sweep/results.hpp"
#include "study/sweep/winners.hpp"

namespace dadsim::study {

/// Returns a line for every point, seed and run (docs/sweep.md).
std::string sweep_csv(const SweepResults& results);
/// Does the same for a file, part by part. Throws InputError if it is damaged.
void write_sweep_csv(Database& database, const std::function<void(std::string_view)>& put);

/// Returns the results of a file for its page; `all`: the outcome of every point.
report::SweepReport sweep_report_of(const SweepResults& results, const std::vector<PointOutcome>& all);

/// Returns the document of a sweep: everything of its page (report::SweepReport), and for a terminal fewer than 40
/// lines. Few points are listed with their quickest run; otherwise it counts how often each run is the quickest, with a
/// map over two axes.
report::Document document_of(const SweepResults& results);
/// Reads a file; for more than kMostRunsShown runs, the document counts them and refers to the CSV. Throws InputError
/// if a page is requested of such a file.
report::Document document_of_file(Database& database, bool for_page);

}  // namespace dadsim::study
