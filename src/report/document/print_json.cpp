#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <utility>

#include "report/document/document.hpp"
#include "report/document/document_json.hpp"
#include "report/words/statement.hpp"

namespace dadsim::report {
namespace {

/// Returns the member "a.b" of `json`: member b of a.
Json& member(Json& json, std::string_view name) {
  const std::size_t dot = name.find('.');
  Json& own = json[std::string(name.substr(0, dot))];
  return dot == std::string_view::npos ? own : member(own, name.substr(dot + 1));
}

/// Returns the members "dadsim" and "scenario", which begin the JSON of every report.
Json in_json(const ReportHead& head) {
  Json json;
  for (const auto& [name, text] : {std::pair{"version", head.version}, std::pair{"build", head.build},
                                   std::pair{"simgrid", head.simgrid}, std::pair{"network_model", head.network_model}})
    if (!text.empty()) json["dadsim"][name] = text;
  if (!head.scenario_name.empty()) json["scenario"]["name"] = head.scenario_name;
  if (head.description) json["scenario"]["description"] = *head.description;
  return json;
}

}  // namespace

Json in_json(const DocumentValue& value) {
  return std::visit(
      [](const auto& one) -> Json {
        using Type = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Type, std::monostate> || std::is_same_v<Type, Omitted>) {
          return nullptr;
        } else if constexpr (std::is_same_v<Type, double>) {
          return number(one);
        } else if constexpr (std::is_same_v<Type, Statement> || std::is_same_v<Type, std::vector<Statement>>) {
          return in_json(one);
        } else if constexpr (std::is_same_v<Type, std::vector<double>> ||
                             std::is_same_v<Type, std::vector<std::vector<double>>> ||
                             std::is_same_v<Type, std::vector<std::optional<std::int64_t>>>) {
          Json all = Json::array();
          for (const auto& each : one) all.push_back(in_json(DocumentValue(each)));
          return all;
        } else if constexpr (std::is_same_v<Type, std::vector<DocumentTable>>) {
          if (one.size() == 1) return in_json(one.front());
          Json all = Json::array();
          for (const DocumentTable& each : one)
            for (Json& row : in_json(each)) all.push_back(std::move(row));
          return all;
        } else {
          return one;
        }
      },
      value);
}

Json in_json(const DocumentTable& table) {
  Json all = Json::array();
  for (const std::vector<DocumentTable::Cell>& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const DocumentTable::Head& head = table.columns[i];
      if (!head.name.empty() && head.in_json && !std::holds_alternative<Omitted>(row[i].value))
        member(object, head.name) = in_json(row[i].value);
    }
    all.push_back(std::move(object));
  }
  if (!table.object) return all;
  return all.empty() ? Json(nullptr) : all.front();
}

Json in_json(const DocumentPart& part) {
  return std::visit(
      [](const auto& one) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, BestSettings>) {
          return one.set;
        } else {
          return in_json(one);
        }
      },
      part.what);
}

Json in_json(const Document& document) {
  Json json = in_json(document.head);
  if (!document.answer.empty()) json["answer"] = {{"statements", in_json(document.answer)}};
  if (!document.answer.empty() || !document.head.scenario_name.empty())
    json["assumptions"] = in_json(document.head.assumptions);
  for (const DocumentPart& part : document.parts)
    if (!part.name.empty() && !part.page_alone) member(json, part.name) = in_json(part);
  return json;
}

std::string to_json(const Document& document) { return indented(in_json(document)); }

}  // namespace dadsim::report
