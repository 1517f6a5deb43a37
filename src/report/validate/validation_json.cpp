#include "report/text/json_values.hpp"
#include "report/validate/validation.hpp"

namespace dadsim::report {
namespace {

Json row_json(const ValidatedRow& row) {
  Json json{{"name", row.name}, {"line", row.line}, {"devices", row.devices > 0 ? Json(row.devices) : Json(nullptr)}};
  json["refused"] = row.refused ? Json(row.refused->what) : Json(nullptr);
  if (row.refused) return json;
  json["measured_s"] = number(row.measured);
  json["predicted_s"] = number(row.predicted);
  json["low_s"] = number(row.band.low * row.predicted);
  json["high_s"] = number(row.band.high * row.predicted);
  json["error"] = number(row.error());
  json["inside"] = row.inside();
  json["category"] = row.category;
  return json;
}

}  // namespace

std::string to_json(const Validation& validation) {
  Json json;
  json["dadsim"] = {{"version", validation.version}, {"build", validation.build}, {"simgrid", validation.simgrid}};
  Json& tables = json["tables"] = Json::array();
  for (const ValidatedTable& table : validation.tables) {
    const TableFigures figures = figures_of(table);
    Json one{{"name", table.name},
             {"source", table.source},
             {"predicted", figures.rows},
             {"refused", figures.refused},
             {"left_out", table.left_out},
             {"mean_error", number(figures.mean_error)},
             {"signed_error", number(figures.signed_error)},
             {"kendall_tau", number(figures.order)},
             {"inside", figures.inside},
             {"half_width", number(figures.half_width)},
             {"measured_over_predicted", number(figures.offset)},
             {"scatter", number(figures.scatter)}};
    Json& rows = one["rows"] = Json::array();
    for (const ValidatedRow& row : table.rows) rows.push_back(row_json(row));
    tables.push_back(std::move(one));
  }
  return indented(json);
}

}  // namespace dadsim::report
