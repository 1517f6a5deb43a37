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

DocumentTable object_of(const Answer& answer, const Result& result) {
  DocumentTable ranking, pairs, table{.object = true};
  for (const Answer::Place& place : answer.ranking) {
    DocumentTable of_first{.object = true};
    const estimate::Verdict& verdict = place.verdict;
    if (&place != answer.ranking.data())
      of_first.add_row()
          .add("value", verdict.ratio.value)
          .add("low", verdict.ratio.low)
          .add("high", verdict.ratio.high);
    const bool open = verdict.standing == estimate::Standing::undecided;
    ranking.add_row()
        .add("run", result.runs[place.run].spec.label)
        .add("seconds", place.seconds)
        .add("low", place.low)
        .add("high", place.high)
        .add("seeds", place.seeds)
        .add("of_first", of_first)
        .add("verdict", to_string(verdict.standing))
        .add("would_tell", open ? DocumentValue(to_string(verdict.would_tell)) : DocumentValue());
  }
  for (const Answer::Pair& pair : answer.pairs)
    pairs.add_row()
        .add("run", result.runs[pair.run].spec.label)
        .add("of", result.runs[pair.of].spec.label)
        .add("value", pair.times.value)
        .add("low", pair.times.low)
        .add("high", pair.times.high);
  table.add_row()
      .add("metric", to_string(answer.metric))
      .add("of", answer.of)
      .add("margin", estimate::kMargin)
      .add("rounding_steps", answer.rounding_steps)
      .add("statements", answer.statements)
      .add("ranking", ranking)
      .add("pairs", pairs);
  return table;
}

DocumentTable bounds_of(const RunResult& run) {
  DocumentTable bounds;
  for (const step::Bound& bound : run.bounds)
    bounds.add_row()
        .add("resource", name_of(bound))
        .add("kind", bound.kind)
        .add("seconds", bound.seconds)
        .add("share", bound.share);
  return bounds;
}

DocumentTable causes_table(const RunResult& run,
                           const std::function<void(TableRow&, const Cause&, const Cause::Part&)>& add_more) {
  DocumentTable causes;
  for (const Cause& cause : causes_of(run)) {
    DocumentTable on;
    for (const Cause::Part& part : cause.parts) {
      TableRow row = on.add_row();
      row.add("pattern", name_of(part))
          .add("resources", part.resources)
          .add("seconds", part.seconds)
          .add("share", part.share);
      if (add_more) add_more(row, cause, part);
    }
    causes.add_row().add("kind", cause.kind).add("seconds", cause.seconds).add("share", cause.share).add("on", on);
  }
  return causes;
}

}  // namespace dadsim::report
