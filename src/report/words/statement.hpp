#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/text/json_values.hpp"
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

/// As data and in words.
Json in_json(const Statement& statement);
/// Null where there is none.
Json in_json(const std::optional<Statement>& statement);
Json in_json(const std::vector<Statement>& statements);

/// A statement as files keep it: one line of JSON, {"kind": …, "subjects": […], "values": {…}, "parts": […]}.
std::string to_text(const Statement& statement);
/// Throws std::runtime_error where the text is of none that has words here.
Statement statement_of(const std::string& text);

}  // namespace dadsim::report
