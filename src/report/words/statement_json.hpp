#pragma once

#include <optional>
#include <vector>

#include "report/text/json_values.hpp"
#include "report/words/statement.hpp"

namespace dadsim::report {

/// As data and in words.
Json in_json(const Statement& statement);
/// Null where there is none.
Json in_json(const std::optional<Statement>& statement);
Json in_json(const std::vector<Statement>& statements);

}  // namespace dadsim::report
