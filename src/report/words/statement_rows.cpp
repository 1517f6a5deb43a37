#include "report/words/statement_rows.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "report/words/statements.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::report {
namespace {

StatementRow read_statement_row(const FactTable::Row& row) {
  StatementRow made{row.text("kind"), row.optional_text("when"), std::nullopt};
  try {
    if (const std::string& words = row.optional_text("words"); !words.empty()) made.words.emplace(words);
  } catch (const std::invalid_argument& error) {
    row.wrong(error.what(), "the syntax of src/report/words/README.md");
  }
  return made;
}

}  // namespace

const std::vector<StatementRow>& statement_rows() {
  static const std::vector<StatementRow> kRows =
      FactTable(tables::kStatements, {"kind", "when", "words"}).each(read_statement_row);
  return kRows;
}

const SentenceTemplate& template_of(std::string_view kind) {
  static const std::map<std::string_view, const StatementRow*> kByKind = [] {
    std::map<std::string_view, const StatementRow*> by_kind;
    for (const StatementRow& row : statement_rows()) by_kind.emplace(row.kind, &row);
    return by_kind;
  }();
  const auto found = kByKind.find(kind);
  if (found == kByKind.end() || !found->second->words)
    throw std::logic_error(fmt::format("statement kind '{}' has no text", kind));
  return *found->second->words;
}

std::string words_of_row(const Statement& statement) { return template_of(statement.kind).words(statement); }

}  // namespace dadsim::report
