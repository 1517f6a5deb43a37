#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/step/training_step.hpp"

// The gradient of a table of embeddings by the rows that were read: what dAD shares of a dense layer, A and Δ, where A
// is one-hot.

namespace dadsim::algorithms {

/// Goes over the matrices that multiply rows, and over tables too where their rows are shared, from the last to the
/// first.
void sweep_back(TrainingStep& step, bool table_rows, const std::function<void(std::size_t l)>& body);

/// The symbols that all sites have read from table l, and the gradients of what they read: in + 1 numbers a row instead
/// of the whole table.
Pending<Rows> share_table_rows(TrainingStep& step, std::size_t l);

/// The gradient of table l: the rows of each symbol added up.
void add_table_rows(TrainingStep& step, std::size_t l, const Rows& rows);

/// The parameter of algorithms that offer both: whether tables go by their rows.
inline constexpr auto kTables = spec::choice<bool>(
    "tables", {{"sum", false}, {"rows", true}},
    "sum: the gradients of tables of embeddings are summed as they are; rows: sites share the symbols that "
    "they have read and the gradients of what they read, N(p + 1) numbers of a table of any length");

/// tables="rows" of a network that has no table.
RunFaults faults_of_idle_tables(const RunFacts& facts);

}  // namespace dadsim::algorithms
