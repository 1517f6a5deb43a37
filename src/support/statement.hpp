#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dadsim {

/// A statement about a result, as data. Only src/report/words/ turns it into a sentence, when it is printed; JSON has
/// the data and the sentence.
struct Statement {
  using Value = std::variant<bool, double, std::string, std::vector<double>, std::vector<std::string>>;

  std::string kind;                                       ///< "first", "diverged" …, from report::statement_kinds()
  std::vector<std::string> subjects = {};                 ///< labels of runs or names of devices, in the order of the
                                                          ///< sentence
  std::map<std::string, Value, std::less<>> values = {};  ///< numbers in the units of docs/figures.md
  std::vector<Statement> parts = {};                      ///< further parts of the sentence, in order

  Statement& with(std::string name, Value value) {
    values.insert_or_assign(std::move(name), std::move(value));
    return *this;
  }
  Statement& with(Statement part) {
    parts.push_back(std::move(part));
    return *this;
  }
  bool operator==(const Statement&) const = default;
  bool has(std::string_view name) const { return values.find(name) != values.end(); }
  /// Returns a boolean value; false if it is missing.
  bool is(std::string_view name) const;
  // The following functions throw std::logic_error unless there is a value with this name and type.
  double number(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  const std::vector<double>& numbers(std::string_view name) const;
  const std::vector<std::string>& texts(std::string_view name) const;
  const std::string& subject() const;  ///< Returns the first subject.
  const Statement& part(std::size_t index = 0) const;
};

}  // namespace dadsim
