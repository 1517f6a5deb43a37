#include "study/sweep/sweep_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "report/explain/comparison.hpp"
#include "report/run/work.hpp"

namespace dadsim::study {

ProtocolLog tally_of(const std::vector<PointOutcome>& all) {
  ProtocolLog log;
  for (const PointOutcome& outcome : all) {
    for (const TimeToTarget& run : outcome.ranked) {
      if (log.won.emplace(run.label, 0).second) log.labels.push_back(run.label);
    }
    if (outcome.won()) ++log.won[outcome.ranked.front().label];
    if (outcome.is_open()) ++log.open;
    if (!outcome.ranked.empty() && !outcome.reached()) ++log.nobody;
  }
  std::ranges::stable_sort(log.labels, [&](const auto& a, const auto& b) { return log.won[a] > log.won[b]; });
  return log;
}

std::vector<std::string> short_paths(const std::vector<SweepColumn>& columns) {
  std::vector<std::string> names;
  for (const SweepColumn& column : columns) {
    std::string_view path = column.path;
    std::size_t from = path.size();
    std::string name(path);
    while (from != std::string_view::npos && from > 0) {
      from = path.rfind('.', from - 1);
      if (from == std::string_view::npos) break;
      const std::string_view tail = path.substr(from + 1);
      const auto ends_so = std::ranges::count_if(columns, [&](const SweepColumn& other) {
        return other.path == tail || (other.path.ends_with(tail) && other.path.size() > tail.size() &&
                                      other.path[other.path.size() - tail.size() - 1] == '.');
      });
      if (ends_so == 1 && tail.find(']') == std::string_view::npos) {
        name = std::string(tail);
        break;
      }
    }
    names.push_back(name);
  }
  return names;
}

bool counts_tokens(const SweepResults& results) {
  return std::ranges::any_of(results.runs,
                             [](const SweepRun& run) { return report::work_of(run.figures).counts_tokens(); });
}

namespace {

/// Returns the changes of a point: "nic=200Gbps, batch=16".
std::vector<std::string> changes_of(const SweepResults& results, std::size_t point) {
  std::vector<std::string> changes;
  for (std::size_t i = 0; i < results.columns.size(); ++i)
    changes.push_back(fmt::format("{}={}", results.columns[i].path, results.points[point].values[i]));
  return changes;
}

}  // namespace

std::optional<report::Statement> best_statement(const SweepResults& results, const std::vector<PointOutcome>& all) {
  const std::optional<BestPoint> best = best_point(all);
  if (!best || all.size() < 2) return std::nullopt;
  // If several runs compete at each point, with the same work at all points, the answer is who wins at each point.
  if (tally_of(all).labels.size() > 1 && !report::is_of_work(metric_of(all))) return std::nullopt;
  // Different networks have no best one.
  const std::string& workload = results.runs.front().figures.text("workload");
  if (std::ranges::any_of(results.runs, [&](const SweepRun& run) { return run.figures.text("workload") != workload; }))
    return std::nullopt;
  const auto infeasible = std::ranges::count_if(results.failed, &FailedTrial::is_infeasible);
  const PointOutcome& outcome = all[best->point];
  const TimeToTarget& first = outcome.ranked.front();
  const bool by_work = report::is_of_work(outcome.metric);
  report::Statement statement{"best-point", {first.label}};
  statement.with("points", static_cast<double>(all.size())).with("changes", changes_of(results, best->point));
  statement.with("point", static_cast<double>(results.points[best->point].id));
  statement.with("metric", std::string(to_string(outcome.metric))).with("currency", results.identity.currency);
  statement.with("tokens", counts_tokens(results));
  statement.with("value", by_work ? report::rate_of_work(first.seconds->value, outcome.metric) : first.seconds->value);
  if (infeasible > 0) statement.with("infeasible", static_cast<double>(infeasible / results.identity.seeds));
  std::vector<double> beside;
  for (const std::size_t point : best->beside) beside.push_back(static_cast<double>(results.points[point].id));
  if (!beside.empty()) statement.with("beside", std::move(beside));
  if (best->next) {
    statement.with("next", static_cast<double>(results.points[*best->next].id));
    statement.with("next_changes", changes_of(results, *best->next)).with("factor", best->factor.value);
  }
  return statement;
}

namespace {

/// Returns one side of a comparison: a run at one of two points.
report::Compared::Side side_of(const SweepRun& run, const PointOutcome& outcome, const std::string& label) {
  report::Compared::Side side{.algorithm = run.figures.text("algorithm"),
                              .event_driven = run.event_driven(),
                              .causes = run.figures.text("causes_in_words"),
                              .best_accuracy = run.figures["best_accuracy"]};
  side.step_seconds = run.figures["step_seconds"];
  side.work = report::work_of(run.figures);
  const auto ranked = std::ranges::find(outcome.ranked, label, &TimeToTarget::label);
  if (ranked == outcome.ranked.end()) return side;
  if (ranked->seconds) side.seconds = ranked->seconds->value;
  side.contender = ranked->contender;
  return side;
}

}  // namespace

std::vector<report::Statement> two_points(const SweepResults& results, const std::vector<PointOutcome>& all) {
  if (results.points.size() != 2 || results.identity.points != 2 || all[0].ranked.empty() || all[1].ranked.empty())
    return {};
  const report::Metric metric = metric_of(all);
  std::string name;
  const std::vector<std::string> paths = short_paths(results.columns);
  for (std::size_t i = 0; i < paths.size(); ++i)
    name += fmt::format("{}{}={}", i == 0 ? "" : ", ", paths[i], results.points[1].values[i]);
  const auto run_of = [&](std::size_t point, const std::string& label) {
    return std::ranges::find_if(results.runs, [&](const SweepRun& run) {
      return run.trial.point == results.points[point].id && run.label() == label;
    });
  };
  std::vector<report::Statement> answer;
  std::set<std::string> told;
  for (const SweepRun& run : results.runs) {
    if (run.trial.point != results.points[0].id || !told.insert(run.label()).second) continue;
    const auto other = run_of(1, run.label());
    const auto ranked = std::ranges::find(all[0].ranked, run.label(), &TimeToTarget::label);
    if (other == results.runs.end() || ranked == all[0].ranked.end()) continue;
    report::Compared compared{.run = run.label(), .metric = metric, .of = run.figures.text("workload")};
    compared.before = side_of(run, all[0], run.label());
    compared.after = side_of(*other, all[1], run.label());
    compared.currency = results.identity.currency;
    answer.push_back(report::statement_on(compared, name));
  }
  return answer;
}

}  // namespace dadsim::study
