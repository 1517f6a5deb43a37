#include "report/run/result_document.hpp"

#include <cmath>

#include "report/run/figure_values.hpp"

namespace dadsim::report {
namespace {

DocumentValue value_of(const FigureValues& values, std::size_t index) {
  const Figure::Kind kind = figures()[index].kind;
  if (kind == Figure::Kind::text) {
    const std::string& text = values.text(index);
    return text.empty() ? DocumentValue() : DocumentValue(text);
  }
  const double value = values.number(index);
  if (kind == Figure::Kind::number || !std::isfinite(value)) return value;
  return kind == Figure::Kind::truth ? DocumentValue(value != 0) : DocumentValue(static_cast<std::int64_t>(value));
}

}  // namespace

void add_figures(TableRow& row, const RunResult& run, const Result& result) {
  const FigureValues values({run, result});
  for (std::size_t i = 0; i < figures().size(); ++i) row.add(figures()[i].name, value_of(values, i));
}

DocumentTable object_of(const estimate::Estimate& estimate) {
  return object_with("value", estimate.value, "low", estimate.low, "high", estimate.high);
}

DocumentTable object_of(const Answer& answer, const Result& result) {
  using Pair = Answer::Pair;
  const auto label = [&](std::size_t run) { return result.runs[run].spec.label; };
  DocumentTable ranking;
  for (const Answer::Place& place : answer.ranking) {
    DocumentValue of_first;
    const estimate::Verdict& verdict = place.verdict;
    if (&place != answer.ranking.data()) of_first = object_of(verdict.ratio);
    const bool open = verdict.standing == estimate::Standing::undecided;
    ranking.add_row().add("run", label(place.run), "seconds", place.seconds, "low", place.low, "high", place.high,
                          "seeds", place.seeds, "of_first", of_first, "verdict", to_string(verdict.standing),
                          "would_tell", or_null(open, to_string(verdict.would_tell)));
  }
  return object_with(
      "metric", to_string(answer.metric), "of", answer.of, "margin", estimate::kMargin, "rounding_steps",
      answer.rounding_steps, "statements", answer.statements, "ranking", ranking, "pairs",
      list_of(
          answer.pairs, "run", [&](const Pair& pair) { return label(pair.run); }, "of",
          [&](const Pair& pair) { return label(pair.of); }, "value", [](const Pair& pair) { return pair.times.value; },
          "low", [](const Pair& pair) { return pair.times.low; }, "high",
          [](const Pair& pair) { return pair.times.high; }));
}

DocumentTable bounds_of(const RunResult& run) {
  using step::Bound;
  return list_of(
      run.bounds, "resource", [](const Bound& bound) { return name_of(bound); }, "kind", &Bound::kind, "seconds",
      &Bound::seconds, "share", &Bound::share);
}

DocumentTable causes_table(const RunResult& run,
                           const std::function<void(TableRow&, const Cause&, const Cause::Part&)>& add_more) {
  DocumentTable causes;
  for (const Cause& cause : causes_of(run)) {
    DocumentTable on;
    for (const Cause::Part& part : cause.parts) {
      TableRow row = on.add_row();
      row.add("pattern", name_of(part), "resources", part.resources, "seconds", part.seconds, "share", part.share);
      if (add_more) add_more(row, cause, part);
    }
    causes.add_row().add("kind", cause.kind, "seconds", cause.seconds, "share", cause.share, "on", on);
  }
  return causes;
}

}  // namespace dadsim::report
