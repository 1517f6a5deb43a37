#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/text/json_values.hpp"
#include "support/statement.hpp"

namespace dadsim::report {

using dadsim::Statement;

/// Returns the statement as a sentence. Throws std::logic_error for an unknown kind.
std::string in_words(const Statement& statement);
/// Returns the sentences of several statements.
std::vector<std::string> in_words(const std::vector<Statement>& statements);
/// Returns the sentences as one text.
std::string as_paragraph(const std::vector<Statement>& statements);

/// A kind of statement and its condition: a row of docs/statements.md.
struct StatementKind {
  std::string name;
  std::string when;  ///< condition under which the statement appears
};
/// Returns all kinds, in the order of statements.csv.
std::vector<StatementKind> statement_kinds();

/// Returns a statement as data and in words.
Json in_json(const Statement& statement);
/// Returns the statement as data; null if there is none.
Json in_json(const std::optional<Statement>& statement);
Json in_json(const std::vector<Statement>& statements);

/// Returns a statement as stored in files: one line of JSON, {"kind": …, "subjects": […], "values": {…}, "parts": […]}.
std::string to_text(const Statement& statement);
/// Parses a statement. Throws std::runtime_error if the text is not a statement of a known kind.
Statement statement_of(const std::string& text);

/// The head of every report: the version of the program, the scenario, and assumptions.
struct ReportHead {
  // Empty texts are left out of the JSON.
  std::string version = {}, build = {}, simgrid = {}, network_model = {}, scenario_name = {};
  std::optional<std::string> description = {};  ///< description of the scenario; nothing: left out of the JSON
  std::vector<Statement> assumptions = {};
};

}  // namespace dadsim::report
