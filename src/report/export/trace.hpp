#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Spans in a trace, of all runs and steps: about 100 MB of text. Of runs and steps that do not fit the later ones are
/// left out.
inline constexpr std::size_t kMostTraceSpans = 300'000;

/// The timelines of the runs in Chrome's trace event format, as ui.perfetto.dev reads it (docs/trace.md): the JSON
/// object of Google's "Trace Event Format", with complete events (ph X) and metadata (ph M). A process per run, a
/// thread per track; steps lie at their simulated dates. Of an event-driven run there are no steps to choose from: it
/// has a process per node, with all of the simulation as far as it fits.
std::string to_trace(const Result& result);

/// What is not in the trace, in sentences.
std::vector<std::string> left_out_of_trace(const Result& result);

}  // namespace dadsim::report
