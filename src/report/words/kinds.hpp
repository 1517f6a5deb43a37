#pragma once

#include <span>

#include "report/words/statement.hpp"

namespace dadsim::report::words {

/// What the answer of a result says.
std::span<const StatementKind> of_answers();
/// Notes on one run.
std::span<const StatementKind> of_runs();
/// Assumptions that hold for every run of a result.
std::span<const StatementKind> of_results();

}  // namespace dadsim::report::words
