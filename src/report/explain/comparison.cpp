#include "report/explain/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "report/run/causes.hpp"
#include "report/run/contender.hpp"
#include "report/run/over_seeds.hpp"
#include "report/run/result_document.hpp"
#include "report/run/table.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

constexpr double kDay = 86400;

bool is_price(double value) { return std::isfinite(value) && value > 0; }

/// Returns the costs of equal work on both sides; nothing if neither money nor energy is known on both.
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

/// Returns the days until the purchases pay off if the daily work of the first side continues. The second side saves
/// money on machines paid by time, and on energy.
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

/// Returns statements on the first run that communicates and exists on both sides: assumptions about different batches,
/// the cost of equal work, and the days until purchases pay off.
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

constexpr std::size_t kLongestText = 60;

std::optional<double> time_of(const RunResult& run, Metric metric) {
  switch (metric) {
    case Metric::time_at_scale:
      if (run.at_scale && run.at_scale->time) return run.at_scale->time->value;
      return std::nullopt;
    case Metric::time_per_step:
    case Metric::time_per_round:
    case Metric::throughput:
    case Metric::per_money:
    case Metric::per_energy:
      return run.step_seconds > 0 ? std::optional(run.step_seconds) : std::nullopt;
    case Metric::time_to_target:
      if (const TargetOverSeeds over = target_over_seeds(run); over.reached) return over.seconds;
      return std::nullopt;
  }
  return std::nullopt;
}

/// Returns the metric that both sides can be compared by.
Metric metric_of_both(const Answer& before, const Answer& after) {
  return before.metric == after.metric ? before.metric : Metric::time_per_step;
}

std::string cut(const std::string& text) {
  if (text.empty()) return "(nothing)";
  return display_width(text) <= kLongestText ? text : left_aligned(text, kLongestText);
}

/// Returns a statement on the quickest run of each side; none if a side has no such run, or if the sides have different
/// metrics.
std::optional<Statement> quickest_of(const Comparison& comparison, const Answer& before, const Answer& after) {
  if (before.metric != after.metric || before.ranking.empty() || after.ranking.empty()) return std::nullopt;
  const std::string& first = comparison.before.runs[before.ranking.front().run].spec.label;
  const std::string& then = comparison.after.runs[after.ranking.front().run].spec.label;
  return first == then ? Statement{"same-quickest", {first}} : Statement{"other-quickest", {first, then}};
}

}  // namespace

void compare_by_work(Compared& run, spec::AskedMetric asked) {
  run.metric = common_metric(run.metric, asked, {run.before.work, run.after.work});
  if (!is_of_work(run.metric)) return;
  for (Compared::Side* side : {&run.before, &run.after}) {
    const double price = price_of_work(side->work, run.metric);
    side->seconds = std::isfinite(price) && price > 0 ? std::optional(price) : std::nullopt;
    side->contender.seconds = side->seconds.value_or(0);
  }
}

namespace {

/// Returns a statement with the values that every comparison of two sides contains.
Statement of_both(const char* kind, const Compared& run, const std::string& name) {
  Statement statement{kind, {run.run, name}};
  statement.with("metric", std::string(to_string(run.metric))).with("of", run.of);
  statement.with("before_step_seconds", run.before.step_seconds);
  statement.with("after_step_seconds", run.after.step_seconds);
  if (run.before.event_driven && run.after.event_driven) statement.with("round", true);
  if (run.before.algorithm != run.after.algorithm)
    statement.with("before_algorithm", run.before.algorithm).with("after_algorithm", run.after.algorithm);
  return statement;
}

/// Returns whether the second side is quicker, or cheaper by a metric of work, and the verdict on the other side
/// against the better one. *Requires* a time or price of both sides.
std::pair<bool, estimate::Verdict> verdict_of(const Compared& run) {
  const bool faster = *run.before.seconds > *run.after.seconds;
  const Compared::Side& better = faster ? run.after : run.before;
  return {faster, decide(better.contender, (faster ? run.before : run.after).contender)};
}

/// Returns a comparison by tokens or samples per second, per money or per energy.
Statement work_of_both(const Compared& run, const std::string& name) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const auto [faster, verdict] = verdict_of(run);
  const estimate::Estimate& ratio = verdict.ratio;  // price ratio, the higher ÷ the lower
  const auto times = [&](const std::optional<double>& end) { return !end ? kUnknown : faster ? *end : 1 / *end; };
  Statement statement = of_both("compared-work", run, name);
  statement.with("tokens", run.before.work.counts_tokens() && run.after.work.counts_tokens());
  statement.with("currency", run.currency).with("standing", std::string(to_string(verdict.standing)));
  statement.with("before_rate", rate_of_work(*run.before.seconds, run.metric));
  statement.with("after_rate", rate_of_work(*run.after.seconds, run.metric));
  statement.with("factor", times(ratio.value));
  statement.with("factor_low", times(faster ? ratio.low : ratio.high));
  statement.with("factor_high", times(faster ? ratio.high : ratio.low));
  return statement.with("samples_factor", run.after.work.per_step() / run.before.work.per_step());
}

}  // namespace

