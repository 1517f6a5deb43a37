#include "report/html/explain.hpp"

#include "report/html/page.hpp"
#include "report/run/causes.hpp"
#include "report/run/event_driven_table.hpp"
#include "report/text/json_values.hpp"

namespace dadsim::report {
namespace {

std::string words_of(const RunResult& run) {
  if (run.steps == 0) return in_words(Statement{"no-step"});
  return run.event_driven ? time_sentence(run) : causes_in_words(run);
}

/// What the result as JSON leaves to whoever reads it: sentences, and who shares.
std::string summary_in_json(const Explanation& explanation) {
  const Result& result = explanation.result;
  Json runs = Json::array();
  for (const RunResult& run : result.runs) {
    runs.push_back({{"shares", run.spec.communicates},
                    {"event_driven", run.event_driven.has_value()},
                    {"steps_to_target", run.target_reached ? Json(run.target_step) : Json(nullptr)},
                    {"words", words_of(run)}});
  }
  const Json json{{"runs", std::move(runs)},
                  {"first", headline_run(result)},
                  {"target", number(result.target_accuracy)},
                  {"learned", !result.timing_only}};
  return one_line(json) + '\n';
}

}  // namespace

std::string verdict(const Explanation& explanation) { return as_paragraph(headline_of(explanation)); }

std::string to_html(const Explanation& explanation, const About& about) {
  return make_page(PageKind::explain, {explanation.result.scenario_name,
                                       verdict(explanation),
                                       to_json(explanation),
                                       {},
                                       {{"summary", summary_in_json(explanation)}, {"about", to_json(about)}}});
}

}  // namespace dadsim::report
