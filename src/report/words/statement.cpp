#include "report/words/statement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "report/words/statement_rows.hpp"

namespace dadsim::report {
namespace {

using StoredJson = nlohmann::json;

StoredJson stored(const Statement& statement) {
  StoredJson json = in_json(statement);
  json.erase("words");
  if (statement.parts.empty()) return json;
  StoredJson& parts = json["parts"] = StoredJson::array();
  for (const Statement& part : statement.parts) parts.push_back(stored(part));
  return json;
}

/// Reads null as NaN.
double number_of(const StoredJson& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Statement::Value value_of(const StoredJson& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_array()) return number_of(json);
  if (!json.empty() && json.front().is_string()) return json.get<std::vector<std::string>>();
  std::vector<double> numbers;
  for (const StoredJson& one : json) numbers.push_back(number_of(one));
  return numbers;
}

/// Reads a statement. Limits the depth of parts, because deep parts would overflow the stack, and no sentence needs
/// them.
Statement read(const StoredJson& json, int depth = 0) {
  constexpr int kDeepest = 4;
  if (depth > kDeepest) throw std::runtime_error("a statement has too many parts");
  Statement statement{json.at("kind").get<std::string>(), json.at("subjects").get<std::vector<std::string>>()};
  for (const auto& [name, value] : json.at("values").items()) statement.with(name, value_of(value));
  for (const StoredJson& part : json.value("parts", StoredJson::array())) statement.with(read(part, depth + 1));
  return statement;
}

}  // namespace

std::string to_text(const Statement& statement) {
  return stored(statement).dump(-1, ' ', false, StoredJson::error_handler_t::replace);
}

Statement statement_of(const std::string& text) {
  try {
    Statement statement = read(StoredJson::parse(text));
    in_words(statement);
    return statement;
  } catch (const std::exception&) {
    throw std::runtime_error("a statement is not valid JSON");
  }
}

Json in_json(const Statement& statement) {
  Json values = Json::object();
  for (const auto& [name, value] : statement.values) {
    values[name] = std::visit(
        [](const auto& one) -> Json {
          using Type = std::decay_t<decltype(one)>;
          if constexpr (std::is_same_v<Type, double>) return number(one);
          if constexpr (std::is_same_v<Type, std::vector<double>>) {
            Json all = Json::array();
            for (const double each : one) all.push_back(number(each));
            return all;
          }
          return one;
        },
        value);
  }
  Json json{{"kind", statement.kind}, {"subjects", statement.subjects}, {"values", std::move(values)}};
  if (!statement.parts.empty()) json["parts"] = in_json(statement.parts);
  json["words"] = in_words(statement);
  return json;
}

Json in_json(const std::optional<Statement>& statement) { return statement ? in_json(*statement) : Json(nullptr); }

Json in_json(const std::vector<Statement>& statements) {
  Json all = Json::array();
  for (const Statement& one : statements) all.push_back(in_json(one));
  return all;
}

std::vector<StatementKind> statement_kinds() {
  std::vector<StatementKind> kinds;
  for (const StatementRow& row : statement_rows()) {
    if (!row.when.empty()) kinds.push_back({row.kind, row.when});
  }
  return kinds;
}

std::string in_words(const Statement& statement) {
  const auto function = words::function_of(statement.kind);
  return function != nullptr ? function(statement) : words_of_row(statement);
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
