#include "study/sweep/sweep_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "report/explain/comparison.hpp"
#include "report/run/work.hpp"
#include "report/text/amounts.hpp"
#include "report/text/escape.hpp"
#include "report/text/path_name.hpp"
#include "report/text/text_blocks.hpp"
#include "report/words/statement.hpp"
#include "scenario/language/quantity.hpp"
#include "sim/platform.hpp"
#include "study/sweep/read_results.hpp"
#include "support/diagnostics.hpp"
#include "support/human.hpp"

namespace dadsim::study {
namespace {

std::string csv_header(const std::vector<SweepColumn>& columns) {
  std::string header = "point,seed";
  for (const SweepColumn& column : columns) header += "," + report::csv_field(column.path);
  return header + report::csv_names_of_figures() + ",failed\n";
}

/// Returns the lines of a trial; `values`: those of its point.
std::string csv_lines(const TrialResults& trial, const std::vector<std::string>& values) {
  std::string begin = std::to_string(trial.trial.point) + ',' + std::to_string(trial.trial.seed);
  for (const std::string& value : values) begin += "," + report::csv_field(value);
  std::string lines;
  if (!trial.message.empty()) {
    const std::string names = report::csv_names_of_figures();
    const std::string nothing(static_cast<std::size_t>(std::ranges::count(names, ',')), ',');  // columns of the figures
    lines += begin + nothing + ',' + report::csv_field(trial.message) + "\n";
  }
  for (const SweepRun& run : trial.runs) lines += begin + report::csv_fields_of(run.figures) + ",\n";
  return lines;
}

using Axis = report::SweepReport::Axis;
using Value = report::SweepReport::Value;

std::string joined(const std::vector<std::string>& texts) {
  std::string text = texts.front();
  if (std::ranges::all_of(texts, [&](const std::string& one) { return one == texts.front(); })) return text;
  for (std::size_t i = 1; i < texts.size(); ++i) text += " / " + texts[i];
  return text;
}

/// Splits a text into a number and the rest.
std::optional<std::pair<double, std::string>> number_and_rest(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  return std::pair{number, std::string(stop, end)};
}

/// Returns the numbers in all texts, or none if some text contains no number.
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

/// Reads the texts as numbers with a common unit, if possible.
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

/// Returns the axes with their values in order, and fills in the points' positions.
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

/// Numbers of points that each run wins.
struct PointWinners {
  std::vector<std::string> labels;  // the run with the most points first; ties in the order of the scenario
  std::map<std::string, std::int64_t> won;
  std::int64_t open = 0;       // points whose quickest run cannot be distinguished from others
  std::int64_t unreached = 0;  // points at which no run reaches the target
};

PointWinners winners_of(const std::vector<PointOutcome>& all) {
  PointWinners log;
  for (const PointOutcome& outcome : all) {
    for (const TimeToTarget& run : outcome.ranked) {
      if (log.won.emplace(run.label, 0).second) log.labels.push_back(run.label);
    }
    if (outcome.won()) ++log.won[outcome.ranked.front().label];
    if (outcome.is_open()) ++log.open;
    if (!outcome.ranked.empty() && !outcome.reached()) ++log.unreached;
  }
  std::ranges::stable_sort(log.labels, [&](const auto& a, const auto& b) { return log.won[a] > log.won[b]; });
  return log;
}

/// Returns the shortest endings of paths that distinguish them.
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

/// Returns whether the timed workload's samples are sequences.
bool counts_tokens(const SweepResults& results) {
  return std::ranges::any_of(results.runs,
                             [](const SweepRun& run) { return report::work_of(run.figures).counts_tokens(); });
}

/// Returns the changes of a point: "nic=200Gbps, batch=16".
std::vector<std::string> changes_of(const SweepResults& results, std::size_t point) {
  std::vector<std::string> changes;
  for (std::size_t i = 0; i < results.columns.size(); ++i)
    changes.push_back(fmt::format("{}={}", results.columns[i].path, results.points[point].values[i]));
  return changes;
}

/// Returns a statement about the best point, if one run is timed or points do different work.
std::optional<report::Statement> best_statement(const SweepResults& results, const std::vector<PointOutcome>& all) {
  const std::optional<BestPoint> best = best_point(all);
  if (!best || all.size() < 2) return std::nullopt;
  // If several runs do equal work at all points, the quickest run is stated per point instead.
  if (winners_of(all).labels.size() > 1 && !report::is_of_work(metric_of(all))) return std::nullopt;
  // Points with different networks are not comparable.
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

/// Returns statements on a sweep of exactly two points: the speed of each run at the second point relative to the
/// first. Empty for other numbers of points, or if a point has no result.
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

/// Returns all runs: by points won, then by rank, then the runs that do not compete.
std::vector<report::SweepReport::Run> runs_of(const SweepResults& results, const std::vector<PointOutcome>& all) {
  PointWinners winners = winners_of(all);
  std::map<std::string, const SweepRun*> first;
  for (const SweepRun& run : results.runs) {
    if (first.try_emplace(run.label(), &run).second && !winners.won.contains(run.label()))
      winners.labels.push_back(run.label());
  }
  std::vector<report::SweepReport::Run> runs;
  for (const std::string& label : winners.labels) {
    const report::FigureValues& figures = first.at(label)->figures;
    runs.push_back({label, figures.text("algorithm"), figures.is("communicates")});
  }
  return runs;
}

constexpr std::size_t kMostRows = 28;    // largest number of points listed in a table
constexpr std::size_t kMostLabels = 8;   // largest number of runs listed in a summary; the others are counted together
constexpr std::size_t kMostAcross = 40;  // largest number of columns of a map
constexpr std::size_t kMostDown = 24;    // largest number of rows of a map
constexpr std::size_t kLongestValue = 24;

using Row = std::vector<std::string>;

std::string grid_text(std::vector<Row> rows, std::size_t left) {
  return report::grid(std::move(rows), {.left = {left}, .widest = std::string::npos, .rule = false});
}

std::string time_text(const estimate::Estimate& seconds) {
  std::string text = human_seconds(seconds.value);
  if (seconds.low && seconds.high)
    text += fmt::format(" ({} … {})", human_seconds(*seconds.low), human_seconds(*seconds.high));
  return text;
}

std::string cut(const std::string& text) {
  return display_width(text) <= kLongestValue ? text : left_aligned(text, kLongestValue);
}

/// Returns a value without its middle if it is long, because most values differ at their ends.
std::string shortened(const std::string& text) {
  constexpr std::size_t kLongest = 44;
  constexpr std::size_t kKept = 20;  // characters at either end
  const bool plain = std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c < 0x7f; });
  if (!plain || text.size() <= kLongest) return text;
  return text.substr(0, kKept) + " … " + text.substr(text.size() - kKept);
}

/// Returns a point's result as text for a table: a time, or a rate if a price of work replaces the time.
std::string amount_text(const estimate::Estimate& amount, report::Metric metric) {
  if (!report::is_of_work(metric)) return time_text(amount);
  const auto rate = [&](double price) { return report::rate_in_words(report::rate_of_work(price, metric)); };
  std::string text = rate(amount.value);
  if (amount.low && amount.high) text += fmt::format(" ({} … {})", rate(*amount.high), rate(*amount.low));
  return text;
}

std::string amount_title(const SweepResults& results, report::Metric metric) {
  if (report::is_of_work(metric)) return rate_unit(metric, counts_tokens(results), results.identity.currency);
  return metric == report::Metric::time_per_step    ? "a step"
         : metric == report::Metric::time_per_round ? "a round"
         : metric == report::Metric::time_at_scale  ? "time to accuracy"
                                                    : "time to target";
}

/// Returns the labels of the quickest run and of those not distinguishable from it: "equal: dad, edad", "open: dad,
/// edad".
std::string labels_beside_first(const PointOutcome& outcome) {
  std::string labels = cut(outcome.ranked.front().label);
  bool equal = true;
  for (const TimeToTarget* run : outcome.beside_first()) {
    labels += ", " + cut(run->label);
    equal = equal && run->verdict.standing == estimate::Standing::equal;
  }
  return (equal ? "equal: " : "open: ") + labels;
}

/// Returns the run whose scaling is reported if nothing was learned: the first with a scaling efficiency. Empty: no run
/// has one.
std::string measured_run(const SweepResults& results) {
  const auto run = std::ranges::find_if(
      results.runs, [](const SweepRun& one) { return std::isfinite(one.figures["scaling_efficiency"]); });
  return run == results.runs.end() ? "" : run->label();
}

void add_measures(const SweepResults& results, std::int64_t point, const std::string& label, Row& row) {
  const auto run = std::ranges::find_if(
      results.runs, [&](const SweepRun& one) { return one.trial.point == point && one.label() == label; });
  if (run == results.runs.end()) {
    row.insert(row.end(), {"", ""});
    return;
  }
  row.push_back(human_count(std::llround(run->figures["samples_per_second"])));
  row.push_back(human_percent(run->figures["scaling_efficiency"]));
}

/// Returns the highest accuracy at a point where no run reaches the target, as text.
std::string never_reached(const PointOutcome& outcome) {
  const TimeToTarget& nearest = *std::ranges::max_element(outcome.ranked, {}, &TimeToTarget::best_accuracy);
  if (!(nearest.best_accuracy > 0)) return "(no time)";
  return fmt::format("never reached: best {} ({})", human_percent(nearest.best_accuracy), cut(nearest.label));
}

/// Returns a paragraph for each cause of infeasible points, with the numbers of the points.
std::string infeasible_points(const SweepResults& results) {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> by_words;
  for (const FailedTrial& one : results.failed) {
    if (!one.is_infeasible() || one.trial.seed != 0) continue;
    const std::string words = one.message.substr(kInfeasible.size());
    auto known = std::ranges::find(by_words, words, &std::pair<std::string, std::vector<std::int64_t>>::first);
    if (known == by_words.end()) known = by_words.insert(by_words.end(), {words, {}});
    known->second.push_back(one.trial.point);
  }
  constexpr std::size_t kMostReasons = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(by_words.size(), kMostReasons); ++i) {
    const auto& [words, points] = by_words[i];
    text += report::paragraph(
        fmt::format("Infeasible: point{} {}: {}", points.size() == 1 ? "" : "s", ranges_in_words(points), words));
  }
  if (by_words.size() > kMostReasons) text += fmt::format("… and {} more reasons\n", by_words.size() - kMostReasons);
  return text.empty() ? text : '\n' + text;
}

