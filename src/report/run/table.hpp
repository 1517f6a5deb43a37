#pragma once

#include <cstddef>
#include <string>

#include "report/run/result.hpp"
#include "report/text/paragraph.hpp"

namespace dadsim::report {

/// The result for a terminal: the sentences that name the winner, a table with one row per run and a sentence per run
/// on what bound it, and what both rest on. table_width() columns wide, without colour. Throws std::logic_error if the
/// ranks do not fit the layer names.
Summary summary_of(const Result& result, bool verbose);
/// What a result rests on: assumptions and models, or in one line how many they are.
std::string background(const Result& result, bool verbose);
/// All of it, assumptions included.
std::string to_table(const Result& result);

}  // namespace dadsim::report
