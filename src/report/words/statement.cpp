#include "report/words/statement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "report/words/kinds.hpp"

namespace dadsim::report {
namespace {

template <class Type>
const Type& value_of(const Statement& statement, std::string_view name) {
  const auto found = statement.values.find(name);
  const Type* value = found == statement.values.end() ? nullptr : std::get_if<Type>(&found->second);
  if (value == nullptr) throw std::logic_error(fmt::format("'{}' says nothing of '{}'", statement.kind, name));
  return *value;
}

}  // namespace

bool Statement::is(std::string_view name) const { return has(name) && value_of<bool>(*this, name); }
double Statement::number(std::string_view name) const { return value_of<double>(*this, name); }
const std::string& Statement::text(std::string_view name) const { return value_of<std::string>(*this, name); }
const std::vector<double>& Statement::numbers(std::string_view name) const {
  return value_of<std::vector<double>>(*this, name);
}
const std::vector<std::string>& Statement::texts(std::string_view name) const {
  return value_of<std::vector<std::string>>(*this, name);
}
const std::string& Statement::subject() const {
  if (subjects.empty()) throw std::logic_error(fmt::format("'{}' is of nothing", kind));
  return subjects.front();
}

std::vector<StatementKind> statement_kinds() {
  std::vector<StatementKind> all;
  for (const auto& kinds : {words::of_answers(), words::of_runs(), words::of_results()})
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

}  // namespace dadsim::report
