#include <algorithm>
#include <cmath>
#include <limits>

#include "report/scale_study/scale_study_report.hpp"
#include "report/text/json_values.hpp"
#include "report/words/statement_json.hpp"

namespace dadsim::report {
namespace {

Json steps_json(const estimate::StepsToTarget& steps) {
  Json json = Json::array();
  for (const auto& one : steps) json.push_back(one ? number(one->between) : Json(nullptr));
  return json;
}

Json prediction_json(const std::optional<estimate::LadderPrediction>& prediction) {
  if (!prediction) return nullptr;
  return {{"value", number(prediction->ratio)},
          {"low", number(prediction->low)},
          {"high", number(prediction->high)},
          {"decades_beyond", number(prediction->distance)}};
}

Json size_json(const StudiedSize& size) {
  return {{"parameters", number(size.parameters)},
          {"rows_per_width", number(size.rows_per_width)},
          {"batch", size.batch},
          {"critical_batch", number(size.critical_batch)}};
}

Json rung_json(const StudiedRung& rung) {
  Json changes = Json::object();
  for (const auto& [path, value] : rung.changes) changes[path] = value;
  return {{"changes", std::move(changes)},
          {"learned_on", rung.learned_on},
          {"size", size_json(rung.size)},
          {"held_out", rung.held_out},
          {"gradient_sharing_steps", steps_json(rung.gradient_sharing)}};
}

Json ratio_json(const StudiedRatio& at) {
  Json json;
  json["steps"] = steps_json(at.steps);
  json["relative_steps"] = nullptr;
  if (at.ratio)
    json["relative_steps"] = {
        {"value", number(at.ratio->value)}, {"low", number(at.ratio->low)}, {"high", number(at.ratio->high)}};
  json["why_not"] = in_json(at.why_not);
  json["more_than"] = number(at.more_than);
  json["seed_variance"] = number(at.seed_variance);
  json["predicted"] = prediction_json(at.predicted);
  json["held"] = at.held ? Json(*at.held) : Json(nullptr);
  return json;
}

/// The fit along the first kind of size, from the smallest rung to the largest or the workload; the other kinds are as
/// large as the rungs are on average.
Json along_json(const estimate::Ladder& fit, const ScaleStudyReport& report) {
  constexpr int kPoints = 24;
  std::vector<double> size(report.against.size(), 0.0);
  double from = std::numeric_limits<double>::infinity();
  double to = -from;
  for (const estimate::Rung& rung : fit.rungs()) {
    from = std::min(from, rung.size.front());
    to = std::max(to, rung.size.front());
    for (std::size_t i = 0; i < size.size(); ++i) size[i] += rung.size[i] / static_cast<double>(fit.rungs().size());
  }
  const double workload = std::log10(report.workload_size.of(report.against.front()));
  if (std::isfinite(workload)) {
    from = std::min(from, workload);
    to = std::max(to, workload);
  }
  Json along = Json::array();
  for (int i = 0; i <= kPoints; ++i) {
    size.front() = from + (to - from) * i / kPoints;
    const estimate::LadderPrediction at = fit.at(size, report.level);
    along.push_back({{"size", number(std::pow(10, size.front()))},
                     {"value", number(at.ratio)},
                     {"low", number(at.low)},
                     {"high", number(at.high)}});
  }
  return along;
}

Json run_json(const StudiedRun& run, const ScaleStudyReport& report) {
  Json json;
  json["label"] = run.label;
  json["algorithm"] = run.algorithm;
  json["set"] = run.set;
  json["as_many_by_definition"] = run.as_many_by_definition;
  Json& rungs = json["rungs"] = Json::array();
  for (const StudiedRatio& at : run.rungs) rungs.push_back(ratio_json(at));
  json["fit"] = nullptr;
  if (run.fit) {
    Json slopes = Json::array();
    for (std::size_t i = 0; i < report.against.size(); ++i) {
      const estimate::Slope& slope = run.fit->slopes()[i];
      slopes.push_back({{"against", to_string(report.against[i])},
                        {"per_decade", number(slope.per_decade)},
                        {"standard_error", number(slope.error)},
                        {"chance", number(slope.chance)},
                        {"shown", slope.shown}});
    }
    json["fit"] = {{"rungs", run.fit->rungs().size()},
                   {"trend", run.fit->shows_trend()},
                   {"slopes", std::move(slopes)},
                   {"spread", number(run.fit->spread())},
                   {"along", along_json(*run.fit, report)}};
  }
  json["why_no_fit"] = in_json(run.why_no_fit);
  json["workload"] = prediction_json(run.workload);
  json["why_no_workload"] = in_json(run.why_no_workload);
  return json;
}

}  // namespace

std::string to_json(const ScaleStudyReport& report) {
  Json json;
  json["dadsim"] = {{"version", report.version}, {"build", report.build}};
  json["scenario"] = {{"name", report.scenario_name}, {"description", report.description}};
  json["verdict"] = verdict(report);
  Json& against = json["against"] = Json::array();
  for (const spec::SizeKind kind : report.against) against.push_back(to_string(kind));
  json["level"] = number(report.level);
  json["target_accuracy"] = number(report.target_accuracy);
  json["seeds"] = report.seeds;
  const HeldOutCount count = held_out_of(report);
  json["held_out"] = {{"cases", count.cases}, {"held", count.held}, {"undecided", count.undecided}};
  Json& rungs = json["rungs"] = Json::array();
  for (const StudiedRung& rung : report.rungs) rungs.push_back(rung_json(rung));
  Json& runs = json["runs"] = Json::array();
  for (const StudiedRun& run : report.runs) runs.push_back(run_json(run, report));
  json["workload"] = nullptr;
  if (!report.workload.empty())
    json["workload"] = {{"name", report.workload}, {"size", size_json(report.workload_size)}};
  json["assumptions"] = in_json(report.assumptions);
  return indented(json);
}

}  // namespace dadsim::report
