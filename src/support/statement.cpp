#include "support/statement.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace dadsim {
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
const Statement& Statement::part(std::size_t index) const {
  if (index >= parts.size()) throw std::logic_error(fmt::format("'{}' has no part {}", kind, index));
  return parts[index];
}

}  // namespace dadsim
