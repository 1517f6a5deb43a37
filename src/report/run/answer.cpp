#include "report/run/answer.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "report/run/contender.hpp"
#include "report/run/divergence.hpp"
#include "report/run/figures.hpp"
#include "report/run/table.hpp"
#include "report/run/work.hpp"

namespace dadsim::report {
namespace {

/// Values with their intervals; NaN for unknown ones.
struct Estimates {
  std::vector<double> value, low, high;
  void add(const estimate::Estimate& one) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    value.push_back(one.value);
    low.push_back(one.low.value_or(kNone));
    high.push_back(one.high.value_or(kNone));
  }
  void say(Statement& statement, const std::string& name) const {
    statement.with(name, value).with(name + "_low", low).with(name + "_high", high);
  }
};

/// Returns a statement on the work that runs do per second, per money or per energy, the best run first. *Requires*
/// that the ranking is not empty.
Statement statement_by_work(const Result& result, const Answer& answer) {
  const std::vector<Answer::Place>& ranking = answer.ranking;
  Statement statement{"by-work"};
  statement.with("metric", std::string(to_string(answer.metric))).with("of", answer.of);
  statement.with("currency", result.currency);
  statement.with("tokens", work_of(FigureValues({result.runs[ranking.front().run], result})).counts_tokens());
  Estimates rates, factors;
  std::vector<std::string> standing;
  const auto rate = [&](const std::optional<double>& price) {
    return price ? std::optional(rate_of_work(*price, answer.metric)) : std::nullopt;
  };
  for (const Answer::Place& place : ranking) {
    statement.subjects.push_back(result.runs[place.run].spec.label);
    rates.add({rate_of_work(place.seconds, answer.metric), rate(place.high), rate(place.low)});
    factors.add(&place == &ranking.front() ? estimate::Estimate{1, 1, 1} : place.verdict.ratio);
    standing.emplace_back(to_string(place.verdict.standing));
  }
  rates.say(statement, "rate");
  factors.say(statement, "factor");
  return statement.with("standing", std::move(standing));
}

/// Returns the expected costs on interruptible (spot) machines, for the first run that communicates. Nothing if the
/// scenario gives no interruptions.
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

/// Returns a statement on the runs that need more memory than their devices have, with the largest part of the memory
/// of the run that needs most; nothing if all fit.
std::optional<Statement> statement_on_memory(const Result& result) {
  Statement statement{"memory-exceeded"};
  const RunResult* worst = nullptr;
  for (const RunResult& run : result.runs) {
    if (!run.spec.communicates || !(run.device_memory > 0) || !(run.memory.total() > run.device_memory)) continue;
    statement.subjects.push_back(run.spec.label);
    if (worst == nullptr || run.memory.total() > worst->memory.total()) worst = &run;
  }
  if (worst == nullptr) return std::nullopt;
  const auto most = std::ranges::max(worst->memory.breakdown(), {}, &std::pair<std::string, double>::second);
  return statement.with("bytes", worst->memory.total())
      .with("device_bytes", worst->device_memory)
      .with("most", most.first)
      .with("most_bytes", most.second);
}

using Place = Answer::Place;
using estimate::Standing;

const std::string& label_of(const Result& result, const Place& place) { return result.runs[place.run].spec.label; }

bool is_of_other_network(const Result& result) { return result.scale && !result.scale->workload.empty(); }

/// Returns the place of a run in the ranking by the metric; nothing if the run has no time by this metric. `contender`:
/// the run's time with uncertainty.
std::optional<Place> place_of(const Result& result, std::size_t i, Metric metric,
                              const estimate::Contender& contender) {
  const RunResult& run = result.runs[i];
  Place place;
  place.run = i;
  if (metric == Metric::time_at_scale) {
    if (!run.at_scale || !run.at_scale->time) return std::nullopt;
    const estimate::Estimate& time = run.at_scale->time_band ? *run.at_scale->time_band : *run.at_scale->time;
    place.seconds = contender.seconds;
    place.low = time.low;
    place.high = time.high;
    return place;
  }
  if (metric != Metric::time_to_target && (run.spec.event_driven || !(run.step_seconds > 0))) return std::nullopt;
  if (contender.arrivals.empty() && metric == Metric::time_to_target && !run.target_reached) return std::nullopt;
  const std::optional<estimate::Estimate> time = time_of(contender, metric);
  if (!time) return std::nullopt;
  place.seconds = time->value;
  place.low = time->low;
  place.high = time->high;
  if (metric == Metric::time_to_target) place.seeds = std::max<std::size_t>(1, contender.arrivals.size());
  return place;
}

/// Keeps only runs with known relative steps, if there are any: a quicker step is no advantage if the number of steps
/// is unknown.
void keep_those_with_counted_steps(const Result& result, std::vector<Place>& ranking) {
  const auto is_counted = [&](const Place& place) {
    const std::optional<ScaleResult>& scale = result.runs[place.run].at_scale;
    return scale && scale->relative.ratio;
  };
  if (std::ranges::any_of(ranking, is_counted))
    std::erase_if(ranking, [&](const Place& place) { return !is_counted(place); });
}

/// Fills in the ranking of an answer by a metric, with verdicts against the first run and on pairs.
void rank_by(const Result& result, Metric metric, Answer& answer) {
  std::vector<estimate::Contender> contenders;
  for (const RunResult& run : result.runs) contenders.push_back(contender_of(run, result, metric));
  if (metric == Metric::time_to_target) answer.rounding_steps = estimate::align_exact(contenders);
  std::vector<Place>& ranking = answer.ranking;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    if (!result.runs[i].spec.communicates) continue;
    if (const std::optional<Place> place = place_of(result, i, metric, contenders[i])) ranking.push_back(*place);
  }
  if (metric == Metric::time_per_step || is_of_work(metric)) keep_those_with_counted_steps(result, ranking);
  std::ranges::stable_sort(ranking, {}, &Place::seconds);
  for (std::size_t i = 1; i < ranking.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const estimate::Verdict verdict = decide(contenders[ranking[j].run], contenders[ranking[i].run]);
      if (j == 0) ranking[i].verdict = verdict;
      if (metric == Metric::time_to_target) answer.pairs.push_back({ranking[i].run, ranking[j].run, verdict.ratio});
    }
  }
}