std::string table_of_points(const SweepResults& results, const std::vector<PointOutcome>& all) {
  Row head{"point"};
  for (const std::string& name : short_paths(results.columns)) head.push_back(cut(name));
  const report::Metric metric = metric_of(all);
  const std::string measure = measured_run(results);
  head.emplace_back(metric == report::Metric::time_per_step    ? "shortest step"
                    : metric == report::Metric::time_per_round ? "shortest round"
                    : report::is_of_work(metric)               ? "best"
                                                               : "quickest");
  head.push_back(amount_title(results, metric));
  head.emplace_back("next");
  if (!measure.empty()) {
    head.push_back(fmt::format("{}: samples/s", cut(measure)));
    head.emplace_back("scaling");
  }
  std::vector<Row> rows{head};
  for (const PointOutcome& outcome : all) {
    const SweepResults::Point& point = results.points[outcome.point];
    Row row{std::to_string(point.id)};
    for (const std::string& value : point.values) row.push_back(shortened(value));
    const auto failed =
        std::ranges::find_if(results.failed, [&](const auto& one) { return one.trial.point == point.id; });
    if (outcome.ranked.empty()) {
      row.insert(row.end(), {failed == results.failed.end() ? "(open)"
                             : failed->is_infeasible()      ? "(infeasible)"
                                                            : "(failed)",
                             "", ""});
    } else if (!outcome.reached()) {
      row.insert(row.end(), {never_reached(outcome), "", ""});
    } else {
      const TimeToTarget& first = outcome.ranked.front();
      row.push_back(outcome.is_open() ? labels_beside_first(outcome) : shortened(first.label));
      row.push_back(amount_text(*first.seconds, outcome.metric));
      const std::size_t next = 1 + outcome.beside_first().size();
      const bool some = next < outcome.ranked.size() && outcome.ranked[next].seconds;
      row.push_back(some ? fmt::format("{} {}", cut(outcome.ranked[next].label),
                                       report::factor_in_words(outcome.ranked[next].verdict.ratio))
                         : "");
    }
    if (!measure.empty()) add_measures(results, point.id, measure, row);
    rows.push_back(std::move(row));
  }
  const std::size_t label = results.columns.size() + 1;
  return grid_text(std::move(rows), label) + infeasible_points(results);
}

