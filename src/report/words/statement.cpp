#include "report/words/statement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "report/words/kinds.hpp"

namespace dadsim::report {

std::vector<StatementKind> statement_kinds() {
  std::vector<StatementKind> all;
  for (const auto& kinds : {words::of_answers(), words::of_runs(), words::of_results(), words::of_changes(),
                            words::of_explanations(), words::of_reasons(), words::of_comparisons(), words::of_plans(),
                            words::of_trials(), words::of_layouts(), words::of_diagnoses(), words::of_sweeps(),
                            words::of_provenance(), words::of_scale_studies(), words::of_simulations()})
    all.insert(all.end(), kinds.begin(), kinds.end());
  return all;
}

std::string in_words(const Statement& statement) {
  static const std::vector<StatementKind> kAll = statement_kinds();
  const auto kind = std::ranges::find_if(kAll, [&](const StatementKind& one) { return statement.kind == one.name; });
  if (kind == kAll.end()) throw std::logic_error(fmt::format("there are no words for '{}'", statement.kind));
  return kind->words(statement);
}

std::vector<std::string> in_words(const std::vector<Statement>& statements) {
  std::vector<std::string> words;
  words.reserve(statements.size());
  for (const Statement& one : statements) words.push_back(in_words(one));
  return words;
}

std::string as_paragraph(const std::vector<Statement>& statements) {
  return fmt::format("{}", fmt::join(in_words(statements), " "));
}

}  // namespace dadsim::report