Statement statement_on(const Compared& run, const std::string& name) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const Compared::Side& before = run.before;
  const Compared::Side& after = run.after;
  if (is_of_work(run.metric) && before.seconds && after.seconds) return work_of_both(run, name);
  const auto with_times = [&](const char* kind) {
    return of_both(kind, run, name)
        .with("before_seconds", before.seconds.value_or(kNone))
        .with("after_seconds", after.seconds.value_or(kNone));
  };
  if (!before.seconds || !after.seconds) {
    return with_times("compared-missed")
        .with("before_best_accuracy", before.best_accuracy)
        .with("after_best_accuracy", after.best_accuracy);
  }
  if (human_seconds(*before.seconds) == human_seconds(*after.seconds))
    return with_times("compared-same").with("causes", before.causes);
  const auto [faster, verdict] = verdict_of(run);
  const bool equal = verdict.standing == estimate::Standing::equal;
  const bool undecided = verdict.standing == estimate::Standing::undecided;
  Statement statement = with_times(equal ? "compared-equal" : undecided ? "compared-undecided" : "compared-apart");
  statement.with("faster", faster).with("causes", faster ? before.causes : after.causes);
  statement.with("factor", verdict.ratio.value);
  statement.with("factor_low", verdict.ratio.low.value_or(kNone));
  statement.with("factor_high", verdict.ratio.high.value_or(kNone));
  if (equal) statement.with("margin", estimate::kMargin);
  if (undecided) statement.with("would_tell", std::string(to_string(verdict.would_tell)));
  return statement;
}

namespace {

Compared::Side side_of(const RunResult& run, const Result& result, Metric metric) {
  Compared::Side side{.algorithm = run.spec.algorithm,
                      .event_driven = run.spec.event_driven,
                      .causes = run.event_driven ? time_in_words(run) : causes_in_words(run),
                      .best_accuracy = run.best_accuracy};
  side.seconds = time_of(run, metric);
  side.step_seconds = run.step_seconds;
  side.work = work_of(FigureValues({run, result}));
  side.contender = contender_of(run, result, metric);
  if (side.seconds) side.contender.seconds = *side.seconds;
  return side;
}

/// Returns whether both sides learned the same. The uncertainties from seeds, evaluations and relative steps are then
/// common and cancel.
bool learned_the_same(const RunResult& before, const RunResult& after) {
  const auto same = [](double one, double other) { return one == other || (std::isnan(one) && std::isnan(other)); };
  return before.spec.algorithm == after.spec.algorithm &&
         std::ranges::equal(before.curve, after.curve, [&](const CurvePoint& one, const CurvePoint& other) {
           return one.step == other.step && same(one.loss, other.loss) && same(one.accuracy, other.accuracy);
         });
}

}  // namespace

std::vector<Compared> compared_runs(const Comparison& comparison, const Answer& before, const Answer& after) {
  const Metric metric = metric_of_both(before, after);
  const spec::AskedMetric asked = comparison.after.asked_metric == spec::AskedMetric::automatic
                                      ? comparison.before.asked_metric
                                      : comparison.after.asked_metric;
  std::vector<Compared> compared;
  for (const RunResult& run : comparison.before.runs) {
    const auto other =
        std::ranges::find(comparison.after.runs, run.spec.label, [](const RunResult& one) { return one.spec.label; });
    if (other == comparison.after.runs.end()) continue;
    const auto name_of = [](const Answer& answer, const Result& side) {
      return answer.of.empty() ? side.timed_as : answer.of;
    };
    const std::string of = before.of == after.of
                               ? before.of
                               : name_of(before, comparison.before) + " or " + name_of(after, comparison.after);
    Compared& one =
        compared.emplace_back(Compared{run.spec.label, metric, of, side_of(run, comparison.before, metric),
                                       side_of(*other, comparison.after, metric), comparison.before.currency});
    compare_by_work(one, asked);
    if (!learned_the_same(run, *other)) continue;
    for (Compared::Side* side : {&one.before, &one.after}) {
      side->contender.exact = true;
      side->contender.relative.reset();
    }
  }
  return compared;
}

