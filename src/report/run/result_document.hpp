#pragma once

#include <functional>

#include "report/document/document.hpp"
#include "report/run/answer.hpp"
#include "report/run/causes.hpp"
#include "report/run/result.hpp"

// The document of a result, and parts that it shares with explanations and comparisons.

namespace dadsim::report {

/// Adds all figures of a run by their names; null where they are not known.
void add_figures(TableRow& row, const RunResult& run, const Result& result);

/// An object.
DocumentTable object_of(const Answer& answer, const Result& result);

/// Resources on the critical path of a step of the run.
DocumentTable bounds_of(const RunResult& run);
/// Causes of the time of a step, with the resources of each; `add_more` adds members of a part of a cause.
DocumentTable causes_table(const RunResult& run,
                           const std::function<void(TableRow&, const Cause&, const Cause::Part&)>& add_more = {});

/// The answer, a table of runs, what bounds them, and what both rest on. Throws std::logic_error where ranks do not fit
/// the layer names. Every member is documented in docs/output-json.md.
Document document_of(const Result& result);

}  // namespace dadsim::report
