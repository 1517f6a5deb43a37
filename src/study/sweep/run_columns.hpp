#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "report/sweep_report.hpp"
#include "study/sweep/results.hpp"
#include "study/sweep/row_checksum.hpp"

namespace dadsim::study {

/// Where in a SweepRun a column's value stands; its type is the type in SQL, in which only a number that is not an
/// integer may be missing.
using RunMember = std::variant<std::int64_t SweepRun::*, double SweepRun::*, bool SweepRun::*, std::string SweepRun::*>;

/// A column of the table `run`, behind `point` and `seed`, and what becomes of it in what is written from the table.
struct RunColumn {
  const char* name;
  RunMember member;
  const char* csv;                                         ///< what the CSV calls it; null: not there
  double report::SweepReport::Figures::*figure = nullptr;  ///< of the page; a column of a double alone has one
};

/// In the order of the table and of the CSV; docs/sweep.md explains them.
std::span<const RunColumn> run_columns();

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
/// The name of the first column in which two runs differ, as it stands in the tables; null where there is none.
const char* differing_column(const SweepRun& a, const SweepRun& b);

}  // namespace dadsim::study
