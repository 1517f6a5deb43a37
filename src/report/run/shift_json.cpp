#include "report/run/shift_json.hpp"

namespace dadsim::report {

Json to_json_object(const ShiftEvaluation& evaluation) {
  Json json;
  json["arms"] = evaluation.arms;
  Json& rows = json["rows"] = Json::array();
  for (const ShiftEvaluation::Row& row : evaluation.rows) {
    Json accuracies = Json::array();
    Json below = Json::array();
    for (std::size_t arm = 0; arm < row.accuracies.size(); ++arm) {
      accuracies.push_back(number(row.accuracies[arm]));
      if (row.accuracies[arm] < row.accuracies.front()) below.push_back(evaluation.arms.at(arm));
    }
    rows.push_back({{"corruption", row.corruption},
                    {"severity", row.severity},
                    {"label_alpha", row.label_alpha > 0 ? number(row.label_alpha) : Json(nullptr)},
                    {"batch", row.batch},
                    {"accuracies", std::move(accuracies)},
                    {"best", evaluation.arms.at(ShiftEvaluation::best_arm(row))},
                    {"below_source", std::move(below)}});
  }
  json["quantiles"] = evaluation.quantiles;
  json["quantile_bytes"] = {{"inputs", number(evaluation.input_bytes)}, {"norms", number(evaluation.norm_bytes)}};
  json["samples"] = {{"all", evaluation.samples}, {"fewest", evaluation.fewest}, {"most", evaluation.most}};
  return json;
}

}  // namespace dadsim::report
