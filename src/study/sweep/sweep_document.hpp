#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "report/document/document.hpp"
#include "report/sweep/sweep_report.hpp"
#include "study/sweep/results.hpp"
#include "study/sweep/winners.hpp"

namespace dadsim::study {

/// A line for every point, seed and run (docs/sweep.md).
std::string sweep_csv(const SweepResults& results);
/// The same of a file, part by part. Throws InputError where it is damaged.
void write_sweep_csv(Database& database, const std::function<void(std::string_view)>& put);

/// The results of a file as its page shows them; `all`: the outcome of every point.
report::SweepReport sweep_report_of(const SweepResults& results, const std::vector<PointOutcome>& all);

/// Everything that a page shows (report::SweepReport), and for a terminal fewer than 40 lines: the quickest run of
/// every point where there are few points; else how often each run is the quickest, and over two axes a map.
report::Document document_of(const SweepResults& results);
/// Reads a file; where it has more than kMostRunsShown runs, the document counts them and names the CSV. Throws
/// InputError where such a file is asked for a page.
report::Document document_of_file(Database& database, bool for_page);

}  // namespace dadsim::study
