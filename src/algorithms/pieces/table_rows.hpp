#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/step/training_step.hpp"

// Gradients of embedding tables by the rows that were read: A and Δ as in dAD of a dense layer, with one-hot A.

namespace dadsim::algorithms {

/// Visits the matrices that multiply rows from the last to the first; with `table_rows`, embedding tables too.
void sweep_back(TrainingStep& step, bool table_rows, const std::function<void(std::size_t l)>& body);

/// Shares the symbols that all sites have read from table l, and their gradients: in + 1 numbers per row instead of the
/// whole table.
Pending<Rows> share_table_rows(TrainingStep& step, std::size_t l);

/// Adds up the rows of each symbol as the gradient of table l.
void add_table_rows(TrainingStep& step, std::size_t l, const Rows& rows);

/// Parameter of algorithms that can share tables as sums or by rows.
inline constexpr auto kTables =
    spec::choice<bool>("tables", {{"sum", false}, {"rows", true}},
                       "sum: sum the gradients of embedding tables; rows: share the symbols that each site read and "
                       "their gradients, N(p + 1) numbers for a table of any length");

/// Reports tables="rows" for a network without tables.
RunFaults faults_of_idle_tables(const RunFacts& facts);

}  // namespace dadsim::algorithms
