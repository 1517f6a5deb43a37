#pragma once

#include <string>
#include <vector>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Statement on the time of an event-driven run's workers: computing, waiting, down. Other runs have their bounds.
Statement event_time_of(const RunResult& run);
std::string time_sentence(const RunResult& run);
/// Of the first few runs: rounds an hour, what a round takes and of what, bytes and costs of it.
void say_rounds(const Result& result, std::vector<Statement>& statements);
/// The same without the label and in a line, with how many contributions were used and how stale they were.
std::string time_in_words(const RunResult& run);

/// Paragraphs for a terminal on participation, staleness, waste and failures.
std::string event_driven_paragraphs(const RunResult& run);

/// Time to accuracy at scale for a terminal: the three factors of every run with their product, where the known steps
/// come from, and what is not known; unless `verbose` the factors alone. Empty where the result has none. table_width()
/// columns wide.
std::string scale_table(const Result& result, bool verbose);

/// Between what a run's times are to be expected, and by what: one sentence; empty without a band.
std::string band_sentence(const RunResult& run);

/// For a terminal, below the answer: a table with one row per run, and a sentence per run on what bound it.
/// table_width() columns wide, without colour. Throws std::logic_error if the ranks do not fit the layer names.
std::string tables_of(const Result& result, bool verbose);
/// What a result rests on: assumptions and models, or in one line how many they are.
std::string background(const Result& result, bool verbose);

}  // namespace dadsim::report
