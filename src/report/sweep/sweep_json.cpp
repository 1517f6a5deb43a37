#include <fmt/format.h>

#include "estimate/student_t.hpp"
#include "report/run/figures.hpp"
#include "report/sweep/sweep_report.hpp"
#include "report/text/json_values.hpp"
#include "report/words/statement_json.hpp"

namespace dadsim::report {
namespace {

Json to_json_object(const SweepReport::Axis& axis) {
  Json json{{"name", axis.name}, {"path", axis.path}, {"linked", axis.linked}, {"unit", axis.unit}};
  Json& values = json["values"] = Json::array();
  for (const SweepReport::Value& value : axis.values) {
    values.push_back({{"text", value.text}, {"number", number(value.number)}});
  }
  return json;
}

Json to_json_object(const SweepReport::Point& point) {
  Json ranked = Json::array();
  for (const SweepReport::Time& time : point.ranked) {
    Json one = Json::array({time.run});
    if (time.seconds) {
      for (const Json& end : {number(time.seconds->value), number(time.seconds->low), number(time.seconds->high)})
        one.push_back(end);
    }
    ranked.push_back(std::move(one));
  }
  Json beside = Json::array();
  Json of_first = Json::array();  // from the second in the ranks on
  for (const SweepReport::Time& time : point.ranked) {
    if (!time.seconds || &time == point.ranked.data()) continue;
    const estimate::Estimate& ratio = time.verdict.ratio;
    of_first.push_back({number(ratio.value), number(ratio.low), number(ratio.high)});
  }
  for (std::size_t i = 1; i < point.ranked.size(); ++i) {
    if (!point.ranked[i].seconds || !is_beside(point.ranked[i].verdict.standing)) break;
    beside.push_back(point.ranked[i].run);
  }
  return {{"id", point.id},
          {"at", point.at},
          {"ranked", std::move(ranked)},
          {"beside", std::move(beside)},
          {"of_first", std::move(of_first)}};
}

}  // namespace

std::string to_json(const SweepReport& report) {
  Json json;
  json["dadsim"] = {{"version", report.version}, {"build", report.build}};
  json["scenario"] = {{"name", report.scenario_name},
                      {"file", report.scenario_file},
                      {"hash", fmt::format("{:016x}", report.hash)},
                      {"target_accuracy", number(report.target_accuracy)}};
  json["sweep"] = {{"points", report.points_of_sweep},
                   {"seeds", report.seeds},
                   {"shard", report.shard},
                   {"shards", report.shards},
                   {"at_scale", report.at_scale},
                   {"metric", to_string(report.metric)},
                   {"rate_unit", report.rate_unit},
                   {"of", report.of},
                   {"grid", report.grid()},
                   {"currency", report.currency},
                   {"sampling_error", number(report.sampling_error)}};
  json["answer"] = {{"statements", in_json(answer_to(report))}};
  json["setting"] = {
      {"learned_on", report.learned_on}, {"timed_as", report.timed_as}, {"assumptions", in_json(report.assumptions)}};
  // By degrees of freedom from 1 on: half an interval is this times the standard error.
  Json& student = json["student_t"] = Json::array();
  for (std::int64_t freedom = 1; freedom < report.seeds; ++freedom) {
    student.push_back(estimate::student_t(freedom));
  }
  Json& axes = json["axes"] = Json::array();
  for (const SweepReport::Axis& axis : report.axes) axes.push_back(to_json_object(axis));
  Json& runs = json["runs"] = Json::array();
  for (const SweepReport::Run& run : report.runs) {
    runs.push_back({{"label", run.label}, {"algorithm", run.algorithm}, {"communicates", run.communicates}});
  }
  Json& points = json["points"] = Json::array();
  for (const SweepReport::Point& point : report.points) points.push_back(to_json_object(point));
  // Rows instead of objects: there may be thousands.
  Json fields = {"point", "seed", "run"};
  Json about = Json::array();
  for (const std::size_t index : page_figures()) {
    const Figure& figure = figures()[index];
    fields.push_back(figure.name);
    about.push_back({{"name", figure.name},
                     {"title", figure.title},
                     {"kind", to_string(figure.kind)},
                     {"unit", figure.unit},
                     {"better", to_string(figure.better)}});
  }
  Json rows = Json::array();
  for (const SweepReport::Row& one : report.rows) {
    Json row = Json::array({one.point, one.seed, one.run});
    for (const double value : one.values) row.push_back(number(value));
    rows.push_back(std::move(row));
  }
  json["figures"] = {{"fields", std::move(fields)}, {"about", std::move(about)}, {"rows", std::move(rows)}};
  Json& failures = json["failures"] = Json::array();
  for (const SweepReport::Failure& one : report.failures) {
    failures.push_back(
        {{"point", one.point}, {"seed", one.seed}, {"words", one.message}, {"infeasible", one.infeasible}});
  }
  return one_line(json) + '\n';
}

}  // namespace dadsim::report