/// Returns a statement by a metric, with the name of the workload or network.
Statement by_metric(const char* kind, const Result& result, Metric metric) {
  Statement statement{kind};
  statement.with("metric", std::string(to_string(metric)));
  if (metric == Metric::time_to_target) return statement.with("target_accuracy", result.target_accuracy);
  statement.with("of", is_of_other_network(result) ? result.scale->workload : result.learned_on);
  if (metric != Metric::time_at_scale) return statement;
  const estimate::KnownSteps& known = *result.scale->known;
  if (!known.target.empty()) statement.with("target", known.target);
  for (const char* budget : {"tokens", "samples"}) {
    if (known.source.kind == "budget-as-said" && known.source.has(budget))
      statement.with(std::string("budget_") + budget, known.source.number(budget));
  }
  return statement;
}

void say_times(const Result& result, const std::vector<Place>& places, Statement& statement) {
  Estimates seconds;
  for (const Place& place : places) {
    statement.subjects.push_back(label_of(result, place));
    seconds.add({place.seconds, place.low, place.high});
  }
  seconds.say(statement, "seconds");
}

/// Adds the factors by which other runs take longer than the first of a ranking.
void say_factors(const std::vector<Place>& others, Statement& statement) {
  Estimates factors;
  for (const Place& place : others) factors.add(place.verdict.ratio);
  factors.say(statement, "factor");
}

bool is_apart(const Place& place) { return !is_beside(place.verdict.standing); }

