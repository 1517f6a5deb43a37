#pragma once

#include <string>

#include "report/result.hpp"

namespace dadsim::report {

/// The result for a terminal: a table with one row per run, a sentence per run on what bound it, the assumptions, and a
/// closing sentence that names the winner. At most kTableWidth columns wide, without colour. Throws std::logic_error if
/// the ranks do not fit the layer names.
std::string to_table(const Result& result);

/// The closing sentence alone.
std::string verdict(const Result& result);

}  // namespace dadsim::report
