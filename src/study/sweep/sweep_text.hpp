#pragma once

#include <string>

#include "report/text/paragraph.hpp"
#include "study/sweep/results.hpp"

namespace dadsim::study {

/// For a terminal, fewer than 40 lines: the quickest run of every point where there are few points; else how often each
/// run is the quickest, and over two axes a map.
report::Summary summary_of(const SweepResults& results);
/// The same of a file; of one with more than kMostRunsShown runs how many there are, and where to read them.
report::Summary summary_of_file(Database& database);
std::string sweep_table(const SweepResults& results);

}  // namespace dadsim::study