/// Returns a statement on the runs that cannot be distinguished from the quickest, and on the next run after them;
/// nothing if the quickest is distinguished from all.
std::optional<Statement> undecided(const Result& result, Metric metric, const std::vector<Place>& ranking) {
  const auto end = std::find_if(ranking.begin() + 1, ranking.end(), is_apart);
  const std::vector<Place> group(ranking.begin(), end);
  if (group.size() == 1) return std::nullopt;
  std::vector<Place> open;
  std::ranges::copy_if(group, std::back_inserter(open),
                       [](const Place& place) { return place.verdict.standing == Standing::undecided; });
  Statement statement = by_metric(open.empty() ? "equal" : "undecided", result, metric);
  say_times(result, group, statement);
  if (open.empty()) {
    statement.with("margin", estimate::kMargin);
  } else {
    say_factors(open, statement);
    const auto would_tell = [](const Place& place) { return place.verdict.would_tell; };
    const auto first = std::ranges::find_if(
        open, [](estimate::WouldTell what) { return what != estimate::WouldTell::nothing; }, would_tell);
    statement.with("would_tell", std::string(to_string(first == open.end() ? estimate::WouldTell::nothing
                                                                           : first->verdict.would_tell)));
  }
  if (end != ranking.end()) {
    const estimate::Estimate& ratio = end->verdict.ratio;
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    statement.with("next", label_of(result, *end)).with("next_seconds", end->seconds);
    statement.with("next_factor",
                   std::vector<double>{ratio.value, ratio.low.value_or(kNone), ratio.high.value_or(kNone)});
  }
  return statement;
}

/// Returns a statement on the first run and its lead. *Requires* that at least one run has a time by this metric.
Statement winner(const Result& result, Metric metric, const std::vector<Place>& ranking) {
  if (std::optional<Statement> open = undecided(result, metric, ranking)) return *open;
  const auto sharing = std::ranges::count_if(result.runs, [](const RunResult& run) { return run.spec.communicates; });
  const bool to_target = metric == Metric::time_to_target;
  Statement statement = by_metric("first", result, metric);
  // Names the lead over the next run, and over gradient sharing if that is another run.
  std::vector<Place> named(ranking.begin(),
                           ranking.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, ranking.size())));
  const auto baseline =
      std::ranges::find_if(ranking, [&](const Place& one) { return result.runs[one.run].is_baseline; });
  if (baseline != ranking.end() && baseline - ranking.begin() > 1) named.push_back(*baseline);
  say_times(result, named, statement);
  say_factors({named.begin() + 1, named.end()}, statement);
  statement.with("seeds", static_cast<double>(ranking[0].seeds));
  if (ranking.size() == 1) {
    statement.with("alone", !to_target || sharing == 1);
    if (to_target) statement.with("rivals", std::string(sharing == 1 ? "none" : "missed"));
    return statement;
  }
  if (baseline == ranking.end() && to_target) {
    const auto missed = std::ranges::find(result.runs, true, &RunResult::is_baseline);
    if (missed != result.runs.end()) statement.with("missed", missed->spec.algorithm);
  }
  std::vector<std::string> open;  // runs with uncertain differences
  for (const Place& place : ranking) {
    if (place.verdict.standing == Standing::undecided) open.push_back(label_of(result, place));
  }
  if (!open.empty()) statement.with("open", std::move(open));
  return statement;
}

/// Returns a statement that no run that communicates has reached the target, or that no run communicates.
Statement none_reached(const Result& result) {
  const RunResult* nearest = nullptr;
  std::size_t sharing = 0;
  std::size_t seeds = 1;
  const auto came_to = [](const RunResult& run) {
    return run.best_accuracies.empty() ? run.best_accuracy : *std::ranges::min_element(run.best_accuracies);
  };
  for (const RunResult& run : result.runs) {
    if (!run.spec.communicates) continue;
    ++sharing;
    seeds = std::max(seeds, run.arrivals.size());
    if (nearest == nullptr || came_to(run) > came_to(*nearest)) nearest = &run;
  }
  if (nearest == nullptr) return {"nothing-shared"};
  return Statement{"missed", {nearest->spec.label}}
      .with("target_accuracy", result.target_accuracy)
      .with("accuracy", came_to(*nearest))
      .with("alone", sharing == 1)
      .with("seeds", static_cast<double>(seeds));
}

