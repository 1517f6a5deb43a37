#include <nlohmann/json.hpp>
#include <type_traits>

#include "report/document/document.hpp"
#include "report/text/json_values.hpp"
#include "report/words/report_head_json.hpp"
#include "report/words/statement_json.hpp"

namespace dadsim::report {
namespace {

Json json_of(const DocumentTable& table);

Json json_of(const DocumentValue& value) {
  return std::visit(
      [](const auto& one) -> Json {
        using Type = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Type, std::monostate> || std::is_same_v<Type, Omitted>)
          return nullptr;
        else if constexpr (std::is_same_v<Type, double>)
          return number(one);
        else if constexpr (std::is_same_v<Type, Statement> || std::is_same_v<Type, std::vector<Statement>>)
          return in_json(one);
        else if constexpr (std::is_same_v<Type, std::vector<double>>) {
          Json all = Json::array();
          for (const double each : one) all.push_back(number(each));
          return all;
        } else if constexpr (std::is_same_v<Type, std::vector<DocumentTable>>) {
          Json all = Json::array();
          for (const DocumentTable& each : one)
            for (Json& row : json_of(each)) all.push_back(std::move(row));
          return all;
        } else {
          return one;
        }
      },
      value);
}

/// The member of `json` that "a.b" names.
Json& member(Json& json, std::string_view name) {
  const std::size_t dot = name.find('.');
  Json& own = json[std::string(name.substr(0, dot))];
  return dot == std::string_view::npos ? own : member(own, name.substr(dot + 1));
}

Json json_of(const DocumentTable& table) {
  Json all = Json::array();
  for (const std::vector<DocumentTable::Cell>& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& name = table.columns[i].name;
      if (!name.empty() && !std::holds_alternative<Omitted>(row[i].value)) member(object, name) = json_of(row[i].value);
    }
    all.push_back(std::move(object));
  }
  if (!table.object) return all;
  return all.empty() ? Json(nullptr) : all.front();
}

}  // namespace

std::string to_json(const Document& document) {
  Json json = head_in_json(document.head);
  json["answer"] = {{"statements", in_json(document.answer)}};
  for (const DocumentPart& part : document.parts) {
    if (part.name.empty()) continue;
    json[part.name] = std::visit(
        [](const auto& one) -> Json {
          if constexpr (std::is_same_v<std::decay_t<decltype(one)>, std::vector<Statement>>)
            return in_json(one);
          else
            return json_of(one);
        },
        part.what);
  }
  json["assumptions"] = in_json(document.head.assumptions);
  return indented(json);
}

}  // namespace dadsim::report
