#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/words/sentence_template.hpp"

namespace dadsim::report {

/// A row of statements.csv: a kind of statement, or a phrase used by other rows, whose name begins with ">".
struct StatementRow {
  std::string kind;
  std::string when;                       ///< condition of the statement; empty: a phrase
  std::optional<SentenceTemplate> words;  ///< template; nothing: a function writes the sentence
};
const std::vector<StatementRow>& statement_rows();

/// Returns the template of a row. Throws std::logic_error if there is no such row, or a function writes its sentence.
const SentenceTemplate& template_of(std::string_view kind);
/// Returns the sentence by the template of the statement's kind.
std::string words_of_row(const Statement& statement);

namespace words {

using WordsFunction = std::string (*)(const Statement&);
/// Returns the function that writes sentences of a kind; nullptr for kinds that only need a template.
WordsFunction function_of(std::string_view kind);

}  // namespace words
}  // namespace dadsim::report