/// Returns the different values in a column, in the order of the points; at most kMostAcross + 1 of them.
std::vector<std::string> values_of(const SweepResults& results, std::size_t column) {
  std::vector<std::string> values;
  for (const SweepResults::Point& point : results.points) {
    if (std::ranges::find(values, point.values[column]) == values.end()) values.push_back(point.values[column]);
    if (values.size() > kMostAcross) break;
  }
  return values;
}

/// Returns a map of the quickest runs, one letter per run; empty unless the points form a grid over two axes that fits.
std::string map_of(const SweepResults& results, const std::vector<PointOutcome>& all,
                   const std::map<std::string, char>& letters) {
  const auto second = std::ranges::find(results.columns, 2, &SweepColumn::axis);
  if (results.columns.empty() || results.columns.back().axis != 2 || second == results.columns.end()) return {};
  const auto across_column = static_cast<std::size_t>(second - results.columns.begin());
  const std::vector<std::string> down = values_of(results, 0);
  const std::vector<std::string> across = values_of(results, across_column);
  if (down.size() > kMostDown || across.size() > kMostAcross) return {};
  if (static_cast<std::int64_t>(down.size() * across.size()) != results.identity.points) return {};

  std::vector<std::string> cells(down.size(), std::string(across.size(), ' '));
  for (const PointOutcome& outcome : all) {
    const std::vector<std::string>& values = results.points[outcome.point].values;
    const auto y = static_cast<std::size_t>(std::ranges::find(down, values[0]) - down.begin());
    const auto x = static_cast<std::size_t>(std::ranges::find(across, values[across_column]) - across.begin());
    if (outcome.ranked.empty()) continue;
    cells[y][x] = outcome.won() ? letters.at(outcome.ranked.front().label) : outcome.is_open() ? '=' : '-';
  }
  std::size_t width = 0;
  for (const std::string& value : down) width = std::max(width, display_width(cut(value)));
  std::string text =
      '\n' +
      report::paragraph(fmt::format(
          "The {} by {} (down) and {} (across, {} … {}):", report::is_of_work(metric_of(all)) ? "best" : "quickest",
          report::path_in_words(results.columns[0].path), report::path_in_words(results.columns[across_column].path),
          across.front(), across.back()));
  const char* apart = 3 + width + 2 * across.size() <= report::table_width() ? " " : "";
  for (std::size_t y = 0; y < down.size(); ++y) {
    text += "  " + right_aligned(cut(down[y]), width) + " ";
    for (const char cell : cells[y]) text += fmt::format("{}{}", apart, cell);
    text += '\n';
  }
  return text;
}

