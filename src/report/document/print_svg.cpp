#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "report/document/document.hpp"
#include "report/text/escape.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

// ---- pixels ----
constexpr double kWidth = 640;
constexpr double kPlotHeight = 280;
constexpr double kLine = 16;         // pixels, height of a line of text
constexpr double kCharacter = 6.6;   // pixels, mean width of a character of 12-pixel sans-serif text
constexpr double kWidestName = 230;  // pixels, largest width of a bar's name
constexpr double kBar = 18;          // pixels, height of a stacked bar; bars side by side are narrower

constexpr double kSpreadForLog = 20;  // an axis is logarithmic from this ratio of its largest to its smallest value;
                                      // same as kSpreadForLog of charts.js

// Okabe and Ito, "Color Universal Design" (2008), without its yellow, in the order of theme.js.
constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
constexpr std::array kDashes{"none", "8 4", "2 3", "10 3 2 3", "5 3", "1 2"};
constexpr std::array kMarkers{"M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
                              "M-3 -3h6v6h-6z",
                              "M0 -4L4 3H-4z",
                              "M0 -4.5L4.5 0L0 4.5L-4.5 0z",
                              "M-4 0H4M0 -4V4",
                              "M-3 -3L3 3M-3 3L3 -3"};
constexpr std::array kFillings{"",       "M-1 1L1 -1M0 8L8 0M7 9L9 7", "M4 4h.01M8 8h.01M0 0h.01",
                               "M0 4H8", "M-1 7L1 9M0 0L8 8M7 -1L9 1", "M0 4H8M4 0V8"};

template <class List>
const char* in_turn(const List& list, std::size_t index) {
  return list[index % list.size()];
}

struct ScaleUnit {
  const char* name;
  double factor;
};
constexpr std::array kSecondUnits{ScaleUnit{"ns", 1e-9},   ScaleUnit{"µs", 1e-6}, ScaleUnit{"ms", 1e-3},
                                  ScaleUnit{"s", 1},       ScaleUnit{"min", 60},  ScaleUnit{"h", 3600},
                                  ScaleUnit{"days", 86400}};
constexpr std::array kByteUnits{ScaleUnit{"B", 1},    ScaleUnit{"kB", 1e3},  ScaleUnit{"MB", 1e6},
                                ScaleUnit{"GB", 1e9}, ScaleUnit{"TB", 1e12}, ScaleUnit{"PB", 1e15}};
constexpr std::array kShareUnits{ScaleUnit{"%", 0.01}};
constexpr std::array kPlainUnits{ScaleUnit{"", 1}};

std::span<const ScaleUnit> units_of(const ChartAxis& axis) {
  if (axis.unit == Unit::seconds) return kSecondUnits;
  if (axis.unit == Unit::bytes) return kByteUnits;
  if (axis.unit == Unit::share || axis.unit == Unit::signed_share) return kShareUnits;
  return kPlainUnits;
}

/// Returns the largest unit in which `value` is at least `least`; else the smallest unit.
const ScaleUnit& unit_for(const ChartAxis& axis, double value, double least) {
  const std::span<const ScaleUnit> units = units_of(axis);
  for (std::size_t i = units.size(); i-- > 1;)
    if (value >= least * units[i].factor) return units[i];
  return units.front();
}

std::string tick_text(const ChartAxis& axis, double value, const ScaleUnit& unit) {
  if (value == 0) return "0";
  if (axis.unit == Unit::count) return human_count(std::llround(value));
  const std::string_view name = units_of(axis).size() == 1 && *unit.name == '\0' ? axis.suffix.c_str() : unit.name;
  return fmt::format("{:.6g}{}{}", value / unit.factor, name.empty() ? "" : " ", name);
}

struct Tick {
  double at = 0;
  std::string words = {};
};

/// An axis with its range and the pixels of its ends.
struct AxisScale {
  bool logarithmic = false;
  double low = 0, high = 1;
  std::vector<Tick> ticks = {};
  double from = 0, to = 1;

  double at(double value) const {
    const double share =
        logarithmic ? std::log(std::max(value, low) / low) / std::log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
  }
  double widest_tick() const {
    std::size_t columns = 0;
    for (const Tick& tick : ticks) columns = std::max(columns, display_width(tick.words));
    return kCharacter * static_cast<double>(columns);
  }
};

/// Returns the step between ticks: 1, 2 or 5 times a power of ten, with at most about `count` steps in `range`.
double nice_step(double range, double count) {
  const double rough = range / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * 0.999) return factor * power;
  return 10 * power;
}

