#include "report/run/work_answer.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "report/run/work.hpp"

namespace dadsim::report {

Statement statement_by_work(const Result& result, const Answer& answer) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Answer::Place>& ranking = answer.ranking;
  Statement statement{"by-work"};
  statement.with("metric", std::string(to_string(answer.metric))).with("of", answer.of);
  statement.with("currency", result.currency);
  statement.with("tokens", work_of(FigureValues({result.runs[ranking.front().run], result})).counts_tokens());
  std::vector<double> rates, lows, highs, factors, factor_lows, factor_highs;
  std::vector<std::string> standing;
  for (const Answer::Place& place : ranking) {
    statement.subjects.push_back(result.runs[place.run].spec.label);
    rates.push_back(rate_of_work(place.seconds, answer.metric));
    lows.push_back(place.high ? rate_of_work(*place.high, answer.metric) : kUnknown);
    highs.push_back(place.low ? rate_of_work(*place.low, answer.metric) : kUnknown);
    const bool first = &place == &ranking.front();
    factors.push_back(first ? 1 : place.verdict.ratio.value);
    factor_lows.push_back(first ? 1 : place.verdict.ratio.low.value_or(kUnknown));
    factor_highs.push_back(first ? 1 : place.verdict.ratio.high.value_or(kUnknown));
    standing.emplace_back(to_string(place.verdict.standing));
  }
  statement.with("rate", std::move(rates)).with("rate_low", std::move(lows)).with("rate_high", std::move(highs));
  statement.with("factor", std::move(factors)).with("factor_low", std::move(factor_lows));
  return statement.with("factor_high", std::move(factor_highs)).with("standing", std::move(standing));
}

std::optional<Statement> statement_on_spot(const Result& result) {
  for (const RunResult& run : result.runs) {
    if (!run.costs || !run.costs->spot || !run.spec.communicates) continue;
    const SpotCosts& spot = *run.costs->spot;
    Statement statement{"on-spot", {run.spec.label}};
    statement.with("seconds", spot.seconds).with("slowdown", spot.slowdown);
    statement.with("interruptions", spot.interruptions).with("checkpoint_every", spot.checkpoint_every);
    statement.with("currency", result.currency);
    if (spot.costs.money) statement.with("money", *spot.costs.money);
    const Costs& without = run.costs->at_scale    ? *run.costs->at_scale
                           : run.costs->to_target ? *run.costs->to_target
                                                  : run.costs->whole;
    if (without.money) statement.with("money_without", *without.money);
    return statement;
  }
  return std::nullopt;
}

}  // namespace dadsim::report
