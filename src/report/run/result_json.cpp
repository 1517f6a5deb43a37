#include "report/run/result_json.hpp"

#include <cmath>

#include "report/run/figure_values.hpp"

namespace dadsim::report {
namespace {

/// Of what there is none of, null.
Json figure_in_json(const FigureValues& values, std::size_t index) {
  const Figure::Kind kind = figures()[index].kind;
  if (kind == Figure::Kind::text) {
    const std::string& text = values.text(index);
    return text.empty() ? Json(nullptr) : Json(text);
  }
  const double value = values.number(index);
  if (kind == Figure::Kind::number || !std::isfinite(value)) return number(value);
  return kind == Figure::Kind::truth ? Json(value != 0) : Json(static_cast<std::int64_t>(value));
}

}  // namespace

Json figures_in_json(const RunResult& run, const Result& result) {
  Json json;
  const FigureValues values({run, result});
  for (std::size_t i = 0; i < figures().size(); ++i) json[figures()[i].name] = figure_in_json(values, i);
  return json;
}

Json in_json(const Answer& answer, const Result& result) {
  Json ranking = Json::array();
  for (const Answer::Place& place : answer.ranking) {
    Json of_first = nullptr;
    const bool first = &place == answer.ranking.data();
    if (!first) {
      const estimate::Estimate& ratio = place.verdict.ratio;
      of_first = {{"value", number(ratio.value)}, {"low", number(ratio.low)}, {"high", number(ratio.high)}};
    }
    ranking.push_back({{"run", result.runs[place.run].spec.label},
                       {"seconds", number(place.seconds)},
                       {"low", number(place.low)},
                       {"high", number(place.high)},
                       {"seeds", place.seeds},
                       {"of_first", std::move(of_first)},
                       {"verdict", to_string(place.verdict.standing)},
                       {"would_tell", place.verdict.standing == estimate::Standing::undecided
                                          ? Json(to_string(place.verdict.would_tell))
                                          : Json(nullptr)}});
  }
  Json pairs = Json::array();
  for (const Answer::Pair& pair : answer.pairs) {
    pairs.push_back({{"run", result.runs[pair.run].spec.label},
                     {"of", result.runs[pair.of].spec.label},
                     {"value", number(pair.times.value)},
                     {"low", number(pair.times.low)},
                     {"high", number(pair.times.high)}});
  }
  return {{"metric", to_string(answer.metric)},
          {"of", answer.of},
          {"margin", estimate::kMargin},
          {"rounding_steps", answer.rounding_steps},
          {"statements", in_json(answer.statements)},
          {"ranking", std::move(ranking)},
          {"pairs", std::move(pairs)}};
}

}  // namespace dadsim::report
