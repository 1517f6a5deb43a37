#pragma once

#include <string>

#include "report/run/result.hpp"

namespace dadsim::report {

/// The learning curves in long format: a header, then one line per run and evaluation; the columns are documented in
/// docs/output-csv.md. Fields are quoted as RFC 4180 asks where they need it; what is not a finite number is left
/// empty.
std::string to_csv(const Result& result);

}  // namespace dadsim::report
