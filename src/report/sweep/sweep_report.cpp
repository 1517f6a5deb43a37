#include "report/sweep/sweep_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "estimate/student_t.hpp"
#include "report/run/figures.hpp"

namespace dadsim::report {
namespace {

/// Points on one side of a value of an axis, or at it: their number, and how many of them a run wins.
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

/// Returns the regions in the order of the values. One pass counts the points, of which there may be as many as values.
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
  std::size_t points_to = 0;  // points with this value or an earlier one
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

/// Returns the region that holds most of a run's wins, and in which the run wins most. It has the best harmonic mean of
/// both shares; both must exceed a half, and the region must differ from the others. Nothing for a run that wins
/// everywhere.
std::optional<Statement> where_most(const SweepReport& report, std::size_t run, std::size_t wins) {
  if (wins == report.points.size()) return std::nullopt;  // wins everywhere
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

std::vector<double> with_ends(const estimate::Estimate& estimate) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {estimate.value, estimate.low.value_or(kNone), estimate.high.value_or(kNone)};
}

DocumentTable axes_of(const SweepReport& report) {
  DocumentTable axes;
  for (const SweepReport::Axis& axis : report.axes) {
    DocumentTable values;
    for (const SweepReport::Value& value : axis.values)
      values.add_row().add("text", value.text).add("number", value.number);
    axes.add_row()
        .add("name", axis.name)
        .add("path", axis.path)
        .add("linked", axis.linked)
        .add("unit", axis.unit)
        .add("values", values);
  }
  return axes;
}

DocumentTable points_of(const SweepReport& report) {
  DocumentTable points;
  for (const SweepReport::Point& point : report.points) {
    std::vector<std::vector<double>> ranked, of_first;  // of_first: ratios from the second in the ranking on
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
    points.add_row()
        .add("id", point.id)
        .add("at", std::vector<std::int64_t>(point.at.begin(), point.at.end()))
        .add("ranked", ranked)
        .add("beside", beside)
        .add("of_first", of_first);
  }
  return points;
}

/// Writes all figures as rows instead of objects, because there may be thousands.
void add_figures(const SweepReport& report, Document& document) {
  std::vector<std::string> fields{"point", "seed", "run"};
  DocumentTable about;
  for (const std::size_t index : page_figures()) {
    const Figure& figure = figures()[index];
    fields.push_back(figure.name);
    about.add_row()
        .add("name", figure.name)
        .add("title", figure.title)
        .add("kind", to_string(figure.kind))
        .add("unit", figure.unit)
        .add("better", to_string(figure.better));
  }
  std::vector<std::vector<double>> rows;
  for (const SweepReport::Row& one : report.rows) {
    std::vector<double>& row = rows.emplace_back(std::vector<double>{
        static_cast<double>(one.point), static_cast<double>(one.seed), static_cast<double>(one.run)});
    row.insert(row.end(), one.values.begin(), one.values.end());
  }
  document.add("figures.fields", fields);
  document.add("figures.about", about);
  document.add("figures.rows", std::move(rows));
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

/// Counts points with a result, by result.
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

Document document_of(const SweepReport& report) {
  Document document{report, answer_of(report)};
  document.page = PageKind::sweep;
  document.add("scenario.file", report.scenario_file);
  document.add("scenario.hash", fmt::format("{:016x}", report.hash));
  document.add("scenario.target_accuracy", report.target_accuracy);
  document.add("sweep.points", report.points_of_sweep);
  document.add("sweep.seeds", report.seeds);
  document.add("sweep.shard", report.shard);
  document.add("sweep.shards", report.shards);
  document.add("sweep.at_scale", report.at_scale);
  document.add("sweep.metric", to_string(report.metric));
  document.add("sweep.rate_unit", report.rate_unit);
  document.add("sweep.of", report.of);
  document.add("sweep.grid", report.grid());
  document.add("sweep.currency", report.currency);
  document.add("sweep.sampling_error", report.sampling_error);
  document.add("setting.learned_on", report.learned_on);
  document.add("setting.timed_as", report.timed_as);
  std::vector<double> student;  // by degrees of freedom from 1 on: half an interval ÷ the standard error
  for (std::int64_t freedom = 1; freedom < report.seeds; ++freedom) student.push_back(estimate::student_t(freedom));
  document.add("student_t", student);
  document.add("axes", axes_of(report));
  DocumentTable runs, failures;
  for (const SweepReport::Run& run : report.runs)
    runs.add_row().add("label", run.label).add("algorithm", run.algorithm).add("communicates", run.communicates);
  document.add("runs", runs);
  document.add("points", points_of(report));
  add_figures(report, document);
  for (const SweepReport::Failure& one : report.failures)
    failures.add_row()
        .add("point", one.point)
        .add("seed", one.seed)
        .add("words", one.message)
        .add("infeasible", one.infeasible);
  document.add("failures", failures);
  DocumentTable about{.object = true};
  about.add_row()
      .add("description", "")
      .add("scenario", report.scenario)
      .add("set", std::vector<std::string>())
      .add("build", report.build);
  document.parts.push_back({.name = "about", .what = about, .page_alone = true});
  return document;
}

}  // namespace dadsim::report
