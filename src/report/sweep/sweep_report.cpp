#include "report/sweep/sweep_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "report/run/figures.hpp"

namespace dadsim::report {
namespace {

/// Points on one side of a value of an axis, or with it: how many there are, and how many of them a run wins.
struct Region {
  enum class Side { at_most, at_least, equal };
  std::size_t axis = 0, value = 0;
  Side side = Side::equal;
  std::size_t points = 0, won = 0;

  Statement statement(const SweepReport& report, const std::string& run) const {
    const SweepReport::Axis& of = report.axes[axis];
    const SweepReport::Value& at = of.values.at(value);
    Statement region{"region-won", {run, of.name}};
    region.with("side", std::string(side == Side::equal ? "equal" : side == Side::at_most ? "at-most" : "at-least"));
    region.with("value", at.text);
    if (at.number) region.with("number", *at.number).with("unit", of.unit);
    return region.with("points", static_cast<double>(points)).with("won", static_cast<double>(won));
  }
};

/// In the order of the values; counted in one pass over the points, of which there may be as many as values.
std::vector<Region> regions_of(const SweepReport& report, std::size_t axis, std::size_t run) {
  const SweepReport::Axis& of = report.axes[axis];
  const std::size_t values = of.values.size();
  std::vector<std::size_t> points(values, 0);
  std::vector<std::size_t> won(values, 0);
  std::size_t all_won = 0;
  for (const SweepReport::Point& point : report.points) {
    ++points[point.at[axis]];
    if (!point.won() || point.ranked.front().run != run) continue;
    ++won[point.at[axis]];
    ++all_won;
  }
  std::vector<Region> regions;
  const bool numeric = of.numeric();
  std::size_t points_to = 0;  // with this value or one before it
  std::size_t won_to = 0;
  for (std::size_t value = 0; value < values; ++value) {
    if (!numeric) {
      regions.push_back({axis, value, Region::Side::equal, points[value], won[value]});
      continue;
    }
    const std::size_t points_from = report.points.size() - points_to;
    const std::size_t won_from = all_won - won_to;
    points_to += points[value];
    won_to += won[value];
    if (value + 1 < values) regions.push_back({axis, value, Region::Side::at_most, points_to, won_to});
    if (value > 0) regions.push_back({axis, value, Region::Side::at_least, points_from, won_from});
  }
  return regions;
}

/// Where most of the points are that a run wins, among which it wins most: the region with the best harmonic mean of
/// both shares, if both are above a half and the region tells it from the rest. None for a run that wins everywhere.
std::optional<Statement> where_most(const SweepReport& report, std::size_t run, std::size_t wins) {
  if (wins == report.points.size()) return std::nullopt;  // everywhere
  double best = 0;
  std::optional<Region> where;
  for (std::size_t axis = 0; axis < report.axes.size(); ++axis) {
    for (const Region& region : regions_of(report, axis, run)) {
      const std::size_t there = region.points;
      const std::size_t won = region.won;
      if (there == 0 || there == report.points.size() || 2 * won <= there || 2 * won <= wins) continue;
      const double harmonic = 2.0 * static_cast<double>(won) / static_cast<double>(there + wins);
      if (harmonic <= best) continue;
      best = harmonic;
      where = region;
    }
  }
  return where ? std::optional(where->statement(report, report.runs[run].label)) : std::nullopt;
}

}  // namespace

std::span<const std::size_t> page_figures() {
  static const auto kShown = [] {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < figures().size(); ++i) {
      if (figures()[i].on_page()) shown.push_back(i);
    }
    return shown;
  }();
  return kShown;
}

std::size_t page_figure(std::string_view name) {
  const auto place = std::ranges::find(page_figures(), figure_index(name));
  if (place == page_figures().end()) throw std::logic_error(fmt::format("pages do not show the figure {}", name));
  return static_cast<std::size_t>(place - page_figures().begin());
}

bool SweepReport::Point::is_open() const {
  return reached() && ranked.size() > 1 && ranked[1].seconds && is_beside(ranked[1].verdict.standing);
}

