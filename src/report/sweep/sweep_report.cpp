#include "report/sweep/sweep_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "estimate/statistics.hpp"
#include "report/run/figures.hpp"
#include "report/run/over_seeds.hpp"

namespace dadsim::report {
namespace {

/// Number of points below, at or above a value of an axis, and how many of them a run wins.
struct WonRegion {
  enum class RegionSide { at_most, at_least, equal };
  std::size_t axis = 0, value = 0;
  RegionSide side = RegionSide::equal;
  std::size_t points = 0, won = 0;

  Statement statement(const SweepReport& report, const std::string& run) const {
    const SweepReport::Axis& of = report.axes[axis];
    const SweepReport::Value& at = of.values.at(value);
    Statement region{"region-won", {run, of.name}};
    region.with("side", std::string(side == RegionSide::equal     ? "equal"
                                    : side == RegionSide::at_most ? "at-most"
                                                                  : "at-least"));
    region.with("value", at.text);
    if (at.number) region.with("number", *at.number).with("unit", of.unit);
    return region.with("points", static_cast<double>(points)).with("won", static_cast<double>(won));
  }
};

/// Returns the regions in the order of the values. Counts in one pass over the points, because there may be as many
/// values as points.
std::vector<WonRegion> regions_of(const SweepReport& report, std::size_t axis, std::size_t run) {
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
  std::vector<WonRegion> regions;
  const bool numeric = of.numeric();
  std::size_t points_to = 0;  // number of points with this value or an earlier one
  std::size_t won_to = 0;
  for (std::size_t value = 0; value < values; ++value) {
    if (!numeric) {
      regions.push_back({axis, value, WonRegion::RegionSide::equal, points[value], won[value]});
      continue;
    }
    const std::size_t points_from = report.points.size() - points_to;
    const std::size_t won_from = all_won - won_to;
    points_to += points[value];
    won_to += won[value];
    if (value + 1 < values) regions.push_back({axis, value, WonRegion::RegionSide::at_most, points_to, won_to});
    if (value > 0) regions.push_back({axis, value, WonRegion::RegionSide::at_least, points_from, won_from});
  }
  return regions;
}

/// Returns the region that contains more than half of a run's wins, and in which the run wins more than half of the
/// points. The region must not contain all points; the best harmonic mean of both shares decides. Nothing if there is
/// no such region, or if the run wins everywhere.
std::optional<Statement> where_most(const SweepReport& report, std::size_t run, std::size_t wins) {
  if (wins == report.points.size()) return std::nullopt;  // the run wins everywhere
  double best = 0;
  std::optional<WonRegion> where;
  for (std::size_t axis = 0; axis < report.axes.size(); ++axis) {
    for (const WonRegion& region : regions_of(report, axis, run)) {
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

std::vector<double> with_ends(const estimate::Estimate& estimate) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {estimate.value, estimate.low.value_or(kNone), estimate.high.value_or(kNone)};
}

DocumentTable axes_of(const SweepReport& report) {
  using Axis = SweepReport::Axis;
  using Value = SweepReport::Value;
  return list_of(report.axes, "name", &Axis::name, "path", &Axis::path, "linked", &Axis::linked, "unit", &Axis::unit,
                 "values",
                 [](const Axis& axis) { return list_of(axis.values, "text", &Value::text, "number", &Value::number); });
}

DocumentTable points_of(const SweepReport& report) {
  DocumentTable points;
  for (const SweepReport::Point& point : report.points) {
    std::vector<std::vector<double>> ranked, of_first;  // of_first: ratios to the first, from the second run on
    std::vector<std::int64_t> beside;
    bool open = true;
    for (const SweepReport::Time& time : point.ranked) {
      std::vector<double>& one = ranked.emplace_back(1, static_cast<double>(time.run));
      if (time.seconds)
        for (const double end : with_ends(*time.seconds)) one.push_back(end);
      if (&time == point.ranked.data()) continue;
      if (time.seconds) of_first.push_back(with_ends(time.verdict.ratio));
      open = open && time.seconds && is_beside(time.verdict.standing);
      if (open) beside.push_back(static_cast<std::int64_t>(time.run));
    }
    points.add_row().add("id", point.id, "at", std::vector<std::int64_t>(point.at.begin(), point.at.end()), "ranked",
                         ranked, "beside", beside, "of_first", of_first);
  }
  return points;
}

/// Adds all figures as rows instead of objects, because there may be thousands of rows.
void add_figures(const SweepReport& report, Document& document) {
  std::vector<std::string> fields{"point", "seed", "run"};
  DocumentTable about;
  for (const std::size_t index : page_figures()) {
    const Figure& figure = figures()[index];
    fields.push_back(figure.name);
    about.add_row().add("name", figure.name, "title", figure.title, "kind", to_string(figure.kind), "unit", figure.unit,
                        "better", to_string(figure.better));
  }
  std::vector<std::vector<double>> rows;
  for (const SweepReport::Row& one : report.rows) {
    std::vector<double>& row = rows.emplace_back(std::vector<double>{
        static_cast<double>(one.point), static_cast<double>(one.seed), static_cast<double>(one.run)});
    row.insert(row.end(), one.values.begin(), one.values.end());
  }
  document.add("figures.fields", fields, "figures.about", about, "figures.rows", std::move(rows));
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

/// Counts of points with a result.
struct PointCount {
  std::vector<std::size_t> wins;  ///< points won by each run
  std::vector<bool> competes;     ///< true for each run that competes
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
    (count.wins[run] == 0 ? nowhere : statement.subjects).push_back(report.runs[run].label);
    if (count.wins[run] == 0) continue;
    won.push_back(static_cast<double>(count.wins[run]));
    if (std::optional<Statement> where = where_most(report, run, count.wins[run])) statement.with(*std::move(where));
  }
  statement.with("won", std::move(won));
  if (!nowhere.empty()) statement.with("nowhere", std::move(nowhere));
  return statement;
}

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

/// Returns the page's figure that decides points; the step time if that figure is unknown.
std::size_t deciding_figure(const SweepReport& report) {
  const std::size_t time = page_figure(report.metric == Metric::time_at_scale ? "scale_seconds" : "target_seconds");
  const bool known =
      report.metric != Metric::time_per_step && report.metric != Metric::time_per_round &&
      std::ranges::any_of(report.rows, [&](const auto& row) { return std::isfinite(row.values.at(time)); });
  return known ? time : page_figure("step_seconds");
}

/// Figures over the seeds, by point and run.
class FiguresOverSeeds {
 public:
  explicit FiguresOverSeeds(const SweepReport& report)
      : runs_(report.runs.size()), rows_(report.points.size() * runs_) {
    for (const SweepReport::Row& row : report.rows) rows_.at(row.point * runs_ + row.run).push_back(&row);
  }
  /// Returns mean and deviation; nothing if a seed of the point lacks the figure.
  std::optional<OverSeeds> of(std::size_t point, std::size_t run, std::size_t figure) const {
    std::vector<double> values;
    for (const SweepReport::Row* row : rows_.at(point * runs_ + run)) {
      if (!std::isfinite(row->values.at(figure))) return std::nullopt;
      values.push_back(row->values[figure]);
    }
    return values.empty() ? std::nullopt : std::optional(over_seeds(values));
  }

 private:
  std::size_t runs_;
  std::vector<std::vector<const SweepReport::Row*>> rows_;
};

Unit unit_of(const std::string& unit) {
  return unit == "s" ? Unit::seconds : unit == "B" ? Unit::bytes : unit == "share" ? Unit::share : Unit::plain;
}

/// Returns a chart of a figure along the longest axis, with a line per run; in a grid, the other axes are at their
/// middle value.
Chart along_axis(const SweepReport& report, const FiguresOverSeeds& known, std::size_t figure) {
  const auto longest = std::ranges::max_element(report.axes, {}, [](const auto& axis) { return axis.values.size(); });
  const auto axis = static_cast<std::size_t>(longest - report.axes.begin());
  const Figure& of = figures()[page_figures()[figure]];
  Chart chart{.name = of.name,
              .title = fmt::format("{} along {}", of.title, longest->name),
              .x = {.title = longest->name, .unit = unit_of(longest->unit), .from_least = true},
              .y = {of.title, unit_of(of.unit), std::string(of.unit) == "currency" ? report.currency : ""},
              .own_script = true};
  if (chart.x.unit == Unit::plain) chart.x.suffix = longest->unit;
  const bool grid = report.grid();
  for (std::size_t run = 0; run < report.runs.size(); ++run) {
    ChartSeries series{.label = report.runs[run].label};
    for (std::size_t i = 0; i < report.points.size(); ++i) {
      const std::vector<std::size_t>& at = report.points[i].at;
      bool chosen = true;
      for (std::size_t k = 0; k < at.size(); ++k)
        chosen = chosen && (k == axis || !grid || at[k] == (report.axes[k].values.size() - 1) / 2);
      const std::optional<double> number = longest->values.at(at[axis]).number;
      const std::optional<OverSeeds> value = chosen ? known.of(i, run, figure) : std::nullopt;
      if (!value) continue;
      ChartPoint point{.x = number.value_or(static_cast<double>(at[axis])),
                       .y = value->mean,
                       .words = longest->values[at[axis]].text};
      if (report.seeds > 1) {
        point.low = value->mean - value->deviation;
        point.high = value->mean + value->deviation;
        point.deviation = value->deviation;
      }
      series.points.push_back(std::move(point));
    }
    std::ranges::stable_sort(series.points, {}, &ChartPoint::x);
    series.marks_only = !grid || !longest->numeric();
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  chart.choose_scales();
  if (!longest->numeric()) chart.x.logarithmic = false;
  return chart;
}

/// Returns a chart of time against a cost figure, for every run at every point.
Chart time_against(const SweepReport& report, const FiguresOverSeeds& known, std::size_t time, std::size_t takes) {
  const Figure& across = figures()[page_figures()[time]];
  const Figure& up = figures()[page_figures()[takes]];
  Chart chart{.name = fmt::format("{}-and-{}", across.name, up.name),
              .title = fmt::format("{} against {}", across.title, up.title),
              .x = {across.title, unit_of(across.unit)},
              .y = {up.title, unit_of(up.unit), std::string(up.unit) == "currency" ? report.currency : up.unit},
              .own_script = true};
  for (std::size_t run = 0; run < report.runs.size(); ++run) {
    ChartSeries series{.label = report.runs[run].label, .marks_only = true};
    for (std::size_t i = 0; i < report.points.size(); ++i) {
      const auto x = known.of(i, run, time);
      const auto y = known.of(i, run, takes);
      if (x && y)
        series.points.push_back({.x = x->mean, .y = y->mean, .words = fmt::format("point {}", report.points[i].id)});
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  chart.choose_scales();
  return chart;
}

/// Returns a chart of the points over two axes; each point belongs to the series of its winner, or to that of the
/// points without one.
Chart first_where(const SweepReport& report) {
  Chart chart{.name = "map",
              .title = "The first run at each point",
              .x = {.title = report.axes[0].name, .suffix = report.axes[0].unit, .from_least = true},
              .y = {.title = report.axes[1].name, .suffix = report.axes[1].unit, .from_least = true},
              .own_script = true};
  for (std::size_t run = 0; run <= report.runs.size(); ++run) {
    const bool open = run == report.runs.size();
    ChartSeries series{.label = open ? "not told apart" : report.runs[run].label, .marks_only = true};
    for (const SweepReport::Point& point : report.points) {
      if (!point.reached() || point.is_open() != open || (!open && point.ranked.front().run != run)) continue;
      const auto number = [&](std::size_t axis) {
        return report.axes[axis].values.at(point.at[axis]).number.value_or(static_cast<double>(point.at[axis]));
      };
      series.points.push_back({.x = number(0), .y = number(1), .words = fmt::format("point {}", point.id)});
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  chart.choose_scales();
  return chart;
}

std::vector<Chart> charts_of(const SweepReport& report) {
  std::vector<Chart> charts;
  if (report.axes.empty()) return charts;
  if (report.axes.size() > 1) charts.push_back(first_where(report));
  const FiguresOverSeeds known(report);
  const std::size_t deciding = deciding_figure(report);
  charts.push_back(along_axis(report, known, deciding));
  const bool at_scale = report.metric == Metric::time_at_scale;
  for (const char* name : {at_scale ? "money_at_scale" : "money_to_target",
                           at_scale ? "joules_at_scale" : "joules_to_target", "total_bytes"})
    charts.push_back(time_against(report, known, deciding, page_figure(name)));
  std::erase_if(charts, [](const Chart& chart) { return chart.series.empty(); });
  return charts;
}

/// Returns a table of the figure that decides points, a row per point and a column per run: mean ± deviation over the
/// seeds.
DocumentTable table_of(const SweepReport& report) {
  const std::size_t figure = deciding_figure(report);
  const Unit unit = unit_of(figures()[page_figures()[figure]].unit);
  const FiguresOverSeeds known(report);
  DocumentTable table;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    TableRow row = table.add_row();
    for (std::size_t k = 0; k < report.axes.size(); ++k)
      row.say(report.axes[k].name, report.axes[k].values.at(report.points[i].at[k]).text);
    for (std::size_t run = 0; run < report.runs.size(); ++run) {
      const std::optional<OverSeeds> value = known.of(i, run, figure);
      row.say(report.runs[run].label, !value              ? "–"
                                      : report.seeds == 1 ? in_words(value->mean, unit)
                                                          : fmt::format("{} ± {}", in_words(value->mean, unit),
                                                                        in_words(value->deviation, unit)));
    }
  }
  return table;
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

Document document_of(const SweepReport& report) {
  Document document{report, answer_of(report)};
  document.page = PageKind::sweep;
  document.charts = charts_of(report);
  document.parts.push_back({.shown = Shown::page,
                            .heading = figures()[page_figures()[deciding_figure(report)]].title,
                            .what = table_of(report)});
  document.add("scenario.file", report.scenario_file, "scenario.hash", fmt::format("{:016x}", report.hash),
               "scenario.target_accuracy", report.target_accuracy, "sweep.points", report.points_of_sweep,
               "sweep.seeds", report.seeds, "sweep.shard", report.shard, "sweep.shards", report.shards,
               "sweep.at_scale", report.at_scale, "sweep.metric", to_string(report.metric), "sweep.rate_unit",
               report.rate_unit, "sweep.of", report.of, "sweep.grid", report.grid(), "sweep.currency", report.currency,
               "sweep.sampling_error", report.sampling_error, "setting.learned_on", report.learned_on,
               "setting.timed_as", report.timed_as);
  std::vector<double> student;  // by degrees of freedom from 1: half width of a 95 % interval ÷ standard error
  for (std::int64_t freedom = 1; freedom < report.seeds; ++freedom) student.push_back(estimate::student_t(freedom));
  document.add("student_t", student, "axes", axes_of(report));
  using Run = SweepReport::Run;
  using Failure = SweepReport::Failure;
  document.add(
      "runs",
      list_of(report.runs, "label", &Run::label, "algorithm", &Run::algorithm, "communicates", &Run::communicates),
      "points", points_of(report));
  add_figures(report, document);
  document.add("failures", list_of(report.failures, "point", &Failure::point, "seed", &Failure::seed, "words",
                                   &Failure::message, "infeasible", &Failure::infeasible));
  document.parts.push_back({.name = "about",
                            .what = object_with("description", "", "scenario", report.scenario, "set",
                                                std::vector<std::string>(), "build", report.build),
                            .page_alone = true});
  return document;
}

}  // namespace dadsim::report
