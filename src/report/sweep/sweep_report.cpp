#include "report/sweep/sweep_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>

#include "report/run/figures.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

constexpr std::size_t kMostNamed = 5;  // runs in the sentence

std::string bit_rate(double bits) {
  constexpr std::array kUnits{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
  std::size_t unit = 0;
  while (bits >= 999.5 && unit + 1 < kUnits.size()) {
    bits /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bits, kUnits.at(unit));
}

std::string in_words(const SweepReport::Axis& axis, std::size_t index) {
  const SweepReport::Value& value = axis.values.at(index);
  if (!value.number) return value.text;
  if (axis.unit == "bit/s") return bit_rate(*value.number);
  if (axis.unit == "s") return human_seconds(*value.number);
  if (axis.unit == "B") return human_bytes(*value.number);
  return value.text;
}

/// Points on one side of a value of an axis, or with it.
struct Region {
  std::size_t axis = 0, value = 0;
  enum class Side { at_most, at_least, equal } side = Side::equal;

  bool holds(const SweepReport::Point& point) const {
    const std::size_t at = point.at[axis];
    return side == Side::equal ? at == value : side == Side::at_most ? at <= value : at >= value;
  }
  std::string text(const SweepReport& report) const {
    const SweepReport::Axis& of = report.axes[axis];
    const char* how = side == Side::equal ? "" : side == Side::at_most ? " at most" : " at least";
    return fmt::format("{}{} {}", of.name, how, in_words(of, value));
  }
};

std::vector<Region> regions_of(const SweepReport& report) {
  std::vector<Region> regions;
  for (std::size_t axis = 0; axis < report.axes.size(); ++axis) {
    const SweepReport::Axis& of = report.axes[axis];
    for (std::size_t value = 0; value < of.values.size(); ++value) {
      if (!of.numeric()) {
        regions.push_back({axis, value, Region::Side::equal});
        continue;
      }
      if (value + 1 < of.values.size()) regions.push_back({axis, value, Region::Side::at_most});
      if (value > 0) regions.push_back({axis, value, Region::Side::at_least});
    }
  }
  return regions;
}

/// Where most of the points are that a run wins, among which it wins most: the region with the best harmonic mean of
/// both shares, if both are above a half and the region tells it from the rest.
std::string where_most(const SweepReport& report, std::size_t run, std::size_t wins) {
  const auto wins_at = [&](const SweepReport::Point& point) { return point.won() && point.ranked.front().run == run; };
  double best = 0;
  std::string text;
  for (const Region& region : regions_of(report)) {
    std::size_t there = 0;
    std::size_t won = 0;
    for (const SweepReport::Point& point : report.points) {
      if (!region.holds(point)) continue;
      ++there;
      if (wins_at(point)) ++won;
    }
    if (there == 0 || there == report.points.size() || 2 * won <= there || 2 * won <= wins) continue;
    const double harmonic = 2.0 * static_cast<double>(won) / static_cast<double>(there + wins);
    if (harmonic <= best) continue;
    best = harmonic;
    const std::string all = human_count(static_cast<std::int64_t>(there));
    const std::string some = human_count(static_cast<std::int64_t>(won));
    text = there == 1     ? fmt::format("the one with {}", region.text(report))
           : won == there ? fmt::format("all {} with {}", all, region.text(report))
                          : fmt::format("{} of the {} with {}", some, all, region.text(report));
  }
  return text;
}

std::string points_in_words(std::size_t count) {
  return fmt::format("{} point{}", human_count(static_cast<std::int64_t>(count)), count == 1 ? "" : "s");
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

std::string verdict(const SweepReport& report) {
  std::vector<std::size_t> wins(report.runs.size(), 0);
  std::vector<bool> competes(report.runs.size(), false);
  std::size_t decided = 0;
  std::size_t without = 0;
  std::size_t open = 0;
  for (const SweepReport::Point& point : report.points) {
    for (const SweepReport::Time& time : point.ranked) competes[time.run] = true;
    if (point.ranked.empty()) continue;
    ++decided;
    if (point.won()) {
      ++wins[point.ranked.front().run];
    } else if (point.is_open()) {
      ++open;
    } else {
      ++without;
    }
  }
  if (decided == 0) return "No point has a result yet.";
  const bool by_step = report.metric == Metric::time_per_step;
  if (without == decided) {
    if (by_step) return fmt::format("No run has a step at any of {}.", points_in_words(decided));
    double best = 0;
    for (const SweepReport::Row& one : report.rows) best = std::max(best, one["best_accuracy"]);
    return fmt::format("No run reaches the target at any of {}{}.", points_in_words(decided),
                       best > 0 ? fmt::format(": the best is {}", human_percent(best)) : "");
  }
  if (open + without == decided)
    return fmt::format("No run is told apart from the others at any of {}{}.", points_in_words(decided),
                       without > 0 ? fmt::format("; at {} none reaches the target", without) : "");

  const std::string deed = by_step ? fmt::format("has the shortest step of {}", report.of)
                           : report.metric == Metric::time_at_scale ? fmt::format("trains {} first", report.of)
                                                                    : "reaches the target first";
  std::vector<std::string> parts;
  std::vector<std::string> nowhere;
  for (std::size_t run = 0; run < report.runs.size(); ++run) {
    if (!competes[run]) continue;
    const std::string& label = report.runs[run].label;
    if (wins[run] == 0) {
      nowhere.push_back(label);
      continue;
    }
    const std::string where = where_most(report, run, wins[run]);
    const std::string count = human_count(static_cast<std::int64_t>(wins[run]));
    const std::string of = parts.empty()
                               ? fmt::format("{} {} at {} of {}", label, deed, count, points_in_words(decided))
                               : fmt::format("{} at {}", label, count);
    parts.push_back(where.empty() ? of : fmt::format("{} ({})", of, where));
  }
  const auto named = static_cast<std::ptrdiff_t>(std::min(parts.size(), kMostNamed));
  std::string text = fmt::format("{}", fmt::join(parts.begin(), parts.begin() + named, "; "));
  if (parts.size() > kMostNamed) text += fmt::format("; and {} more runs elsewhere", parts.size() - kMostNamed);
  if (nowhere.size() > kMostNamed) {
    text += fmt::format("; {} runs nowhere", nowhere.size());
  } else if (!nowhere.empty()) {
    text += fmt::format("; {} nowhere", fmt::join(nowhere, ", "));
  }
  text += ".";
  if (open > 0) text += fmt::format(" At {} the quickest are equal or not told apart.", points_in_words(open));
  if (without > 0) text += fmt::format(" At {} no run reaches it.", points_in_words(without));
  return text;
}

}  // namespace dadsim::report