namespace {

/// Returns the verdict that compares the slower side with the quicker one, or the dearer with the cheaper by a metric
/// of work; null if a side has neither time nor price.
DocumentValue verdict_on(const Compared& run) {
  if (!run.before.seconds || !run.after.seconds) return {};
  const auto [faster, verdict] = verdict_of(run);
  return object_with("quicker", faster ? "after" : "before", "standing", to_string(verdict.standing), "value",
                     verdict.ratio.value, "low", verdict.ratio.low, "high", verdict.ratio.high);
}

/// Returns all figures of the run, with its time by the common metric.
DocumentTable side_of(const Compared& run, const Compared::Side& side, const Result& result) {
  const auto found = std::ranges::find(result.runs, run.run, [](const RunResult& one) { return one.spec.label; });
  DocumentTable table{.object = true};
  TableRow row = table.add_row();
  add_figures(row, *found, result);
  row.add("seconds", or_null(!is_of_work(run.metric), side.seconds));
  return table;
}

/// Returns statements about both sides as a whole, not about single runs.
std::vector<Statement> statements_on(const Comparison& comparison, const Answer& before, const Answer& after,
                                     const std::vector<Compared>& runs) {
  std::vector<Statement> statements;
  if (std::optional<Statement> quickest = quickest_of(comparison, before, after);
      quickest && comparison.before.runs.size() > 1)
    statements.push_back(*std::move(quickest));
  for (const auto& [from, to, side] : {std::tuple{&comparison.before, &comparison.after, "first"},
                                       std::tuple{&comparison.after, &comparison.before, "second"}}) {
    for (const RunResult& run : from->runs) {
      const bool both =
          std::ranges::any_of(to->runs, [&](const RunResult& one) { return one.spec.label == run.spec.label; });
      if (!both) statements.push_back(Statement{"run-of-one-side", {run.spec.label}}.with("side", std::string(side)));
    }
  }
  for (Statement& one : statements_on_work(comparison, runs)) statements.push_back(std::move(one));
  return statements;
}

DocumentTable object_of(const Result& result, const Answer& answer) {
  return object_with("name", result.scenario_name, "hash", fmt::format("{:016x}", result.hash), "answer",
                     object_of(answer, result));
}

}  // namespace

Document document_of(const Comparison& comparison) {
  const Answer before = answer_to(comparison.before);
  const Answer after = answer_to(comparison.after);
  const std::vector<Compared> compared = compared_runs(comparison, before, after);
  Document document{ReportHead{.version = comparison.before.version, .simgrid = comparison.before.simgrid}, {}};
  document.add("before", object_of(comparison.before, before), "after", object_of(comparison.after, after));
  DocumentTable differences, runs;
  std::string text = comparison.differences.empty() ? "The two scenarios are equal.\n" : "What differs:\n";
  for (const Difference& one : comparison.differences) {
    differences.add_row().add("path", one.path, "before", one.before, "after", one.after);
    text += paragraph(fmt::format("  {}: {} → {}", one.path, cut(one.before), cut(one.after)), 4);
  }
  document.add("differences", differences);
  document.print(text + '\n' + paragraph("Before: " + as_paragraph(before.statements)) +
                 paragraph("After: " + as_paragraph(after.statements)));
  for (const Compared& run : compared) {
    const Statement statement = statement_on(run, comparison.name);
    document.lead.push_back(in_words(statement));
    const bool both = run.before.seconds && run.after.seconds;
    runs.add_row().add("label", run.run, "metric", to_string(run.metric), "of", run.of, "factor",
                       both ? DocumentValue(*run.before.seconds / *run.after.seconds) : DocumentValue(), "verdict",
                       verdict_on(run), "before", side_of(run, run.before, comparison.before), "after",
                       side_of(run, run.after, comparison.after), "statement", statement);
  }
  const std::vector<Statement> statements = statements_on(comparison, before, after, compared);
  for (std::string& sentence : in_words(statements)) document.lead.push_back(std::move(sentence));
  document.add("statements", statements, "runs", runs);
  return document;
}

}  // namespace dadsim::report
