#pragma once

#include <string>

#include "report/collective/collective_report.hpp"

namespace dadsim::report {

/// For a terminal: what was timed, a row per size with the columns of nccl-tests, and what lies behind the numbers.
std::string to_table(const CollectiveReport& report);

/// As JSON, indented, ending in a newline; every field is documented in docs/output-collective.md.
std::string to_json(const CollectiveReport& report);

/// As CSV: a header, then one line per size; the columns are documented in docs/output-collective.md.
std::string to_csv(const CollectiveReport& report);

}  // namespace dadsim::report
