#pragma once

#include <functional>

#include "report/document/document.hpp"
#include "report/run/answer.hpp"
#include "report/run/causes.hpp"
#include "report/run/result.hpp"

// The document of a result, and parts shared with explanations and comparisons.

namespace dadsim::report {

/// Adds all figures of a run by name; unknown ones are null.
void add_figures(TableRow& row, const RunResult& run, const Result& result);

/// Returns a value with its interval as an object.
DocumentTable object_of(const estimate::Estimate& estimate);
/// Returns the answer as an object.
DocumentTable object_of(const Answer& answer, const Result& result);

/// Returns the resources on the critical path of a step of the run.
DocumentTable bounds_of(const RunResult& run);
/// Returns the causes of a step's time, with the resources of each. `add_more` adds members to a part of a cause.
DocumentTable causes_table(const RunResult& run,
                           const std::function<void(TableRow&, const Cause&, const Cause::Part&)>& add_more = {});

/// Returns a chart of the parts of a mean step in seconds: causes on the critical path, or computing and waiting if
/// there is none. `own_script`: see Chart.
Chart step_parts(const Result& result, bool own_script);
/// Returns the charts of the page, without empty ones. Throws as document_of().
std::vector<Chart> charts_of(const Result& result);

/// Returns a document with the answer, a table of runs, their bounds, and the sources of both. Throws std::logic_error
/// if ranks do not fit the layer names. docs/output-json.md documents every member.
Document document_of(const Result& result);

}  // namespace dadsim::report
