#pragma once

#include <string>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Time to accuracy at scale for a terminal: the three factors of every run with their product, where the known steps
/// come from, and what is not known; unless `verbose` the factors alone. Empty where the result has none. table_width()
/// columns wide.
std::string scale_table(const Result& result, bool verbose);

}  // namespace dadsim::report
