#include "report/plan/plan_report.hpp"
#include "report/text/json_values.hpp"
#include "report/text/path_name.hpp"
#include "report/words/report_head_json.hpp"
#include "report/words/statement_json.hpp"

namespace dadsim::report {
namespace {

Json to_json_object(const Trial& trial, const PlanReport& report) {
  const TrialEnds ends = ends_of(trial);
  return {{"reached", trial.reached},
          {"best_accuracy", number(trial.accuracy)},
          {"seeds", trial.seeds},
          {"seeds_missed", trial.seeds_missed},
          {"timed", trial.timed},
          {"seconds", trial.reached ? number(trial.seconds) : Json(nullptr)},
          {"low", number(ends.seconds.low)},
          {"high", number(ends.seconds.high)},
          {"money", number(trial.costs.money)},
          {"joules", number(trial.costs.joules)},
          {"grams_co2e", number(trial.costs.carbon)},
          {"lines_per_month", number(trial.lines_per_month)},
          {"memory_bytes", number(trial.memory)},
          {"watts", number(trial.watts)},
          {"devices", number(trial.devices)},
          {"throughput", number(trial.throughput)},
          {"throughput_low", number(ends.throughput.low)},
          {"throughput_high", number(ends.throughput.high)},
          {"throughput_of", trial.tokens ? "tokens" : "samples"},
          {"scaling_efficiency", number(trial.scaling)},
          {"scaling_low", number(ends.scaling.low)},
          {"scaling_high", number(ends.scaling.high)},
          {"layout", trial.layout ? Json(assignments_of(*trial.layout)) : Json(nullptr)},
          {"infeasible", trial.infeasible.empty() ? Json(nullptr) : Json(trial.infeasible)},
          {"meets", meets(report.goal, trial)},
          {"standing", to_string(standing_of(report.goal, trial))},
          {"of_limit", number(excess(report.goal, trial))}};
}

Json to_json_object(const GoalAnswer& answer, const PlanReport& report) {
  Json json;
  json["run"] = answer.run;
  json["met"] = answer.met;
  json["tied"] = answer.tied;
  json["front"] = answer.front;
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
  const auto text = [](const std::optional<std::string>& value) { return value ? Json(*value) : Json(nullptr); };
  json["band"] = nullptr;
  if (answer.may || answer.safe) {
    json["band"] = {
        {"may", text(answer.may)}, {"safe", text(answer.safe)}, {"assumed", answer.trial.assumed_scatter.has_value()}};
  }
  Json& again = json["misses_again"] = Json::array();
  for (const Stretch& stretch : answer.misses_again)
    again.push_back({{"from", stretch.from}, {"to", stretch.to}, {"to_the_end", stretch.to_the_end}});
  json["remarks"] = in_json(remarks_on(report, answer));
  Json& tried = json["tried"] = Json::array();
  for (const Tried& one : answer.tried)
    tried.push_back(
        {{"number", number(one.number)}, {"value", one.value}, {"trial", to_json_object(one.trial, report)}});
  return json;
}

}  // namespace

std::string to_json(const PlanReport& report) {
  Json json = head_in_json(report);
  json["asked"] = in_json(goal_of(report));
  json["answer"] = {{"statements", in_json(answer_of(report))}};
  json["learned_on"] = report.learned_on;
  json["timed_as"] = report.timed_as;
  json["names"] = Json::object();
  for (const spec::AllowedChange& change : report.goal.allowed)
    json["names"][change.varied.path] = path_in_words(change.varied.path);
  json["goal"] = {{"accuracy", report.timing_only ? Json(nullptr) : number(report.target_accuracy)},
                  {"seconds", number(report.goal.seconds)},
                  {"money", number(report.goal.money)},
                  {"joules", number(report.goal.joules)},
                  {"grams_co2e", number(report.goal.carbon)},
                  {"memory_bytes", number(report.goal.memory)},
                  {"watts", number(report.goal.watts)},
                  {"devices", report.goal.devices ? Json(*report.goal.devices) : Json(nullptr)},
                  {"throughput", number(report.goal.throughput)},
                  {"scaling_efficiency", number(report.goal.scaling)},
                  {"objective", to_string(objective_of(report.goal))},
                  {"against", report.goal.against ? Json(to_string(*report.goal.against)) : Json(nullptr)},
                  {"layouts", report.goal.layouts.has_value()}};
  json["currency"] = report.currency.empty() ? Json(nullptr) : Json(report.currency);
  Json& answers = json["answers"] = Json::array();
  for (const GoalAnswer& answer : report.answers) answers.push_back(to_json_object(answer, report));
  json["timing_runs"] = report.timing_runs;
  json["learned_runs"] = report.learned_runs;
  json["assumptions"] = in_json(report.assumptions);
  return indented(json);
}

}  // namespace dadsim::report
