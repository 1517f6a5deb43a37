#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/plan/plan_report.hpp"
#include "report/run/result_document.hpp"
#include "study/composition/asking.hpp"
#include "study/planning/plan_scenario.hpp"
#include "study/scale_study/scale_study.hpp"
#include "study/sweep/sweep_points.hpp"

namespace dadsim::study {

using nlohmann::json;

/// Result of a scenario, without the parts that repeat the scenario.
struct Observed {
  json numbers;  ///< numbers learned, timed, sent and paid: per run, per trial of a plan, or per point of a sweep
  json words;    ///< everything else
  std::string failed = {};
};

/// Returns the learned and timed numbers of runs, without their names, methods and parameters.
inline json numbers_of(const json& result) {
  json runs = json::array();
  for (json run : result.at("runs")) {
    for (const char* echo : {"label", "algorithm", "exchange", "parameters", "compress", "workload", "notes"})
      run.erase(echo);
    runs.push_back(std::move(run));
  }
  return runs;
}

inline Observed observe_run(const scenario::Scenario& scenario) {
  const Asking::Ran ran = Asking::run(scenario);
  if (!ran.result) return {nullptr, nullptr, ran.failed};
  json result = json::parse(to_json(document_of(*ran.result)));
  Observed observed{numbers_of(result), nullptr};
  for (const char* echo : {"dadsim", "wall_clock", "runs"}) result.erase(echo);
  result["scenario"].erase("hash");
  observed.words = std::move(result);
  return observed;
}

inline Observed observe_plan(const std::string& path) {
  try {
    json plan = json::parse(to_json(document_of(plan_scenario(scenario::ScenarioSource(path), {}, false))));
    for (const char* echo : {"dadsim", "scenario", "goal"}) plan.erase(echo);
    return {std::move(plan), nullptr};
  } catch (const std::exception& error) {
    return {nullptr, nullptr, error.what()};
  }
}

inline Observed observe_sweep(const std::string& path, const scenario::Catalog& catalog) {
  try {
    const SweepPoints sweep(path, {}, catalog, false);
    json points = json::array();
    for (std::size_t i = 0; i < sweep.points().size(); ++i) {
      for (std::int64_t seed = 0; seed < sweep.seeds(); ++seed) points.push_back(sweep.overrides(i, seed));
    }
    return {std::move(points), nullptr};
  } catch (const std::exception& error) {
    return {nullptr, nullptr, error.what()};
  }
}

inline Observed observe_study(const std::string& path) {
  try {
    json study = json::parse(to_json(document_of(scale_study(scenario::ScenarioSource(path), {}, false))));
    for (const char* echo : {"dadsim", "scenario", "level", "against"}) study.erase(echo);
    return {std::move(study), nullptr};
  } catch (const std::exception& error) {
    return {nullptr, nullptr, error.what()};
  }
}

/// Runs the scenario with the command that the attribute `key` belongs to.
inline Observed observe(const Asking& asking, const test::Element& root, const scenario::Scenario& scenario,
                        const std::string& key) {
  const std::string element = key.substr(0, key.find('.'));
  if (element == "scale-study") {
    static_cast<void>(asking.check(root));  // called to write the file
    return observe_study(asking.path());
  }
  if (element == "goal" || element == "allow" || element == "sweep" || element == "vary") {
    static_cast<void>(asking.check(root));  // called to write the file
    return element == "goal" || element == "allow" ? observe_plan(asking.path())
                                                   : observe_sweep(asking.path(), asking.catalog());
  }
  return observe_run(scenario);
}

}  // namespace dadsim::study
