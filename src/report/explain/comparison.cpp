#include "report/explain/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/run/causes.hpp"
#include "report/run/contender.hpp"
#include "report/run/result_json.hpp"
#include "report/text/factor_text.hpp"
#include "report/text/paragraph.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

constexpr std::size_t kLongestText = 60;

std::optional<double> time_of(const RunResult& run, Metric metric) {
  switch (metric) {
    case Metric::time_at_scale:
      if (run.at_scale && run.at_scale->time) return run.at_scale->time->value;
      return std::nullopt;
    case Metric::time_per_step:
    case Metric::throughput:
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
    case Metric::throughput:
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

double Compared::Side::samples() const {
  return std::isfinite(samples_per_second) ? samples_per_second * step_seconds : 0;
}

bool Compared::other_work() const {
  constexpr double kRounding = 0.001;
  const double ratio = before.samples() > 0 ? after.samples() / before.samples() : 1;
  return metric == Metric::time_per_step && after.samples() > 0 && std::abs(ratio - 1) > kRounding;
}

namespace {

/// "the throughput of gpt-2-medium: 1.72 times …".
std::string throughput_sentence_on(const Compared& run) {
  const bool tokens = std::isfinite(run.before.tokens_per_second) && run.before.tokens_per_second > 0 &&
                      std::isfinite(run.after.tokens_per_second) && run.after.tokens_per_second > 0;
  const double before = tokens ? run.before.tokens_per_second : run.before.samples_per_second;
  const double after = tokens ? run.after.tokens_per_second : run.after.samples_per_second;
  const char* unit = tokens ? "tokens/s" : "samples/s";
  const bool more = after >= before;
  return fmt::format(
      "{} the throughput: {} {} instead of {} (a step of {} has {:.3g} times the samples and takes {} instead of {})",
      times_in_words(more ? after / before : after / before), human_count(std::llround(after)), unit,
      human_count(std::llround(before)), run.of, run.after.samples() / run.before.samples(),
      human_seconds(run.after.step_seconds), human_seconds(run.before.step_seconds));
}

/// Where one label is of two methods: what differs is not the conditions alone.
std::string methods_in_words(const Compared& run) {
  if (run.before.algorithm == run.after.algorithm) return {};
  return fmt::format("; the two are other methods ({} and {}), and not the conditions alone", run.before.algorithm,
                     run.after.algorithm);
}

}  // namespace

std::string sentence_on(const Compared& run, const std::string& name) {
  const Compared::Side& before = run.before;
  const Compared::Side& after = run.after;
  std::string text = fmt::format("{}, {}: ", run.run, name);
  if (run.other_work()) return text + throughput_sentence_on(run) + methods_in_words(run) + '.';
  if (!before.seconds || !after.seconds) {
    text += fmt::format("the target {} before, and {} after", reached_in_words(before.seconds, before.best_accuracy),
                        reached_in_words(after.seconds, after.best_accuracy));
    return text + methods_in_words(run) + '.';
  }
  const bool faster = *before.seconds > *after.seconds;
  const estimate::Verdict verdict =
      faster ? decide(after.contender, before.contender) : decide(before.contender, after.contender);
  const std::string why = faster || *before.seconds == *after.seconds ? before.causes : after.causes;
  if (human_seconds(*before.seconds) == human_seconds(*after.seconds)) {
    text += fmt::format("no difference: {} {} on both sides", deed_in_words(run), human_seconds(*before.seconds));
    if (!before.causes.empty()) text += "; " + before.causes;
    return text + methods_in_words(run) + '.';
  }
  const std::string times = fmt::format("{} {} instead of {}", deed_in_words(run), human_seconds(*after.seconds),
                                        human_seconds(*before.seconds));
  switch (verdict.standing) {
    case estimate::Standing::equal:
      text += fmt::format("equal within {:.0f} %: {}", 100 * estimate::kMargin, times);
      break;
    case estimate::Standing::undecided:
      text += fmt::format("cannot be told apart ({}): {}; {}", interval_in_words(verdict.ratio), times,
                          would_tell_in_words(verdict.would_tell));
      break;
    default:
      text += fmt::format("{} {}: {}", factor_in_words(verdict.ratio), faster ? "faster" : "slower", times);
  }
  if (run.metric != Metric::time_per_step)
    text +=
        fmt::format(", a step {} instead of {}", human_seconds(after.step_seconds), human_seconds(before.step_seconds));
  if (!why.empty()) text += fmt::format("; {}, {}", faster ? "before" : "after", why);
  return text + methods_in_words(run) + '.';
}

namespace {

Compared::Side side_of(const RunResult& run, Metric metric) {
  Compared::Side side{
      .algorithm = run.spec.algorithm, .causes = causes_in_words(run), .best_accuracy = run.best_accuracy};
  side.seconds = time_of(run, metric);
  side.step_seconds = run.step_seconds;
  if (run.throughput) {
    side.samples_per_second = run.throughput->samples;
    side.tokens_per_second = run.throughput->tokens.value_or(0);
  }
  side.contender = contender_of(run, metric);
  if (side.seconds) side.contender.seconds = *side.seconds;
  return side;
}

/// Whether both sides learned one thing: what seeds, evaluations and relative steps leave open is then the same of
/// both.
bool learned_the_same(const RunResult& before, const RunResult& after) {
  const auto same = [](double one, double other) { return one == other || (std::isnan(one) && std::isnan(other)); };
  return before.spec.algorithm == after.spec.algorithm &&
         std::ranges::equal(before.curve, after.curve, [&](const CurvePoint& one, const CurvePoint& other) {
           return one.step == other.step && same(one.loss, other.loss) && same(one.accuracy, other.accuracy);
         });
}

}  // namespace

std::vector<Compared> compared_runs(const Comparison& comparison) {
  const Answer before = answer_to(comparison.before);
  const Answer after = answer_to(comparison.after);
  const Metric metric = common_metric(before, after);
  std::vector<Compared> compared;
  for (const RunResult& run : comparison.before.runs) {
    const auto other =
        std::ranges::find(comparison.after.runs, run.spec.label, [](const RunResult& one) { return one.spec.label; });
    if (other == comparison.after.runs.end()) continue;
    Compared& one = compared.emplace_back(Compared{run.spec.label, metric,
                                                   before.of == after.of ? before.of : before.of + " or " + after.of,
                                                   side_of(run, metric), side_of(*other, metric)});
    if (!learned_the_same(run, *other)) continue;
    for (Compared::Side* side : {&one.before, &one.after}) {
      side->contender.exact = true;
      side->contender.relative.reset();
    }
  }
  return compared;
}

namespace {

/// How the slower side stands to the quicker one; null where one has no time, or both do another amount in a step.
Json verdict_in_json(const Compared& run) {
  if (!run.before.seconds || !run.after.seconds || run.other_work()) return nullptr;
  const bool faster = *run.before.seconds > *run.after.seconds;
  const estimate::Verdict verdict =
      faster ? decide(run.after.contender, run.before.contender) : decide(run.before.contender, run.after.contender);
  return {{"quicker", faster ? "after" : "before"},
          {"standing", to_string(verdict.standing)},
          {"value", number(verdict.ratio.value)},
          {"low", number(verdict.ratio.low)},
          {"high", number(verdict.ratio.high)}};
}

/// The time that both are compared by, and all figures of the run.
Json side_in_json(const Compared::Side& side, const std::string& label, const Result& result) {
  const auto run = std::ranges::find(result.runs, label, [](const RunResult& one) { return one.spec.label; });
  Json json = figures_in_json(*run, result);
  json["seconds"] = number(side.seconds);
  return json;
}

}  // namespace

Summary summary_of(const Comparison& comparison) {
  Summary summary;
  std::string& text = summary.answer;
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
  summary.body = comparison.differences.empty() ? "Nothing differs between the two.\n" : "What differs:\n";
  for (const Difference& one : comparison.differences)
    summary.body += paragraph(fmt::format("  {}: {} → {}", one.path, cut(one.before), cut(one.after)), 4);
  summary.body +=
      '\n' + paragraph("Before: " + verdict(comparison.before)) + paragraph("After: " + verdict(comparison.after));
  return summary;
}

std::string to_table(const Comparison& comparison) { return summary_of(comparison).all(); }

std::string to_json(const Comparison& comparison) {
  Json json;
  json["dadsim"] = {{"version", comparison.before.version}, {"simgrid", comparison.before.simgrid}};
  json["before"] = {{"name", comparison.before.scenario_name},
                    {"hash", fmt::format("{:016x}", comparison.before.hash)},
                    {"answer", in_json(answer_to(comparison.before), comparison.before)}};
  json["after"] = {{"name", comparison.after.scenario_name},
                   {"hash", fmt::format("{:016x}", comparison.after.hash)},
                   {"answer", in_json(answer_to(comparison.after), comparison.after)}};
  Json& differences = json["differences"] = Json::array();
  for (const Difference& one : comparison.differences)
    differences.push_back({{"path", one.path}, {"before", one.before}, {"after", one.after}});
  Json& runs = json["runs"] = Json::array();
  for (const Compared& run : compared_runs(comparison)) {
    const std::optional<double>& before = run.before.seconds;
    const std::optional<double>& after = run.after.seconds;
    runs.push_back({{"label", run.run},
                    {"metric", to_string(run.other_work() ? Metric::throughput : run.metric)},
                    {"of", run.of},
                    {"factor", before && after ? number(*before / *after) : Json(nullptr)},
                    {"verdict", verdict_in_json(run)},
                    {"before", side_in_json(run.before, run.run, comparison.before)},
                    {"after", side_in_json(run.after, run.run, comparison.after)},
                    {"sentence", sentence_on(run, comparison.name)}});
  }
  return indented(json);
}

}  // namespace dadsim::report
