#pragma once

#include <string>
#include <vector>

#include "support/statement.hpp"

namespace dadsim::report {

using dadsim::Statement;

/// Its sentence. Throws std::logic_error of a kind that there is not.
std::string in_words(const Statement& statement);
/// The sentences of some.
std::vector<std::string> in_words(const std::vector<Statement>& statements);
/// The same as one text.
std::string as_paragraph(const std::vector<Statement>& statements);

/// What is said, and of what: the rows of docs/statements.md.
struct StatementKind {
  const char* name;
  const char* when;  ///< it is said
  std::string (*words)(const Statement&);
};
std::vector<StatementKind> statement_kinds();

}  // namespace dadsim::report
