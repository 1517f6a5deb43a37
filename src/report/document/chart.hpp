#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Charts of a document as data. Pages draw them with scripts (html/script/drawn.js); print_svg.cpp draws them as SVG
// files for print.

namespace dadsim::report {

/// The unit of a column or an axis, which determines the format of its numbers. Text is aligned to the left.
enum class Unit : std::uint8_t { plain, text, count, seconds, bytes, share, signed_share, rate };

struct ChartAxis {
  std::string title = {};
  Unit unit = Unit::plain;
  std::string suffix = {};   ///< unit of plain numbers: "EUR"
  bool logarithmic = false;  ///< true: omits values that are not positive
  bool from_least = false;   ///< true: the axis begins at the least value instead of zero
};

struct ChartPoint {
  double x = 0;  ///< for bars: index of the bar's name
  double y = 0;
  std::optional<double> low = {}, high = {};  ///< interval of y
  std::optional<double> deviation = {};       ///< standard deviation of y over seeds
  std::string words = {};                     ///< name of the point
  std::optional<double> begin = {};           ///< for spans: start of the bar, which ends at y
};

struct ChartSeries {
  std::string label;
  std::vector<ChartPoint> points = {};
  bool marks_only = false;  ///< true: marks without a line
  std::string part = {};    ///< colour and filling on pages, a name of kParts (theme.js); empty: the next unused one
};

/// A dashed line across the chart at a limit or target.
struct ChartLimit {
  double at = 0;
  std::string words;
  bool of_x = false;  ///< true: a limit of x instead of y
};

struct Chart {
  enum class Kind : std::uint8_t { lines, bars, stacked, spans };  ///< spans need `own_script`
  std::string name;                                                ///< name of its files: "memory"
  std::string title;
  Kind kind = Kind::lines;
  ChartAxis x = {}, y = {};             ///< bars extend along y, which is drawn horizontally
  std::vector<std::string> names = {};  ///< for bars: a name per row
  std::vector<ChartSeries> series = {};
  std::vector<ChartLimit> limits = {};
  bool own_script = false;  ///< true: a script of the page's kind draws the chart
  std::string above = {};   ///< sentences above the chart on a page; empty: the chart's title
  /// Label of a selection list on a page, which shows one of the charts named "FIGURE-…"; empty: no list.
  std::string choice = {};

  /// Adds a series of bars, one value per name. Omits values that are not finite.
  ChartSeries& add_bars(std::string label, const std::vector<double>& values, std::string part = {});
  /// Makes an axis logarithmic if its positive values differ by a factor of 20 or more. Axes of stacked bars stay
  /// linear, because lengths add up.
  void choose_scales();
};

/// Returns the chart as SVG, with the palette of Okabe and Ito (2008). Dashes, markers and fillings distinguish series
/// in print without colour. Equal charts give equal bytes.
std::string to_svg(const Chart& chart);
/// Returns the points as CSV: series, name or x, y. Has columns begin, low, high, deviation and name if a point has
/// them.
std::string to_csv(const Chart& chart);

}  // namespace dadsim::report