/// Returns a line on each run whose relative steps differ between points: their range, and the number of points.
std::string spread_of_relative_steps(const SweepResults& results) {
  struct RelativeStepsSpread {
    std::string label;
    double least = 0, greatest = 0;
    std::set<std::int64_t> points;
  };
  std::vector<RelativeStepsSpread> spreads;
  for (const SweepRun& run : results.runs) {
    const double relative_steps = run.figures["relative_steps"];
    if (!std::isfinite(relative_steps)) continue;
    auto spread = std::ranges::find(spreads, run.label(), &RelativeStepsSpread::label);
    if (spread == spreads.end()) {
      spreads.push_back({run.label(), relative_steps, relative_steps, {}});
      spread = std::prev(spreads.end());
    }
    spread->least = std::min(spread->least, relative_steps);
    spread->greatest = std::max(spread->greatest, relative_steps);
    spread->points.insert(run.trial.point);
  }
  std::string text;
  for (const RelativeStepsSpread& spread : spreads) {
    if (spread.points.size() < 2 || !(spread.least < spread.greatest)) continue;
    text += fmt::format("relative steps of {}: {:.3g} to {:.3g} over {} points\n", cut(spread.label), spread.least,
                        spread.greatest, spread.points.size());
  }
  return text.empty() ? text : '\n' + text;
}

std::string metric_in_words(const SweepResults& results, report::Metric metric) {
  if (metric == report::Metric::time_to_target) return {};
  const auto run =
      std::ranges::find_if(results.runs, [](const SweepRun& one) { return !one.figures.text("workload").empty(); });
  const std::string of = run == results.runs.end() ? "what is timed" : run->figures.text("workload");
  if (metric == report::Metric::time_at_scale) return fmt::format("; times to accuracy of {}", of);
  if (report::is_of_work(metric)) return fmt::format("; {} of {}", amount_title(results, metric), of);
  if (metric == report::Metric::time_per_round) return fmt::format("; rounds of {}", of);
  return fmt::format("; steps of {} (their number is not known here)", of);
}