AxisScale linear_scale(const ChartAxis& axis, double low, double high, double count) {
  const ScaleUnit& unit = unit_for(axis, high, 2);
  double step = nice_step((high - low) / unit.factor, count);
  if (axis.unit == Unit::count) step = std::max(1.0, step);
  const double first = std::floor(low / unit.factor / step + 1e-9);
  const double last = std::max(first + 1, std::ceil(high / unit.factor / step - 1e-9));
  AxisScale scale;
  for (double i = first; i <= last; ++i)
    scale.ticks.push_back({i * step * unit.factor, tick_text(axis, i * step * unit.factor, unit)});
  scale.low = scale.ticks.front().at;
  scale.high = scale.ticks.back().at;
  return scale;
}

/// Returns ticks between `low` and `high`, at the products of `factors` and powers of ten of each unit.
std::vector<Tick> powers_between(const ChartAxis& axis, double low, double high, const std::vector<double>& factors) {
  std::vector<Tick> ticks;
  const std::span<const ScaleUnit> units = units_of(axis);
  for (std::size_t i = 0; i < units.size(); ++i) {
    const double end = i + 1 < units.size() ? units[i + 1].factor : std::numeric_limits<double>::infinity();
    for (int power = i == 0 ? -12 : 0; power < 16; ++power) {
      for (const double factor : factors) {
        const double value = factor * std::pow(10, power) * units[i].factor;
        if (value >= low && value <= high && value < 0.999 * end)
          ticks.push_back({value, tick_text(axis, value, units[i])});
      }
    }
  }
  return ticks;
}

AxisScale logarithmic_scale(const ChartAxis& axis, double low, double high, double count) {
  AxisScale scale{.logarithmic = true, .low = 0.8 * low, .high = 1.25 * high};
  std::vector<Tick> ticks = powers_between(axis, scale.low, scale.high, {1});
  if (ticks.size() < 3) ticks = powers_between(axis, scale.low, scale.high, {1, 2, 5});
  const auto every = static_cast<std::size_t>(std::ceil(static_cast<double>(ticks.size()) / count));
  for (std::size_t i = 0; i < ticks.size(); i += std::max<std::size_t>(1, every)) scale.ticks.push_back(ticks[i]);
  return scale;
}

AxisScale scale_of(const ChartAxis& axis, std::vector<double> values, double count) {
  std::erase_if(values, [&](double value) { return !std::isfinite(value) || (axis.logarithmic && value <= 0); });
  if (values.empty()) return linear_scale(axis, 0, 1, count);
  const auto [least, most] = std::ranges::minmax(values);
  if (axis.logarithmic) return logarithmic_scale(axis, least, most, count);
  const double low = axis.from_least ? least : std::min(0.0, least);
  return linear_scale(axis, low, most > low ? most : low + 1, count);
}

std::string value_text(const ChartAxis& axis, double value) {
  if (axis.unit != Unit::plain) return in_words(value, axis.unit);
  return fmt::format("{:.4g}{}{}", value, axis.suffix.empty() ? "" : " ", axis.suffix);
}

std::string text(double x, double y, std::string_view words, std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more, escaped(words));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view more) {
  return fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" {}/>\n", x1, y1, x2, y2, more);
}

constexpr const char* kEnd = " text-anchor=\"end\"";
constexpr const char* kMiddle = " text-anchor=\"middle\"";
constexpr const char* kGrid = "stroke=\"#d8dde4\"";
constexpr const char* kInk = "stroke=\"#1b2430\" stroke-width=\"1.2\"";
constexpr const char* kLimit = "stroke=\"#566170\" stroke-dasharray=\"6 4\"";

std::string marker(std::size_t index, double x, double y) {
  return fmt::format("<path transform=\"translate({:.1f} {:.1f})\" d=\"{}\" fill=\"{}\" stroke=\"{}\"/>\n", x, y,
                     in_turn(kMarkers, index), index % kMarkers.size() < 4 ? in_turn(kColours, index) : "none",
                     in_turn(kColours, index));
}

std::string whisker(double x1, double y1, double x2, double y2, std::string_view colour) {
  const double across = x1 == x2 ? 4 : 0;  // end marks are perpendicular to the line
  const double up = 4 - across;
  return fmt::format(
      "<path d=\"M{0:.1f} {1:.1f}L{2:.1f} {3:.1f}M{4:.1f} {5:.1f}L{6:.1f} {7:.1f}M{8:.1f} {9:.1f}L{10:.1f} "
      "{11:.1f}\" fill=\"none\" stroke=\"{12}\" stroke-width=\"1.2\"/>\n",
      x1, y1, x2, y2, x1 - across, y1 - up, x1 + across, y1 + up, x2 - across, y2 - up, x2 + across, y2 + up, colour);
}

