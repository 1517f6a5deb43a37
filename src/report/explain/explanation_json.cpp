#include "report/explain/explanation.hpp"
#include "report/explain/part_saving.hpp"
#include "report/run/result_json.hpp"
#include "report/words/statement_json.hpp"

namespace dadsim::report {
namespace {

/// Its place among the what-ifs; null where there is none.
Json index_of(const Explanation& explanation, const WhatIf* what_if) {
  return what_if == nullptr ? Json(nullptr) : Json(what_if - explanation.what_ifs.data());
}

}  // namespace

std::string to_json(const Explanation& explanation) {
  const Result& result = explanation.result;
  Json json;
  json["dadsim"] = {{"version", result.version}, {"simgrid", result.simgrid}, {"network_model", result.network_model}};
  json["scenario"] = {{"name", result.scenario_name}, {"seed", result.seed}};
  json["learned_on"] = result.learned_on;
  json["timed_as"] = result.timed_as;
  json["answer"] = in_json(answer_to(result), result);
  json["headline"] = in_json(headline_of(explanation));
  Json& runs = json["runs"] = Json::array();
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const RunResult& run = result.runs[i];
    Json one = figures_in_json(run, result);
    Json& path = one["critical_path"] = Json::array();
    for (const step::Bound& bound : run.bounds) {
      path.push_back({{"resource", name_of(bound)},
                      {"kind", bound.kind},
                      {"seconds", number(bound.seconds)},
                      {"share", number(bound.share)}});
    }
    Json& causes = one["causes"] = Json::array();
    for (const Cause& cause : causes_of(run)) {
      Json on = Json::array();
      for (const Cause::Part& part : cause.parts) {
        const PartSaving check = saving_of_part(explanation, i, cause, part);
        on.push_back({{"pattern", name_of(part)},
                      {"resources", part.resources},
                      {"seconds", number(part.seconds)},
                      {"share", number(part.share)},
                      {"tried", index_of(explanation, check.what_if)},
                      {"saving_if_twice_as_fast", check.what_if != nullptr ? number(check.saving) : Json(nullptr)},
                      {"why_not", in_json(check.why_not)},
                      {"why_more", in_json(check.why_more)}});
      }
      causes.push_back({{"kind", cause.kind},
                        {"seconds", number(cause.seconds)},
                        {"share", number(cause.share)},
                        {"on", std::move(on)}});
    }
    Json& what_ifs = one["what_if"] = Json::array();
    for (const WhatIf& what_if : explanation.what_ifs) {
      const Effect& effect = what_if.effects.at(i);
      what_ifs.push_back({{"kind", to_string(what_if.kind)},
                          {"on", what_if.on},
                          {"factor", number(what_if.factor)},
                          {"change", in_json(what_if.change)},
                          {"assumption", in_json(what_if.assumption)},
                          {"step_seconds", number(effect.step_seconds)},
                          {"target_seconds", number(effect.target_seconds)},
                          {"saving", number(saving_of(explanation, i, what_if))}});
    }
    Json& useful = one["most_useful"] = Json::array();
    for (const WhatIf* best : most_useful(explanation, i, kMostUseful)) useful.push_back(index_of(explanation, best));
    runs.push_back(std::move(one));
  }
  json["links_left_out"] = explanation.links_left_out;
  json["notes"] = in_json(explanation.notes);
  json["assumptions"] = in_json(result.assumptions);
  return indented(json);
}

}  // namespace dadsim::report