bool SweepReport::Axis::numeric() const {
  return std::ranges::all_of(values, [](const Value& value) { return value.number.has_value(); });
}

bool SweepReport::grid() const {
  std::int64_t places = 1;
  for (const Axis& axis : axes) places *= std::max<std::int64_t>(1, static_cast<std::int64_t>(axis.values.size()));
  if (places != points_of_sweep) return false;
  std::set<std::vector<std::size_t>> taken;
  return std::ranges::all_of(points, [&](const Point& point) { return taken.insert(point.at).second; });
}

namespace {

/// Points with a result, by what they say.
struct PointCount {
  std::vector<std::size_t> wins;  ///< per run
  std::vector<bool> competes;     ///< per run
  std::size_t decided = 0, missed = 0, open = 0;
};

PointCount count_points(const SweepReport& report) {
  PointCount count{std::vector<std::size_t>(report.runs.size(), 0), std::vector<bool>(report.runs.size(), false)};
  for (const SweepReport::Point& point : report.points) {
    for (const SweepReport::Time& time : point.ranked) count.competes[time.run] = true;
    if (point.ranked.empty()) continue;
    ++count.decided;
    if (point.won()) {
      ++count.wins[point.ranked.front().run];
    } else {
      ++(point.is_open() ? count.open : count.missed);
    }
  }
  return count;
}

Statement of_points(const char* kind, std::size_t points) {
  return Statement{kind}.with("points", static_cast<double>(points));
}

Statement all_missed(const SweepReport& report, std::size_t points) {
  Statement statement = of_points("points-all-missed", points);
  if (report.metric == Metric::time_per_step) return statement.with("by", std::string("step"));
  if (report.metric == Metric::time_per_round) return statement.with("by", std::string("round"));
  double best = 0;
  for (const SweepReport::Row& one : report.rows) best = std::max(best, one["best_accuracy"]);
  if (best > 0) statement.with("best_accuracy", best);
  return statement;
}

Statement all_won(const SweepReport& report, const PointCount& count) {
  Statement statement = of_points("points-won", count.decided);
  statement.with("metric", std::string(to_string(report.metric))).with("of", report.of);
  std::vector<double> won;
  std::vector<std::string> nowhere;
  for (std::size_t run = 0; run < report.runs.size(); ++run) {
    if (!count.competes[run]) continue;
    const std::string& label = report.runs[run].label;
    if (count.wins[run] == 0) {
      nowhere.push_back(label);
      continue;
    }
    statement.subjects.push_back(label);
    won.push_back(static_cast<double>(count.wins[run]));
    if (std::optional<Statement> where = where_most(report, run, count.wins[run])) statement.with(*std::move(where));
  }
  statement.with("won", std::move(won));
  if (!nowhere.empty()) statement.with("nowhere", std::move(nowhere));
  return statement;
}

}  // namespace

namespace {

std::vector<Statement> answer_by_points(const SweepReport& report) {
  const PointCount count = count_points(report);
  if (count.decided == 0) return {Statement{"no-point-decided"}};
  if (count.missed == count.decided) return {all_missed(report, count.decided)};
  if (count.open + count.missed == count.decided) {
    Statement statement = of_points("points-all-undecided", count.decided);
    if (count.missed > 0) statement.with("missed", static_cast<double>(count.missed));
    return {statement};
  }
  std::vector<Statement> answer{all_won(report, count)};
  if (count.open > 0) answer.push_back(of_points("points-undecided", count.open));
  if (count.missed > 0) answer.push_back(of_points("points-missed", count.missed));
  return answer;
}

}  // namespace

std::vector<Statement> answer_of(const SweepReport& report) {
  if (!report.of_two.empty()) return report.of_two;
  const std::vector<bool> competes = count_points(report).competes;
  if (report.best && std::ranges::count(competes, true) < 2) return {*report.best};
  std::vector<Statement> answer = answer_by_points(report);
  if (report.best) answer.insert(answer.begin(), *report.best);
  return answer;
}

}  // namespace dadsim::report
