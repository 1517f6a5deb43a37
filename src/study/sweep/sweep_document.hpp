#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "report/document/document.hpp"
#include "report/sweep/sweep_report.hpp"
#include "study/sweep/results.hpp"
#include "study/sweep/winners.hpp"

namespace dadsim::study {

/// Returns the CSV of a sweep: a line for every point, seed and run (docs/sweep.md).
std::string sweep_csv(const SweepResults& results);
/// Writes the CSV of a file part by part. Throws InputError if the file is damaged.
void write_sweep_csv(Database& database, const std::function<void(std::string_view)>& put);

/// Returns the results of a file for its page. `all`: outcomes of all points.
report::SweepReport sweep_report_of(const SweepResults& results, const std::vector<PointOutcome>& all);

/// Returns the document of a sweep: everything for the page (report::SweepReport), and fewer than 40 lines for a
/// terminal. Lists few points with their quickest run; of many, counts how often each run is the quickest, with a map
/// over two axes.
report::Document document_of(const SweepResults& results);
/// Reads a file. For more than kMostRunsShown runs, the document counts them and refers to the CSV. Throws InputError
/// if a page of such a file is requested.
report::Document document_of_file(Database& database, bool for_page);

}  // namespace dadsim::study
