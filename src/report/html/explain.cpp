#include "report/html/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/html/page.hpp"
#include "report/run/answer.hpp"
#include "report/run/causes.hpp"
#include "report/run/event_driven_table.hpp"
#include "report/text/json_values.hpp"

namespace dadsim::report {
namespace {

constexpr double kWorthSaying = 0.05;  // of the step

/// The run that the sentence is of: the quickest that shares; where none has a time, the first that takes steps.
std::size_t run_in_question(const Result& result) {
  const Answer answer = answer_to(result);
  if (!answer.ranking.empty()) return answer.ranking.front().run;
  const auto shares = [](const RunResult& run) { return run.spec.communicates && run.steps > 0; };
  const auto found = std::ranges::find_if(result.runs, shares);
  return found == result.runs.end() ? 0 : static_cast<std::size_t>(found - result.runs.begin());
}

std::string words_of(const RunResult& run) {
  if (run.steps == 0) return "takes no step: the target was met before training";
  return run.event_driven ? time_sentence(run) : causes_in_words(run);
}

/// "Of its step 53 % is bandwidth, 22 % latency." What they lie on is said further down.
std::string kinds_of(const RunResult& run) {
  if (run.event_driven) return time_sentence(run);
  std::string text;
  for (const Cause& cause : causes_of(run)) {
    if (cause.share < kWorthSaying) break;
    text += fmt::format("{}{}{} {}", text.empty() ? "Of its step " : ", ", share_in_words(cause.share),
                        text.empty() ? " is" : "", cause_in_words(cause.kind));
  }
  return text.empty() ? text : text + '.';
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
                  {"first", run_in_question(result)},
                  {"target", number(result.target_accuracy)},
                  {"learned", !result.timing_only}};
  return one_line(json) + '\n';
}

}  // namespace

std::string verdict(const Explanation& explanation) {
  const Result& result = explanation.result;
  const std::size_t index = run_in_question(result);
  const RunResult& run = result.runs.at(index);
  std::string text = in_words(answer_to(result).statements.front());
  if (const std::string words = kinds_of(run); !words.empty()) text += ' ' + words;
  const std::vector<const WhatIf*> best = most_useful(explanation, index, 1);
  if (best.empty()) {
    text += " Nothing that was tried saves a hundredth of its time.";
  } else {
    text += fmt::format(" What helps most is {}: {:.0f} % of {} saved.", best.front()->description,
                        100 * saving_of(explanation, index, *best.front()),
                        run.target_reached ? "the time to the target" : "a step");
  }
  return text;
}

std::string to_html(const Explanation& explanation, const About& about) {
  return make_page(PageKind::explain, {explanation.result.scenario_name,
                                       verdict(explanation),
                                       to_json(explanation),
                                       {},
                                       {{"summary", summary_in_json(explanation)}, {"about", to_json(about)}}});
}

}  // namespace dadsim::report
