#pragma once

#include "report/document/document.hpp"
#include "report/run/answer.hpp"
#include "report/run/result.hpp"

// Parts that documents of runs have in common: results, explanations and comparisons.

namespace dadsim::report {

/// Adds all figures of a run by their names; null where they are not known.
void add_figures(TableRow& row, const RunResult& run, const Result& result);

/// An object.
DocumentTable object_of(const Answer& answer, const Result& result);

}  // namespace dadsim::report
