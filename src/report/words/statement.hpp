#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dadsim::report {

/// Something that dadsim says of a result: data until it is printed. src/report/words/ makes a sentence of it, and
/// nothing else does; JSON holds the data and the sentence.
struct Statement {
  using Value = std::variant<bool, double, std::string, std::vector<double>, std::vector<std::string>>;

  std::string kind;                                       ///< "first", "diverged" …, of statement_kinds()
  std::vector<std::string> subjects = {};                 ///< labels of runs, names of devices, in their order
  std::map<std::string, Value, std::less<>> values = {};  ///< numbers in the units of docs/figures.md

  Statement& with(std::string name, Value value) {
    values.insert_or_assign(std::move(name), std::move(value));
    return *this;
  }
  bool has(std::string_view name) const { return values.find(name) != values.end(); }
  /// No where it is not said.
  bool is(std::string_view name) const;
  // Throw std::logic_error where there is none of that name and type.
  double number(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  const std::vector<double>& numbers(std::string_view name) const;
  const std::vector<std::string>& texts(std::string_view name) const;
  const std::string& subject() const;  ///< the first
};

/// Its sentence. Throws std::logic_error of a kind that there is not.
std::string in_words(const Statement& statement);
/// The sentences of some.
std::vector<std::string> in_words(const std::vector<Statement>& statements);

/// What is said, and of what: the rows of docs/statements.md.
struct StatementKind {
  const char* name;
  const char* when;  ///< it is said
  std::string (*words)(const Statement&);
};
std::vector<StatementKind> statement_kinds();

}  // namespace dadsim::report