/// Returns the statements on the learning network.
std::vector<Statement> by_target(const Result& result) {
  Answer learned;
  rank_by(result, Metric::time_to_target, learned);
  if (learned.ranking.empty()) return {none_reached(result)};
  std::vector<Statement> statements{winner(result, Metric::time_to_target, learned.ranking)};
  if (learned.rounding_steps > 0) statements.push_back(Statement{"rounding"}.with("steps", learned.rounding_steps));
  if (learned.rounding_steps < 0) statements.push_back({"rounding-missed"});
  return statements;
}

/// Adds the runs with a known step time but an unknown number of steps.
void say_unknown_steps(const Result& result, Answer& answer) {
  Statement statement{"steps-unknown"};
  std::vector<double> seconds;
  for (const RunResult& run : result.runs) {
    if (!run.spec.communicates || !run.at_scale || run.at_scale->relative.ratio || !(run.step_seconds > 0)) continue;
    statement.subjects.push_back(run.spec.label);
    seconds.push_back(run.step_seconds);
  }
  if (seconds.empty()) return;
  statement.with("step_seconds", std::move(seconds));
  const std::vector<Place>& ranking = answer.ranking;
  if (answer.metric == Metric::time_at_scale && !ranking.empty() && result.runs[ranking[0].run].is_baseline) {
    statement.with("first", label_of(result, ranking[0]));
    statement.with("first_step_seconds", result.runs[ranking[0].run].step_seconds);
  }
  answer.statements.push_back(std::move(statement));
}

/// Adds the first run by relative steps, if these are known but the workload's own steps are not.
void say_counted(const Result& result, Answer& answer) {
  std::vector<Place> counted;
  for (Place place : answer.ranking) {
    const RunResult& run = result.runs[place.run];
    if (!run.at_scale || !run.at_scale->relative.ratio) return;
    place.seconds *= run.at_scale->relative.ratio->value;
    counted.push_back(place);
  }
  if (counted.size() < 2) return;
  std::ranges::stable_sort(counted, {}, &Place::seconds);
  if (counted[1].seconds <= counted[0].seconds * (1 + estimate::kMargin)) return;
  answer.statements.push_back(
      Statement{"first-with-steps", {label_of(result, counted[0]), label_of(result, counted[1])}}.with(
          "factor", counted[1].seconds / counted[0].seconds));
}

/// Adds the reasons for which runs stopped early.
void say_stopped(const Result& result, Answer& answer) {
  for (const RunResult& run : result.runs) {
    if (!run.event_driven || !run.event_driven->stopped) continue;
    Statement statement = *run.event_driven->stopped;
    statement.subjects = {run.spec.label};
    answer.statements.push_back(std::move(statement));
  }
}

/// Adds the runs whose messages contain unencrypted samples.
void say_handed_over(const Result& result, Answer& answer) {
  Statement statement{"handed-over"};
  std::vector<double> shares;
  for (const RunResult& run : result.runs) {
    const double share = most_leaked(run, &step::LeakFigures::samples_handed_over);
    if (!(share > 0)) continue;
    statement.subjects.push_back(run.spec.label);
    shares.push_back(share);
    if (const double sites = static_cast<double>(run.leak->sampled.size()); sites > 0)
      statement.with("sites", sites).with("of", static_cast<double>(run.workers));
  }
  if (!shares.empty()) answer.statements.push_back(statement.with("samples_handed_over", std::move(shares)));
}

