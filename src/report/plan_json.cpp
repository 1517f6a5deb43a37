#include "report/json_values.hpp"
#include "report/plan_report.hpp"

namespace dadsim::report {
namespace {

Json to_json_object(const Trial& trial, const PlanReport& report) {
  return {{"reached", trial.reached},
          {"best_accuracy", number(trial.accuracy)},
          {"seconds", trial.reached ? number(trial.seconds) : Json(nullptr)},
          {"money", number(trial.costs.money)},
          {"joules", number(trial.costs.joules)},
          {"grams_co2e", number(trial.costs.carbon)},
          {"meets", meets(report.goal, trial)},
          {"of_limit", number(excess(report.goal, trial))}};
}

Json to_json_object(const GoalAnswer& answer, const PlanReport& report) {
  Json json;
  json["run"] = answer.run;
  json["met"] = answer.met;
  Json& changes = json["changes"] = Json::object();
  for (const Change& change : answer.choices) changes[change.path] = change.value;
  json["answer"] =
      answer.answer ? Json({{"path", answer.answer->path}, {"value", answer.answer->value}}) : Json(nullptr);
  json["trial"] = to_json_object(answer.trial, report);
  json["neighbour"] = nullptr;
  if (answer.neighbour) {
    json["neighbour"] = {{"value", answer.neighbour->value},
                         {"trial", to_json_object(*answer.neighbour_trial, report)}};
  }
  return json;
}

}  // namespace

std::string to_json(const PlanReport& report) {
  Json json;
  json["dadsim"] = {{"version", report.version}, {"simgrid", report.simgrid}, {"network_model", report.network_model}};
  json["scenario"] = {{"name", report.scenario_name}};
  json["learned_on"] = report.learned_on;
  json["timed_as"] = report.timed_as;
  json["goal"] = {{"accuracy", number(report.target_accuracy)},
                  {"seconds", number(report.goal.seconds)},
                  {"money", number(report.goal.money)},
                  {"joules", number(report.goal.joules)},
                  {"grams_co2e", number(report.goal.carbon)}};
  json["currency"] = report.currency.empty() ? Json(nullptr) : Json(report.currency);
  Json& answers = json["answers"] = Json::array();
  for (const GoalAnswer& answer : report.answers) answers.push_back(to_json_object(answer, report));
  json["timing_runs"] = report.timing_runs;
  json["learned_runs"] = report.learned_runs;
  json["assumptions"] = report.assumptions;
  return indented(json);
}

}  // namespace dadsim::report
