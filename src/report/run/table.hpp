#pragma once

#include <string>

#include "report/run/result.hpp"

namespace dadsim::report {

/// For a terminal, below the answer: a table with one row per run, and a sentence per run on what bound it.
/// table_width() columns wide, without colour. Throws std::logic_error if the ranks do not fit the layer names.
std::string tables_of(const Result& result, bool verbose);
/// What a result rests on: assumptions and models, or in one line how many they are.
std::string background(const Result& result, bool verbose);

}  // namespace dadsim::report
