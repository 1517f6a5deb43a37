#include "study/sweep/sweep_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "study/sweep/winners.hpp"
#include "support/human.hpp"

namespace dadsim::study {
namespace {

constexpr std::size_t kMostRows = 28;    // points in a table of their own
constexpr std::size_t kMostLabels = 8;   // in a summary; the rest are counted together
constexpr std::size_t kMostAcross = 40;  // columns of a map
constexpr std::size_t kMostDown = 24;    // and rows
constexpr std::size_t kLongestValue = 24;

using Row = std::vector<std::string>;

std::string grid_text(const std::vector<Row>& rows, const std::set<std::size_t>& left) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += left.contains(i) ? left_aligned(row[i], widths[i]) : right_aligned(row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
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

/// Paths as short as they can be told apart: from the end on.
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

std::string table_of_points(const SweepResults& results, const std::vector<PointOutcome>& all) {
  Row head{"point"};
  for (const std::string& name : short_paths(results.columns)) head.push_back(cut(name));
  for (const char* name : {"quickest", "time to target", "next"}) head.emplace_back(name);
  std::vector<Row> rows{head};
  for (const PointOutcome& outcome : all) {
    const SweepResults::Point& point = results.points[outcome.point];
    Row row{std::to_string(point.id)};
    for (const std::string& value : point.values) row.push_back(cut(value));
    const bool failed =
        std::ranges::any_of(results.failed, [&](const auto& one) { return one.trial.point == point.id; });
    if (outcome.ranked.empty()) {
      row.insert(row.end(), {failed ? "(failed)" : "(open)", "", ""});
    } else if (!outcome.won()) {
      row.insert(row.end(), {"(none)", "", ""});
    } else {
      const TimeToTarget& first = outcome.ranked.front();
      row.push_back(cut(first.label));
      row.push_back(time_text(*first.seconds));
      const bool other = outcome.ranked.size() > 1 && outcome.ranked[1].seconds;
      row.push_back(other ? fmt::format("{} {:.2f}×", cut(outcome.ranked[1].label),
                                        outcome.ranked[1].seconds->value / first.seconds->value)
                          : "");
    }
    rows.push_back(std::move(row));
  }
  const std::size_t label = results.columns.size() + 1;
  return grid_text(rows, {label});
}

/// Values of an axis in the order of the points.
std::vector<std::string> values_of(const SweepResults& results, std::size_t column) {
  std::vector<std::string> values;
  for (const SweepResults::Point& point : results.points) {
    if (std::ranges::find(values, point.values[column]) == values.end()) values.push_back(point.values[column]);
    if (values.size() > kMostAcross) break;
  }
  return values;
}

/// Which run is the quickest where, by letter; empty unless the points are a grid over two axes that fits.
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
    cells[y][x] = outcome.won() ? letters.at(outcome.ranked.front().label) : '-';
  }
  std::size_t width = 0;
  for (const std::string& value : down) width = std::max(width, display_width(cut(value)));
  std::string text = fmt::format("\nThe quickest by {} (down) and {} (across, {} … {}):\n", results.columns[0].path,
                                 results.columns[across_column].path, across.front(), across.back());
  for (std::size_t y = 0; y < down.size(); ++y) {
    text += "  " + right_aligned(cut(down[y]), width) + " ";
    for (const char cell : cells[y]) text += fmt::format(" {}", cell);
    text += '\n';
  }
  return text;
}

/// How far the relative steps of each run move over the points, where they do: other networks that learn, other
/// targets, other batches.
std::string spread_of_relative_steps(const SweepResults& results) {
  struct Spread {
    std::string label;
    double least = 0, greatest = 0;
    std::set<std::int64_t> points;
  };
  std::vector<Spread> spreads;
  for (const SweepRun& run : results.runs) {
    if (!std::isfinite(run.relative_steps)) continue;
    auto spread = std::ranges::find(spreads, run.label, &Spread::label);
    if (spread == spreads.end()) {
      spreads.push_back({run.label, run.relative_steps, run.relative_steps, {}});
      spread = std::prev(spreads.end());
    }
    spread->least = std::min(spread->least, run.relative_steps);
    spread->greatest = std::max(spread->greatest, run.relative_steps);
    spread->points.insert(run.trial.point);
  }
  std::string text;
  for (const Spread& spread : spreads) {
    if (spread.points.size() < 2 || !(spread.least < spread.greatest)) continue;
    text += fmt::format("relative steps of {}: {:.3g} to {:.3g} over {} points\n", cut(spread.label), spread.least,
                        spread.greatest, spread.points.size());
  }
  return text.empty() ? text : '\n' + text;
}

std::string summary(const SweepResults& results, const std::vector<PointOutcome>& all) {
  std::map<std::string, std::int64_t> won;
  std::vector<std::string> labels;
  std::int64_t nobody = 0;
  for (const PointOutcome& outcome : all) {
    for (const TimeToTarget& run : outcome.ranked) {
      if (won.emplace(run.label, 0).second) labels.push_back(run.label);
    }
    if (outcome.won()) ++won[outcome.ranked.front().label];
    if (!outcome.ranked.empty() && !outcome.won()) ++nobody;
  }
  std::ranges::stable_sort(labels, [&](const auto& a, const auto& b) { return won[a] > won[b]; });
  std::map<std::string, char> letters;
  std::vector<Row> rows{{"", "run", "quickest at points", "share"}};
  const auto points = static_cast<double>(all.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const char letter = i < 26 ? static_cast<char>('a' + i) : '?';
    letters[labels[i]] = letter;
    if (i >= kMostLabels) continue;
    rows.push_back({std::string(1, letter), cut(labels[i]), human_count(won[labels[i]]),
                    human_percent(static_cast<double>(won[labels[i]]) / points)});
  }
  if (nobody > 0)
    rows.push_back(
        {"-", "(no run reaches the target)", human_count(nobody), human_percent(static_cast<double>(nobody) / points)});
  std::string text = grid_text(rows, {1});
  if (labels.size() > kMostLabels) text += fmt::format("and {} more runs\n", labels.size() - kMostLabels);
  return text + map_of(results, all, letters);
}

}  // namespace

std::string sweep_table(const SweepResults& results) {
  const std::vector<PointOutcome> all = outcomes(results);
  const SweepIdentity& identity = results.identity;
  std::string text = fmt::format("{}: {} points", identity.scenario_name, human_count(identity.points));
  if (identity.shards > 1)
    text += fmt::format(", of which {} in shard {}/{}", human_count(static_cast<std::int64_t>(results.points.size())),
                        identity.shard, identity.shards);
  if (identity.seeds > 1) text += fmt::format(", {} seeds each (means with 95 % intervals)", identity.seeds);
  if (std::ranges::any_of(all, &PointOutcome::at_scale)) text += "; times to accuracy at scale";
  const double error = worst_sampling_error(results);
  if (error > 0)
    text += fmt::format(
        "; of steps that differ a sample was simulated, mean steps are off by {:.2g} % at most (standard error)",
        100 * error);
  text += "\n\n";
  text += results.points.size() <= kMostRows ? table_of_points(results, all) : summary(results, all);
  return text + spread_of_relative_steps(results);
}

}  // namespace dadsim::study
