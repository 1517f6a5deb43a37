#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/words/sentence_template.hpp"

namespace dadsim::report {

/// A row of statements.csv: a kind of statement, or a phrase of other rows, whose name begins with ">".
struct StatementRow {
  std::string kind;
  std::string when;                       ///< empty: a phrase
  std::optional<SentenceTemplate> words;  ///< nothing: a function has them
};
const std::vector<StatementRow>& statement_rows();

/// Returns the template of a row. Throws std::logic_error if there is no such row, or a function has its words.
const SentenceTemplate& template_of(std::string_view kind);
/// Returns the sentence by the template of the statement's kind.
std::string words_of_row(const Statement& statement);

namespace words {

using WordsFunction = std::string (*)(const Statement&);
/// Returns the function for a kind whose words need more than a template, nullptr for the others.
WordsFunction function_of(std::string_view kind);

}  // namespace words
}  // namespace dadsim::report