bool has_place(const Chart& chart, const ChartPoint& point) {
  return std::isfinite(point.x) && std::isfinite(point.y) && !(chart.x.logarithmic && point.x <= 0) &&
         !(chart.y.logarithmic && point.y <= 0);
}

/// Returns all drawable values along x or y, including ends of intervals and limits.
std::vector<double> values_along(const Chart& chart, bool of_x) {
  std::vector<double> values;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      if (!has_place(chart, point)) continue;
      values.push_back(of_x ? point.x : point.y);
      if (!of_x && point.begin) values.push_back(*point.begin);
      if (!of_x && point.low && point.high) values.insert(values.end(), {*point.low, *point.high});
    }
  }
  for (const ChartLimit& limit : chart.limits)
    if (limit.of_x == of_x) values.push_back(limit.at);
  return values;
}

std::string drawn_lines(const Chart& chart, double& bottom) {
  AxisScale x = scale_of(chart.x, values_along(chart, true), 6);
  AxisScale y = scale_of(chart.y, values_along(chart, false), 6);
  const double left = kLine + 12 + y.widest_tick();
  constexpr double kTop = 12;
  x.from = left, x.to = kWidth - 24;
  y.from = kTop + kPlotHeight, y.to = kTop;
  std::string svg;
  for (const Tick& tick : y.ticks) {
    svg += line(left, y.at(tick.at), x.to, y.at(tick.at), kGrid);
    svg += text(left - 6, y.at(tick.at) + 4, tick.words, kEnd);
  }
  for (const Tick& tick : x.ticks) {
    svg += line(x.at(tick.at), y.to, x.at(tick.at), y.from, kGrid);
    svg += text(x.at(tick.at), y.from + kLine, tick.words, kMiddle);
  }
  svg +=
      fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\" fill=\"none\" {4}/>\n", left, y.to, y.from, x.to, kInk);
  svg += text((left + x.to) / 2, y.from + 2 * kLine + 2, chart.x.title, kMiddle);
  svg += fmt::format("<text transform=\"translate(12 {:.1f}) rotate(-90)\"{}>{}</text>\n", (y.from + y.to) / 2, kMiddle,
                     escaped(chart.y.title));
  for (const ChartLimit& limit : chart.limits) {
    const double at = limit.of_x ? x.at(limit.at) : y.at(limit.at);
    svg += limit.of_x ? line(at, y.from, at, y.to, kLimit) : line(left, at, x.to, at, kLimit);
    svg += limit.of_x ? text(at - 4, y.from - 6, limit.words, kEnd)
                      : text(x.to - 4, at < y.to + kLine ? at + kLine - 2 : at - 4, limit.words, kEnd);
  }
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const ChartSeries& series = chart.series[i];
    std::string path, above, below, marks;
    std::vector<const ChartPoint*> shown;
    for (const ChartPoint& point : series.points)
      if (has_place(chart, point)) shown.push_back(&point);
    // Overlapping lines place their markers at alternating points.
    const std::size_t every = series.marks_only ? 1 : std::max<std::size_t>(1, (shown.size() + 11) / 12);
    for (std::size_t k = 0; k < shown.size(); ++k) {
      const ChartPoint& point = *shown[k];
      path += fmt::format("{}{:.1f} {:.1f}", k == 0 ? "M" : "L", x.at(point.x), y.at(point.y));
      if (point.low && point.high) {
        if (series.marks_only)
          marks += whisker(x.at(point.x), y.at(*point.low), x.at(point.x), y.at(*point.high), in_turn(kColours, i));
        above += fmt::format("{}{:.1f} {:.1f}", above.empty() ? "M" : "L", x.at(point.x), y.at(*point.high));
        below = fmt::format("L{:.1f} {:.1f}", x.at(point.x), y.at(*point.low)) + below;
      }
      if (k % every == i % every || shown.size() == 1) marks += marker(i, x.at(point.x), y.at(point.y));
    }
    if (!series.marks_only && !above.empty())
      svg += fmt::format("<path d=\"{}{}z\" fill=\"{}\" fill-opacity=\"0.18\"/>\n", above, below, in_turn(kColours, i));
    if (!series.marks_only && !path.empty())
      svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n",
                         path, in_turn(kColours, i), in_turn(kDashes, i));
    svg += marks;
  }
  bottom = y.from + 2 * kLine + 10;
  return svg;
}

