#pragma once

#include "report/run/answer.hpp"
#include "report/run/result.hpp"
#include "report/words/statement_json.hpp"

// What every JSON of runs has in common: results, explanations and comparisons.

namespace dadsim::report {

/// All figures of a run by their names; null where they are not known.
Json figures_in_json(const RunResult& run, const Result& result);

Json in_json(const Answer& answer, const Result& result);

}  // namespace dadsim::report
