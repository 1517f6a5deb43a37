#pragma once

#include <string>
#include <vector>

#include "report/run/result.hpp"

namespace dadsim::report {

/// What the time of an event-driven run's workers went into: what stands for other runs in what bound them.
Statement event_time_of(const RunResult& run);
std::string time_sentence(const RunResult& run);
/// Of the first few runs: rounds an hour, what a round takes and of what, bytes and costs of it.
void say_rounds(const Result& result, std::vector<Statement>& statements);
/// The same without the label and in a line, with how many contributions were used and how stale they were.
std::string time_in_words(const RunResult& run);

/// Who took part, how stale, what was wasted, what failed: sentences for a terminal, each a paragraph.
std::string event_driven_paragraphs(const RunResult& run);

}  // namespace dadsim::report