std::string filling(const Chart& chart, std::size_t index) {
  return fmt::format("url(#{}-{})", chart.name, index % kFillings.size());
}

std::string drawn_bars(const Chart& chart, double& bottom) {
  const bool stacked = chart.kind == Chart::Kind::stacked;
  const bool labelled = chart.kind == Chart::Kind::bars;  // writes the value at the end of each bar
  std::vector<double> sums(chart.names.size(), 0.0);
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points) sums.at(static_cast<std::size_t>(point.x)) += point.y;
  AxisScale x = scale_of(chart.y, stacked ? sums : values_along(chart, false), 5);
  std::size_t name_columns = 0, end_columns = 0;
  for (const std::string& name : chart.names) name_columns = std::max(name_columns, display_width(name));
  for (const double value : stacked ? sums : labelled ? values_along(chart, false) : std::vector<double>())
    end_columns = std::max(end_columns, display_width(value_text(chart.y, value)));
  const double left = 14 + std::min(kWidestName, kCharacter * static_cast<double>(name_columns));
  x.from = left, x.to = kWidth - 16 - kCharacter * static_cast<double>(end_columns);
  const double bar = !labelled || chart.series.size() == 1 ? kBar : kBar - 4;
  const double row = (labelled ? static_cast<double>(chart.series.size()) : 1) * bar + 8;
  constexpr double kTop = 6;
  const double low = kTop + row * static_cast<double>(chart.names.size());
  std::string svg;
  for (const Tick& tick : x.ticks) {
    svg += line(x.at(tick.at), kTop, x.at(tick.at), low, kGrid);
    svg += text(x.at(tick.at), low + kLine, tick.words, kMiddle);
  }
  for (std::size_t i = 0; i < chart.names.size(); ++i) {
    const auto most = static_cast<std::size_t>(kWidestName / kCharacter);
    std::string name = left_aligned(chart.names[i], std::min(display_width(chart.names[i]), most));
    svg += text(left - 6, kTop + row * (static_cast<double>(i) + 0.5) + 4, name, kEnd);
  }
  std::vector<double> ends(chart.names.size(), 0.0);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    for (const ChartPoint& point : chart.series[i].points) {
      if (!(std::isfinite(point.y) && (!chart.y.logarithmic || point.y > 0))) continue;
      double& end = ends[static_cast<std::size_t>(point.x)];
      const double y = kTop + row * point.x + 4 + (labelled ? static_cast<double>(i) * bar : 0);
      const double from = point.begin ? x.at(*point.begin) : stacked && end > 0 ? x.at(end) : x.from;
      end += point.y;
      const double to = x.at(stacked ? end : point.y);
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", from, y,
                         std::max(point.begin ? 1.0 : 0.0, to - from), bar - 2, filling(chart, i));
      double text_at = to;
      if (point.low && point.high) {
        text_at = x.at(*point.high);
        svg += whisker(x.at(*point.low), y + bar / 2 - 1, text_at, y + bar / 2 - 1, "#1b2430");
      }
      if (labelled) svg += text(text_at + 5, y + bar / 2 + 3, value_text(chart.y, point.y));
    }
  }
  for (std::size_t i = 0; stacked && i < sums.size(); ++i)
    svg += text(x.at(sums[i]) + 5, kTop + row * (static_cast<double>(i) + 0.5) + 4, value_text(chart.y, sums[i]));
  svg += line(left, kTop, left, low, kInk);
  svg += text((x.from + x.to) / 2, low + 2 * kLine + 2, chart.y.title, kMiddle);
  bottom = low + (chart.y.title.empty() ? 1 : 2) * kLine + 10;
  return svg;
}

/// Returns rows of marks or fillings with their labels; nothing for a single series.
std::string legend_of(const Chart& chart, double& bottom) {
  if (chart.series.size() < 2) return {};
  std::string svg;
  double x = 12;
  bottom += 6;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const std::string& label = chart.series[i].label;
    const double width = 34 + kCharacter * static_cast<double>(display_width(label)) + 18;
    if (x > 12 && x + width > kWidth) x = 12, bottom += kLine + 2;
    if (chart.kind != Chart::Kind::lines) {
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"24\" height=\"11\" fill=\"{}\"/>\n", x, bottom,
                         filling(chart, i));
    } else {
      if (!chart.series[i].marks_only)
        svg += line(x, bottom + 6, x + 28, bottom + 6,
                    fmt::format("stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"", in_turn(kColours, i),
                                in_turn(kDashes, i)));
      svg += marker(i, x + 14, bottom + 6);
    }
    svg += text(x + 34, bottom + 10, label);
    x += width;
  }
  bottom += kLine + 4;
  return svg;
}

}  // namespace

