#include "report/explain/comparison_work.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace dadsim::report {
namespace {

constexpr double kDay = 86400;

bool is_price(double value) { return std::isfinite(value) && value > 0; }

/// What the same work costs on both sides; none where neither money nor energy is known of both.
std::optional<Statement> costs_of_both(const Compared& run, const std::string& name) {
  Statement statement{"compared-costs", {run.run, name}};
  statement.with("currency", run.currency);
  bool some = false;
  for (const auto& [metric, what] : {std::pair{Metric::per_money, "money"}, std::pair{Metric::per_energy, "kwh"}}) {
    const double before = price_of_work(run.before.work, metric);
    const double after = price_of_work(run.after.work, metric);
    if (!is_price(before) || !is_price(after) || metric == run.metric) continue;
    some = true;
    statement.with(std::string("before_per_") + what, rate_of_work(before, metric));
    statement.with(std::string("after_per_") + what, rate_of_work(after, metric));
  }
  if (!some) return std::nullopt;
  return statement.with("tokens", run.before.work.counts_tokens() && run.after.work.counts_tokens());
}

/// In how many days what is bought pays, where the work goes on that the first side does in a day: it is cheaper on the
/// second side by what that takes less of machines that are paid by time, and of energy.
std::optional<Statement> paying(const Compared& run, const Comparison& comparison) {
  const double bought = comparison.after.purchase - comparison.before.purchase;
  if (!(bought > 0)) return std::nullopt;
  Statement statement{"pays-in", {run.run, comparison.name}};
  statement.with("purchase", bought).with("currency", run.currency);
  const Work& before = run.before.work;
  const double price_before = before.money / before.per_step();
  const double price_after = run.after.work.money / run.after.work.per_step();
  if (!std::isfinite(price_before) || !std::isfinite(price_after) || !(before.step_seconds > 0))
    return statement.with("known", false);
  const double a_day = before.per_step() / before.step_seconds * kDay;
  const double saved = a_day * (price_before - price_after);
  statement.with("known", true).with("saved_per_day", saved);
  statement.with("day_seconds", run.after.work.step_seconds * a_day / run.after.work.per_step());
  if (saved > 0) statement.with("days", bought / saved);
  return statement;
}

}  // namespace

std::vector<Statement> statements_on_work(const Comparison& comparison, const std::vector<Compared>& runs) {
  const auto shares = [&](const Compared& one) {
    const auto run =
        std::ranges::find(comparison.before.runs, one.run, [](const RunResult& other) { return other.spec.label; });
    return run->spec.communicates && is_price(one.before.work.per_step()) && is_price(one.after.work.per_step());
  };
  const auto run = std::ranges::find_if(runs, shares);
  std::vector<Statement> statements;
  if (run == runs.end()) return statements;
  const std::optional<Statement> costs =
      do_other_work(run->before.work, run->after.work) || comparison.after.purchase > 0
          ? costs_of_both(*run, comparison.name)
          : std::nullopt;
  for (const std::optional<Statement>& one :
       {costs, paying(*run, comparison), batch_assumption(run->before.work, run->after.work, run->metric)}) {
    if (one) statements.push_back(*one);
  }
  return statements;
}

}  // namespace dadsim::report
