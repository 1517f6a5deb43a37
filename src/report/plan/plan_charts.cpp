#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "report/plan/plan_report.hpp"
#include "report/text/path_name.hpp"
#include "report/words/phrases.hpp"

namespace dadsim::report {
namespace {

/// A quantity of a trial that a goal can limit.
struct PlanQuantity {
  ChartAxis axis;
  std::function<std::optional<double>(const Trial&)> of;
  std::optional<double> limit = {};
  bool follows_time = false;  ///< true: the band of the time also applies to this quantity
  bool at_least = false;      ///< true: the limit is a minimum
};

/// Returns the quantities that at least one trial has, time and money first.
std::vector<PlanQuantity> quantities_of(const PlanReport& report) {
  const spec::GoalSpec& goal = report.goal;
  const std::string until = report.timing_only ? "" : " to the target";
  std::vector<PlanQuantity> all{
      {{"time" + until, Unit::seconds}, &Trial::seconds, goal.seconds, true},
      {{"money" + until, Unit::plain, report.currency},
       [](const Trial& one) { return one.costs.money; },
       goal.money,
       true},
      {{"energy" + until, Unit::plain, "J"}, [](const Trial& one) { return one.costs.joules; }, goal.joules, true},
      {{"CO2 equivalent" + until, Unit::plain, "g"},
       [](const Trial& one) { return one.costs.carbon; },
       goal.carbon,
       true},
      {{"samples or tokens per second", Unit::rate}, &Trial::throughput, goal.throughput, false, true},
      {{"memory of a device", Unit::bytes}, &Trial::memory, goal.memory},
      {{"power of all devices", Unit::plain, "W"}, &Trial::watts, goal.watts}};
  std::erase_if(all, [&](const PlanQuantity& quantity) {
    return std::ranges::none_of(report.answers, [&](const GoalAnswer& answer) {
      return answer.trial.reached && std::isfinite(quantity.of(answer.trial).value_or(std::nan("")));
    });
  });
  return all;
}

std::optional<ChartPoint> point_of(const PlanQuantity& x, const PlanQuantity& y, const Trial& trial) {
  const double across = x.of(trial).value_or(std::nan(""));
  const double up = y.of(trial).value_or(std::nan(""));
  if (!trial.reached || !std::isfinite(across) || !std::isfinite(up)) return std::nullopt;
  ChartPoint point{.x = across, .y = up};
  if (y.follows_time && trial.band && std::isfinite(trial.band->high))
    point.low = up * trial.band->low, point.high = up * trial.band->high;
  return point;
}

void add_limit(Chart& chart, const PlanQuantity& quantity, bool of_x) {
  if (!quantity.limit) return;
  const std::string amount = quantity.axis.unit == Unit::plain
                                 ? fmt::format("{:.4g} {}", *quantity.limit, quantity.axis.suffix)
                                 : in_words(*quantity.limit, quantity.axis.unit);
  chart.limits.push_back({*quantity.limit, (quantity.at_least ? "at least " : "at most ") + amount, of_x});
}

/// Returns a chart of the first two known quantities, such as time and money: a mark per run and choice, a series per
/// standing.
std::optional<Chart> choices_of(const PlanReport& report, const std::vector<PlanQuantity>& quantities) {
  if (quantities.size() < 2) return std::nullopt;
  const PlanQuantity& x = quantities[0];
  const PlanQuantity& y = quantities[1];
  Chart chart{.name = "choices",
              .title = fmt::format("Every run and choice: {} against {}", x.axis.title, y.axis.title),
              .x = x.axis,
              .y = y.axis,
              .above =
                  "Each mark is a run with a choice; series show how surely a choice meets the goal. Strokes are "
                  "bands, dashed lines are limits."};
  std::size_t points = 0;
  for (const auto& [standing, name] : names_of(GoalStanding())) {
    ChartSeries series{.label = std::string(name), .marks_only = true};
    for (const GoalAnswer& answer : report.answers) {
      std::optional<ChartPoint> point = point_of(x, y, answer.trial);
      if (!point || standing_of(report.goal, answer.trial) != standing) continue;
      point->words = answer.run;
      std::vector<std::string> set = assignments_of(answer);
      if (!set.empty()) point->words += ", " + words::assignments_in_words(set);
      series.points.push_back(*std::move(point));
    }
    points += series.points.size();
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  if (points < 2) return std::nullopt;
  add_limit(chart, x, true);
  add_limit(chart, y, false);
  chart.choose_scales();
  return chart;
}

/// Returns charts of a quantity over the range's numbers: a chart per choice of the other values, a line per run, and
/// answers as marks.
std::vector<Chart> curves_of(const PlanReport& report, const PlanQuantity& y) {
  const std::int64_t seeds = report.answers.front().trial.seeds;
  const std::string above =
      "Each marked number was timed in full; lines between marks only guide the eye. The last entry of the legend is "
      "the answer. " +
      (seeds > 1 ? fmt::format("Means over {} seeds; bands combine seeds, evaluations and the errors of times.", seeds)
                 : "Bands combine the errors of times and the assumed scatter of a single seed.");
  std::vector<Chart> charts;
  for (const GoalAnswer& answer : report.answers) {
    if (answer.tried.size() < 2 || !answer.answer) continue;
    std::vector<std::string> set;
    for (const Change& change : answer.choices) set.push_back(change.assignment());
    const std::string with = set.empty() ? "" : ", with " + words::assignments_in_words(set);
    const std::string name = path_in_words(answer.answer->path);
    auto chart = std::ranges::find(charts, "curve-" + y.axis.title + with, &Chart::name);
    if (chart == charts.end()) {
      const std::string& value = answer.tried.front().value;
      const std::size_t unit = std::min(value.find_first_not_of("+-.0123456789"), value.size());
      charts.push_back({.name = "curve-" + y.axis.title + with,
                        .title = fmt::format("Every number that was tried: {} along {}{}", y.axis.title, name, with),
                        .x = {.title = name, .suffix = value.substr(unit), .from_least = true},
                        .y = y.axis,
                        .above = above,
                        .choice = "Figure"});
      chart = std::prev(charts.end());
    }
    ChartSeries line{.label = answer.run}, enough{.label = "enough: " + answer.run, .marks_only = true};
    for (const Tried& tried : answer.tried) {
      const PlanQuantity number{{}, [&](const Trial&) { return std::optional(tried.number); }};
      std::optional<ChartPoint> point = point_of(number, y, tried.trial);
      if (!point) continue;
      point->words = tried.value + ", goal: " + to_string(standing_of(report.goal, tried.trial));
      line.points.push_back(*point);
      if (answer.met && tried.value == answer.answer->value)
        enough.points = {{.x = point->x, .y = point->y, .words = tried.value + " is enough"}};
    }
    for (ChartSeries* series : {&line, &enough})
      if (!series->points.empty()) chart->series.push_back(std::move(*series));
  }
  std::erase_if(charts, [](const Chart& chart) { return chart.series.empty(); });
  for (Chart& chart : charts) {
    add_limit(chart, y, false);
    chart.choose_scales();
  }
  return charts;
}

}  // namespace

std::vector<Chart> charts_of(const PlanReport& report) {
  const std::vector<PlanQuantity> quantities = quantities_of(report);
  std::vector<Chart> charts;
  std::vector<PlanQuantity> ordered = quantities;
  std::ranges::stable_partition(ordered, [](const PlanQuantity& one) { return one.limit.has_value(); });
  for (const PlanQuantity& quantity : ordered)
    std::ranges::move(curves_of(report, quantity), std::back_inserter(charts));
  if (std::optional<Chart> choices = choices_of(report, quantities)) charts.push_back(*std::move(choices));
  return charts;
}

}  // namespace dadsim::report
