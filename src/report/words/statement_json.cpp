#include "report/words/statement_json.hpp"

#include <type_traits>
#include <utility>

namespace dadsim::report {

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

}  // namespace dadsim::report
