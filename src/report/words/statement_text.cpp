#include "report/words/statement_text.hpp"

#include <limits>
#include <stdexcept>

#include "report/words/statement_json.hpp"

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

/// What is no number is written as null.
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

/// Parts of parts of parts are said by nobody, and would fill the stack.
Statement read(const StoredJson& json, int depth = 0) {
  constexpr int kDeepest = 4;
  if (depth > kDeepest) throw std::runtime_error("a statement of too many parts");
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
    throw std::runtime_error("a statement cannot be read");
  }
}

}  // namespace dadsim::report