std::string table_of_winners(const SweepResults& results, const std::vector<PointOutcome>& all) {
  PointWinners log = winners_of(all);
  std::map<std::string, char> letters;
  std::vector<Row> rows{{"", "run", "quickest at points", "share"}};
  const auto points = static_cast<double>(all.size());
  for (std::size_t i = 0; i < log.labels.size(); ++i) {
    const char letter = i < 26 ? static_cast<char>('a' + i) : '?';
    letters[log.labels[i]] = letter;
    if (i >= kMostLabels) continue;
    rows.push_back({std::string(1, letter), cut(log.labels[i]), human_count(log.won[log.labels[i]]),
                    human_percent(static_cast<double>(log.won[log.labels[i]]) / points)});
  }
  if (log.open > 0)
    rows.push_back({"=", "(equal, or not distinguishable)", human_count(log.open),
                    human_percent(static_cast<double>(log.open) / points)});
  if (log.unreached > 0)
    rows.push_back({"-", "(no run reaches the target)", human_count(log.unreached),
                    human_percent(static_cast<double>(log.unreached) / points)});
  std::string text = grid_text(std::move(rows), 1);
  if (log.labels.size() > kMostLabels) text += fmt::format("and {} more runs\n", log.labels.size() - kMostLabels);
  return text + map_of(results, all, letters) + infeasible_points(results);
}

}  // namespace

std::string sweep_csv(const SweepResults& results) {
  std::map<std::int64_t, const SweepResults::Point*> points;
  for (const SweepResults::Point& point : results.points) points[point.id] = &point;
  std::map<SweepTrial, TrialResults> trials;
  for (const SweepRun& run : results.runs) trials[run.trial].runs.push_back(run);
  for (const FailedTrial& failed : results.failed) trials[failed.trial].message = failed.message;
  std::string csv = csv_header(results.columns);
  for (auto& [trial, of_trial] : trials) {
    of_trial.trial = trial;
    csv += csv_lines(of_trial, points.at(trial.point)->values);
  }
  return csv;
}

void write_sweep_csv(Database& database, const std::function<void(std::string_view)>& put) {
  ResultsReader reader(database);
  put(csv_header(reader.columns()));
  reader.each_trial([&](TrialResults&& trial) { put(csv_lines(trial, reader.values_of(trial.trial.point))); });
  reader.throw_if_damaged();
}

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

report::Document document_of(const SweepResults& results) {
  const std::vector<PointOutcome> all = outcomes(results);
  const SweepIdentity& identity = results.identity;
  report::Document document = document_of(sweep_report_of(results, all));
  document.lead = report::in_words(document.answer);
  for (const auto& [what, words] : results.settings) {
    if (what == "rate-as-tcp") document.lead.push_back(words);
  }
  std::string text = fmt::format("{}: {} point{}", identity.scenario_name, human_count(identity.points),
                                 identity.points == 1 ? "" : "s");
  if (identity.shards > 1)
    text += fmt::format(", of which {} in shard {}/{}", human_count(static_cast<std::int64_t>(results.points.size())),
                        identity.shard, identity.shards);
  if (identity.seeds > 1) text += fmt::format(", {} seeds each (means with 95 % intervals)", identity.seeds);
  text += metric_in_words(results, metric_of(all));
  const double error = worst_sampling_error(results);
  if (error > 0)
    text += fmt::format(
        "; a sample of the differing steps was simulated: standard error of mean steps at most {:.2g} %", 100 * error);
  document.print(report::paragraph(text) + '\n');
  document.print(results.points.size() <= kMostRows ? table_of_points(results, all) : table_of_winners(results, all));
  document.print(spread_of_relative_steps(results));
  document.rests_on("");
  return document;
}

report::Document document_of_file(Database& database, bool for_page) {
  const std::int64_t runs = count_runs(database);
  if (runs <= kMostRunsShown) return document_of(read_results(database));
  if (for_page)
    throw InputError(Diagnostic{database.path(), 0,
                                fmt::format("has results of {} runs, and a page shows at most {}", human_count(runs),
                                            human_count(kMostRunsShown)),
                                "use --csv FILE, which has all of them"});
  const SweepIdentity identity = ResultsReader(database).identity();
  report::Document document;
  document.print(report::paragraph(fmt::format(
      "{}: {} points, results of {} runs; a table shows at most {}: --csv FILE writes all of them, and SQLite reads "
      "them (docs/sweep.md)",
      identity.scenario_name, human_count(identity.points), human_count(runs), human_count(kMostRunsShown))));
  document.rests_on("");
  return document;
}

}  // namespace dadsim::study
