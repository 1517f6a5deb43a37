#pragma once

#include <string>

#include "study/sweep/results.hpp"
#include "study/sweep/row_checksum.hpp"

namespace dadsim::study {

// The table `run` of a file of results: point, seed, number, uncertainty, and a column for every figure of a run
// (report/figures.hpp), in its order. A number that is not known is NULL, a text that there is none of is empty.

/// The statement that creates the table.
std::string create_run_table();
/// All of a run with its trial, as a row of the table.
void insert_run(Statement& insert, const SweepTrial& trial, const SweepRun& run);
/// A statement for insert_run().
std::string insert_into_run();
/// The statement that reads all rows, by trial and number, and a run of one of them.
std::string select_runs();
SweepRun run_of_row(const Statement& row);
/// What a run says, without its trial.
void add(RowChecksum& checksum, const SweepRun& run);
/// The name of the first column in which two runs differ; null where there is none.
const char* differing_column(const SweepRun& a, const SweepRun& b);

}  // namespace dadsim::study