/// Adds the throughput of the run that shares gradients, or else of the first run that communicates.
void say_throughput(const Result& result, Answer& answer) {
  const auto shares = [](const RunResult& run) { return run.spec.communicates && run.throughput; };
  auto run = std::ranges::find_if(result.runs, [&](const RunResult& one) { return shares(one) && one.is_baseline; });
  if (run == result.runs.end()) run = std::ranges::find_if(result.runs, shares);
  if (run == result.runs.end()) return;
  const Throughput& done = *run->throughput;
  Statement statement = Statement{"throughput", {run->spec.label}}.with("samples_per_second", done.samples);
  if (done.tokens) statement.with("tokens_per_second", *done.tokens);
  if (done.model_flops_utilisation) statement.with("model_flops_utilisation", *done.model_flops_utilisation);
  if (done.masked_flops_utilisation) statement.with("masked_flops_utilisation", *done.masked_flops_utilisation);
  if (done.above_peak) statement.with(*done.above_peak);
  if (done.scaling_efficiency && run->workers > 1) {
    statement.with("scaling_efficiency", *done.scaling_efficiency);
    statement.with("workers", static_cast<double>(run->workers));
    if (done.above_linear) statement.with(*done.above_linear);
  }
  answer.statements.push_back(std::move(statement));
}

void answer_by_step(const Result& result, Answer& answer) {
  if (answer.ranking.empty()) {  // all runs are event-driven, or none took a step
    if (result.timing_only) say_rounds(result, answer.statements);
    if (result.timing_only && answer.statements.empty()) answer.statements.push_back({"nothing-learned"});
    return;
  }
  answer.statements.push_back(winner(result, answer.metric, answer.ranking));
  if (result.timing_only) return say_rounds(result, answer.statements);
  answer.statements.push_back({"workload-steps-unknown", {answer.of}});
  say_counted(result, answer);
}

Answer answer_of_runs(const Result& result) {
  Answer answer;
  const bool other = is_of_other_network(result);
  answer.of = other ? result.scale->workload : result.learned_on;
  const bool known = std::ranges::any_of(
      result.runs, [](const RunResult& run) { return run.spec.communicates && run.at_scale && run.at_scale->time; });
  answer.metric = natural_metric(other, known, !result.timing_only);
  if (result.asked_metric != spec::AskedMetric::automatic) {
    std::vector<Work> works;
    for (const RunResult& run : result.runs) works.push_back(work_of(FigureValues({run, result})));
    answer.metric = common_metric(answer.metric, result.asked_metric, works);
  }
  rank_by(result, answer.metric, answer);
  if (is_of_work(answer.metric) && !answer.ranking.empty()) {
    answer.statements.push_back(statement_by_work(result, answer));
    say_unknown_steps(result, answer);
    return answer;
  }
  if (answer.metric == Metric::time_to_target) {
    answer.statements = by_target(result);
    return answer;
  }
  if (answer.metric == Metric::time_at_scale) {
    answer.statements.push_back(winner(result, answer.metric, answer.ranking));
  } else {
    answer_by_step(result, answer);
  }
  say_unknown_steps(result, answer);
  if (result.timing_only) {
    say_throughput(result, answer);
  } else {
    std::vector<Statement> learned = by_target(result);
    learned.front().with("learned_on", result.learned_on).with("timed_as", answer.of);
    answer.statements.insert(answer.statements.end(), learned.begin(), learned.end());
  }
  return answer;
}

}  // namespace

Answer answer_to(const Result& result) {
  Answer answer = answer_of_runs(result);
  if (std::optional<Statement> spot = statement_on_spot(result)) answer.statements.push_back(*std::move(spot));
  if (std::optional<Statement> memory = statement_on_memory(result)) answer.statements.push_back(*std::move(memory));
  say_stopped(result, answer);
  for (Statement& statement : spoilt_accuracies(result)) answer.statements.push_back(std::move(statement));
  say_handed_over(result, answer);
  if (result.rate_as_tcp) answer.statements.push_back(*result.rate_as_tcp);
  return answer;
}

}  // namespace dadsim::report
