#include "study/sweep/sweep_page.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <string_view>

#include "report/run/work.hpp"
#include "report/text/path_name.hpp"
#include "report/words/statement_text.hpp"
#include "sim/platform.hpp"
#include "scenario/language/quantity.hpp"
#include "study/sweep/read_results.hpp"
#include "study/sweep/sweep_answer.hpp"

namespace dadsim::study {
namespace {

using Axis = report::SweepReport::Axis;
using Value = report::SweepReport::Value;

std::string joined(const std::vector<std::string>& texts) {
  std::string text = texts.front();
  if (std::ranges::all_of(texts, [&](const std::string& one) { return one == texts.front(); })) return text;
  for (std::size_t i = 1; i < texts.size(); ++i) text += " / " + texts[i];
  return text;
}

/// What stands behind a number, and the number.
std::optional<std::pair<double, std::string>> number_and_rest(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  return std::pair{number, std::string(stop, end)};
}

/// Numbers of all texts, or nothing if one has none.
template <class Parse>
std::optional<std::vector<double>> all_of(const std::vector<std::string>& texts, const Parse& parse) {
  std::vector<double> numbers;
  for (const std::string& text : texts) {
    const std::optional<double> number = parse(text);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

/// Reads the texts as numbers with a common unit, if they are that.
std::optional<std::vector<double>> numbers_of(const std::vector<std::string>& texts, std::string& unit) {
  auto plain = all_of(texts, [](const std::string& text) -> std::optional<double> {
    const auto parts = number_and_rest(text);
    return parts && parts->second.empty() ? std::optional(parts->first) : std::nullopt;
  });
  if (plain) return plain;
  const auto in = [&](scenario::Unit kind) {
    return all_of(texts, [kind](const std::string& text) { return scenario::parse_quantity(kind, text); });
  };
  if (auto rates = in(scenario::Unit::bytes_per_second)) {
    for (double& rate : *rates) rate *= 8;
    unit = "bit/s";
    return rates;
  }
  for (const auto& [name, kind] : {std::pair{"s", scenario::Unit::seconds}, std::pair{"B", scenario::Unit::bytes}}) {
    if (auto numbers = in(kind)) {
      unit = name;
      return numbers;
    }
  }
  const auto first = number_and_rest(texts.front());
  if (!first) return std::nullopt;
  unit = first->second;
  return all_of(texts, [&](const std::string& text) -> std::optional<double> {
    const auto parts = number_and_rest(text);
    return parts && parts->second == first->second ? std::optional(parts->first) : std::nullopt;
  });
}

/// The axes with their values in order; fills in where the points are.
std::vector<Axis> axes_of(const SweepResults& results, std::vector<report::SweepReport::Point>& points) {
  std::map<std::int64_t, std::vector<std::size_t>> columns;
  for (std::size_t i = 0; i < results.columns.size(); ++i) columns[results.columns[i].axis].push_back(i);
  std::vector<Axis> axes;
  for (const auto& [number, of_axis] : columns) {
    Axis axis;
    axis.path = results.columns[of_axis.front()].path;
    for (std::size_t i = 1; i < of_axis.size(); ++i) axis.linked.push_back(results.columns[of_axis[i]].path);
    std::map<std::vector<std::string>, std::size_t> index;
    std::vector<std::vector<std::string>> distinct;
    std::vector<std::size_t> at;
    for (const SweepResults::Point& point : results.points) {
      std::vector<std::string> texts;
      for (const std::size_t column : of_axis) texts.push_back(point.values[column]);
      const auto [place, added] = index.try_emplace(texts, distinct.size());
      if (added) distinct.push_back(std::move(texts));
      at.push_back(place->second);
    }
    std::vector<std::string> firsts;
    firsts.reserve(distinct.size());
    for (const auto& texts : distinct) firsts.push_back(texts.front());
    std::optional<std::vector<double>> numbers;
    if (!firsts.empty()) numbers = numbers_of(firsts, axis.unit);
    if (!numbers) axis.unit.clear();
    std::vector<std::size_t> order(distinct.size());
    std::iota(order.begin(), order.end(), 0U);
    if (numbers) std::ranges::stable_sort(order, {}, [&](std::size_t i) { return (*numbers)[i]; });
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      axis.values.push_back({joined(distinct[order[i]]), numbers ? std::optional((*numbers)[order[i]]) : std::nullopt});
    }
    for (std::size_t i = 0; i < points.size(); ++i) points[i].at.push_back(place[at[i]]);
    axes.push_back(std::move(axis));
  }
  std::vector<std::string> paths;
  for (const Axis& axis : axes) paths.push_back(axis.path);
  const std::vector<std::string> names = report::paths_in_words(paths);
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i].name = names[i];
  return axes;
}

/// Labels of all runs: those that win most points first, then in the order of the ranks, then those that take no part.
std::vector<report::SweepReport::Run> runs_of(const SweepResults& results, const std::vector<PointOutcome>& all) {
  std::map<std::string, std::int64_t> won;
  std::vector<report::SweepReport::Run> runs;
  const auto add = [&](const std::string& label) {
    if (won.emplace(label, 0).second) runs.push_back({label, "", true});
  };
  for (const PointOutcome& outcome : all) {
    for (const TimeToTarget& run : outcome.ranked) add(run.label);
    if (outcome.won()) ++won[outcome.ranked.front().label];
  }
  std::ranges::stable_sort(runs, std::greater<>(), [&](const report::SweepReport::Run& run) { return won[run.label]; });
  for (const SweepRun& run : results.runs) add(run.label());
  std::map<std::string, const SweepRun*> first;
  for (const SweepRun& run : results.runs) first.try_emplace(run.label(), &run);
  for (report::SweepReport::Run& run : runs) {
    const report::FigureValues& figures = first.at(run.label)->figures;
    run.algorithm = figures.text("algorithm");
    run.communicates = figures.is("communicates");
  }
  return runs;
}

}  // namespace

report::SweepReport sweep_report_of(const SweepResults& results, const std::vector<PointOutcome>& all) {
  const SweepIdentity& identity = results.identity;
  report::SweepReport report;
  report.version = identity.version;
  report.scenario_name = identity.scenario_name;
  report.scenario_file = identity.scenario_file;
  report.hash = identity.hash;
  report.target_accuracy = identity.target_accuracy;
  report.points_of_sweep = identity.points;
  report.seeds = identity.seeds;
  report.shard = identity.shard;
  report.shards = identity.shards;
  report.currency = identity.currency;
  report.sampling_error = worst_sampling_error(results);
  report.metric = metric_of(all);
  report.best = best_statement(results, all);
  report.of_two = two_points(results, all);
  report.rate_unit = report::rate_unit(report.metric, counts_tokens(results), identity.currency);
  report.at_scale = report.metric == report::Metric::time_at_scale;
  for (const SweepRun& run : results.runs) {
    if (report.of.empty()) report.of = run.figures.text("workload");
  }
  report.build = identity.build;
  report.scenario = identity.scenario;
  for (const auto& [what, text] : results.settings) {
    if (what == "assumption") {
      report.assumptions.push_back(report::statement_of(text));
    } else if (what == "learned_on") {
      report.learned_on.push_back(text);
    } else if (what == "timed_as") {
      report.timed_as.push_back(text);
    }
  }
  report.runs = runs_of(results, all);
  std::map<std::string, std::size_t> run_index;
  for (std::size_t i = 0; i < report.runs.size(); ++i) run_index[report.runs[i].label] = i;
  std::map<std::int64_t, std::size_t> point_index;
  for (const PointOutcome& outcome : all) {
    const std::int64_t id = results.points[outcome.point].id;
    point_index[id] = report.points.size();
    report::SweepReport::Point point{id, {}, {}};
    for (const TimeToTarget& time : outcome.ranked)
      point.ranked.push_back({run_index.at(time.label), time.seconds, time.verdict});
    report.points.push_back(std::move(point));
  }
  report.axes = axes_of(results, report.points);
  for (const SweepRun& run : results.runs) {
    report::SweepReport::Row row{
        .point = point_index.at(run.trial.point), .seed = run.trial.seed, .run = run_index.at(run.label())};
    for (const std::size_t figure : report::page_figures()) row.values.push_back(run.figures.number(figure));
    report.rows.push_back(std::move(row));
  }
  for (const FailedTrial& failed : results.failed)
    report.failures.push_back({failed.trial.point, failed.trial.seed, failed.message, failed.is_infeasible()});
  return report;
}

}  // namespace dadsim::study
