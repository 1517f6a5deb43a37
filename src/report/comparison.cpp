#include "report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/causes.hpp"
#include "report/json_values.hpp"
#include "report/paragraph.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

constexpr double kAlike = 0.005;  // of the time: no difference that anybody should act on
constexpr std::size_t kLongestText = 60;

std::optional<double> time_of(const RunResult& run, Metric metric) {
  switch (metric) {
    case Metric::time_at_scale:
      if (run.at_scale && run.at_scale->time) return run.at_scale->time->value;
      return std::nullopt;
    case Metric::time_per_step:
      return run.step_seconds > 0 ? std::optional(run.step_seconds) : std::nullopt;
    case Metric::time_to_target:
      return run.target_reached ? std::optional(run.target_seconds) : std::nullopt;
  }
  return std::nullopt;
}

/// What takes the time.
std::string deed_in_words(const Compared& run) {
  switch (run.metric) {
    case Metric::time_at_scale:
      return fmt::format("training {} takes", run.of);
    case Metric::time_per_step:
      return fmt::format("a step of {} takes", run.of);
    case Metric::time_to_target:
      return "the target takes";
  }
  return {};
}

std::string reached_in_words(const std::optional<double>& time, double best) {
  if (time) return fmt::format("is reached in {}", human_seconds(*time));
  if (std::isfinite(best)) return fmt::format("is never reached (best {})", human_percent(best));
  return "is not known";
}

/// Both are compared by what both have.
Metric common_metric(const Answer& before, const Answer& after) {
  return before.metric == after.metric ? before.metric : Metric::time_per_step;
}

std::string cut(const std::string& text) {
  if (text.empty()) return "(nothing)";
  return display_width(text) <= kLongestText ? text : left_aligned(text, kLongestText);
}

/// The best runs of both sides, where they are others.
std::string best_sentence(const Comparison& comparison) {
  const Answer before = answer_to(comparison.before);
  const Answer after = answer_to(comparison.after);
  if (before.metric != after.metric || before.ranking.empty() || after.ranking.empty()) return {};
  const auto label = [](const Result& result, const Answer& answer) -> const std::string& {
    return result.runs[answer.ranking.front().run].spec.label;
  };
  const std::string& first = label(comparison.before, before);
  const std::string& then = label(comparison.after, after);
  return first == then ? fmt::format("{} is the quickest on both sides.", first)
                       : fmt::format("The quickest is {} before, and {} after.", first, then);
}

}  // namespace

std::string sentence_on(const Compared& run, const std::string& name) {
  std::string text = fmt::format("{}, {}: ", run.run, name);
  if (!run.before || !run.after) {
    text += fmt::format("the target {} before, and {} after", reached_in_words(run.before, run.best_before),
                        reached_in_words(run.after, run.best_after));
    return text + '.';
  }
  const double ratio = *run.before / *run.after;
  if (std::abs(ratio - 1) < kAlike) {
    text += fmt::format("no difference: {} {} on both sides", deed_in_words(run), human_seconds(*run.before));
    if (!run.causes_before.empty()) text += "; " + run.causes_before;
    return text + '.';
  }
  const bool faster = ratio > 1;
  text += fmt::format("{} {}: {} {} instead of {}", times_in_words(faster ? ratio : 1 / ratio),
                      faster ? "faster" : "slower", deed_in_words(run), human_seconds(*run.after),
                      human_seconds(*run.before));
  if (run.metric != Metric::time_per_step)
    text += fmt::format(", a step {} instead of {}", human_seconds(run.step_after), human_seconds(run.step_before));
  const std::string& why = faster ? run.causes_before : run.causes_after;
  if (!why.empty()) text += fmt::format("; {}, {}", faster ? "before" : "after", why);
  return text + '.';
}

std::vector<Compared> compared_runs(const Comparison& comparison) {
  const Answer before = answer_to(comparison.before);
  const Answer after = answer_to(comparison.after);
  const Metric metric = common_metric(before, after);
  std::vector<Compared> compared;
  for (const RunResult& run : comparison.before.runs) {
    const auto other =
        std::ranges::find(comparison.after.runs, run.spec.label, [](const RunResult& one) { return one.spec.label; });
    if (other == comparison.after.runs.end()) continue;
    compared.push_back({run.spec.label, metric, before.of == after.of ? before.of : before.of + " or " + after.of,
                        time_of(run, metric), time_of(*other, metric), run.step_seconds, other->step_seconds,
                        causes_in_words(run), causes_in_words(*other), run.best_accuracy, other->best_accuracy});
  }
  return compared;
}

Told told(const Comparison& comparison) {
  Told told;
  std::string& text = told.answer;
  for (const Compared& run : compared_runs(comparison)) text += paragraph(sentence_on(run, comparison.name));
  if (const std::string best = best_sentence(comparison); !best.empty() && comparison.before.runs.size() > 1)
    text += paragraph(best);
  for (const auto& [from, to, side] : {std::tuple{&comparison.before, &comparison.after, "first"},
                                       std::tuple{&comparison.after, &comparison.before, "second"}}) {
    for (const RunResult& run : from->runs) {
      const bool both =
          std::ranges::any_of(to->runs, [&](const RunResult& one) { return one.spec.label == run.spec.label; });
      if (!both) text += paragraph(fmt::format("{} is a run of the {} side alone.", run.spec.label, side));
    }
  }
  told.body = comparison.differences.empty() ? "Nothing differs between the two.\n" : "What differs:\n";
  for (const Difference& one : comparison.differences)
    told.body += paragraph(fmt::format("  {}: {} → {}", one.path, cut(one.before), cut(one.after)), 4);
  told.body +=
      '\n' + paragraph("Before: " + verdict(comparison.before)) + paragraph("After: " + verdict(comparison.after));
  return told;
}

std::string to_table(const Comparison& comparison) { return told(comparison).all(); }

std::string to_json(const Comparison& comparison) {
  Json json;
  json["dadsim"] = {{"version", comparison.before.version}, {"simgrid", comparison.before.simgrid}};
  json["before"] = {{"name", comparison.before.scenario_name},
                    {"hash", fmt::format("{:016x}", comparison.before.hash)},
                    {"answer", answer_to(comparison.before).sentences}};
  json["after"] = {{"name", comparison.after.scenario_name},
                   {"hash", fmt::format("{:016x}", comparison.after.hash)},
                   {"answer", answer_to(comparison.after).sentences}};
  Json& differences = json["differences"] = Json::array();
  for (const Difference& one : comparison.differences)
    differences.push_back({{"path", one.path}, {"before", one.before}, {"after", one.after}});
  Json& runs = json["runs"] = Json::array();
  for (const Compared& run : compared_runs(comparison)) {
    runs.push_back({{"label", run.run},
                    {"metric", to_string(run.metric)},
                    {"of", run.of},
                    {"before_seconds", number(run.before)},
                    {"after_seconds", number(run.after)},
                    {"factor", run.before && run.after ? number(*run.before / *run.after) : Json(nullptr)},
                    {"step_seconds_before", number(run.step_before)},
                    {"step_seconds_after", number(run.step_after)},
                    {"causes_before", run.causes_before},
                    {"causes_after", run.causes_after},
                    {"sentence", sentence_on(run, comparison.name)}});
  }
  return indented(json);
}

}  // namespace dadsim::report
