#pragma once

#include <string>
#include <vector>

#include "report/document/document.hpp"
#include "report/run/result.hpp"

namespace dadsim::report {

/// Returns a statement on the time of an event-driven run's workers: computing, waiting, down. *Requires* an
/// event-driven run.
Statement event_time_of(const RunResult& run);
std::string time_sentence(const RunResult& run);
/// Adds statements on the first few runs: rounds per hour, the parts of a round's time, its bytes and costs.
void say_rounds(const Result& result, std::vector<Statement>& statements);
/// Returns the facts of event_time_of() in a line without the label, with the number of contributions used and their
/// staleness.
std::string time_in_words(const RunResult& run);

/// Returns paragraphs for a terminal on participation, staleness, waste and failures.
std::string event_driven_paragraphs(const RunResult& run);

/// Returns the time to accuracy at scale for a terminal: the three factors of every run with their product, the source
/// of the known number of steps, and unknown values. Without `verbose` only the factors. Empty if the result has none.
/// Lines have table_width() columns.
std::string scale_table(const Result& result, bool verbose);

/// Adds the tables of a page: the runs, the time at scale, costs, and accuracies on shifted data.
void add_page_tables(Document& document, const Result& result);

/// Returns a sentence on the interval of a run's times, with its source; empty without a band.
std::string band_sentence(const RunResult& run);

/// Returns the text below the answer for a terminal: a table with one row per run, and a sentence per run on its
/// bounds. Lines have table_width() columns, without colour. Throws std::logic_error if the ranks do not fit the layer
/// names.
std::string tables_of(const Result& result, bool verbose);
/// Returns "Learned on MLP 4-3-2, timed as resnet-50", or that nothing was learned.
std::string setting_of(const Result& result, bool learned);
/// Returns the sources of a result as text: assumptions and models, or in one line their number.
std::string background(const Result& result, bool verbose);

}  // namespace dadsim::report
