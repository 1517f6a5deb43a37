#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Largest number of spans in a trace over all runs and steps: about 100 MB of text. Leaves out later runs and steps
/// that do not fit.
inline constexpr std::size_t kMostTraceSpans = 300'000;

/// Returns the timelines of the runs in Chrome's trace event format, which ui.perfetto.dev reads (docs/trace.md). The
/// JSON object follows Google's "Trace Event Format", with complete events (ph X) and metadata (ph M). There is a
/// process per run and a thread per track; steps are at their simulated dates. Event-driven runs have a process per
/// node, with as much of the simulation as fits.
std::string to_trace(const Result& result);

/// Returns sentences on the steps and runs left out of the trace.
std::vector<std::string> left_out_of_trace(const Result& result);

}  // namespace dadsim::report