ChartSeries& Chart::add_bars(std::string label, const std::vector<double>& values, std::string part) {
  ChartSeries& added = series.emplace_back(ChartSeries{.label = std::move(label), .part = std::move(part)});
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i])) added.points.push_back({.x = static_cast<double>(i), .y = values[i]});
  return added;
}

void Chart::choose_scales() {
  const auto spreads = [&](bool of_x) {
    std::vector<double> values = values_along(*this, of_x);
    std::erase_if(values, [](double value) { return !(value > 0); });
    return !values.empty() && std::ranges::max(values) >= kSpreadForLog * std::ranges::min(values);
  };
  if (kind == Kind::lines) x.logarithmic = spreads(true);
  if (kind != Kind::stacked) y.logarithmic = spreads(false);
}

std::string to_svg(const Chart& chart) {
  double bottom = 0;
  std::string drawn = chart.kind == Chart::Kind::lines ? drawn_lines(chart, bottom) : drawn_bars(chart, bottom);
  drawn += legend_of(chart, bottom);
  std::string patterns;
  for (std::size_t i = 0; chart.kind != Chart::Kind::lines && i < std::min(chart.series.size(), kFillings.size()); ++i)
    patterns += fmt::format(
        "<pattern id=\"{}-{}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 0H8V8H0z\" "
        "fill=\"{}\"/><path d=\"{}\" stroke=\"#ffffff\" stroke-opacity=\"0.65\" stroke-width=\"1.4\" "
        "stroke-linecap=\"round\"/></pattern>\n",
        chart.name, i, kColours.at(i), kFillings.at(i));
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "role=\"img\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#1b2430\">\n"
      "<title>{2}</title>\n{3}<path d=\"M0 0H{0:.0f}V{1:.0f}H0z\" fill=\"#ffffff\"/>\n{4}</svg>\n",
      kWidth, bottom, escaped(chart.title), patterns.empty() ? "" : "<defs>" + patterns + "</defs>\n", drawn);
}

std::string to_csv(const Chart& chart) {
  const auto heading = [](const ChartAxis& axis, const char* otherwise) {
    const char* unit = axis.unit == Unit::seconds                                    ? "s"
                       : axis.unit == Unit::bytes                                    ? "B"
                       : axis.unit == Unit::share || axis.unit == Unit::signed_share ? "share"
                                                                                     : axis.suffix.c_str();
    const std::string title = axis.title.empty() ? otherwise : axis.title;
    return csv_field(std::string_view(*unit == '\0' ? title : fmt::format("{} ({})", title, unit)));
  };
  const auto any = [&](auto&& has) {
    return std::ranges::any_of(chart.series,
                               [&](const ChartSeries& one) { return std::ranges::any_of(one.points, has); });
  };
  const bool begun = any([](const ChartPoint& point) { return point.begin.has_value(); });
  const bool banded = any([](const ChartPoint& point) { return point.low && point.high; });
  const bool seeds = any([](const ChartPoint& point) { return point.deviation.has_value(); });
  const bool named = any([](const ChartPoint& point) { return !point.words.empty(); });
  const bool bars = chart.kind != Chart::Kind::lines;
  std::string csv =
      fmt::format("series,{},{}{}{}{}{}\n", bars ? "name" : heading(chart.x, "x"), heading(chart.y, "value"),
                  begun ? ",begin" : "", banded ? ",low,high" : "", seeds ? ",deviation" : "", named ? ",point" : "");
  const auto field = [](const std::optional<double>& value) { return value ? csv_field(*value) : std::string(); };
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      csv += csv_field(std::string_view(series.label)) + ',';
      csv += bars ? csv_field(std::string_view(chart.names.at(static_cast<std::size_t>(point.x)))) : csv_field(point.x);
      csv += ',' + csv_field(point.y);
      if (begun) csv += ',' + field(point.begin);
      if (banded) csv += ',' + field(point.low) + ',' + field(point.high);
      if (seeds) csv += ',' + field(point.deviation);
      if (named) csv += ',' + csv_field(std::string_view(point.words));
      csv += '\n';
    }
  }
  return csv;
}

}  // namespace dadsim::report
