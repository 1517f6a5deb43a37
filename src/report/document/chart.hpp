#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Charts of a document as data. Pages draw them with scripts (html/script/drawn.js); print_svg.cpp writes the same as
// files for a paper.

namespace dadsim::report {

/// The unit of a column or an axis, which determines how people read its numbers; text is aligned to the left.
enum class Unit : std::uint8_t { plain, text, count, seconds, bytes, share, signed_share, rate };

struct ChartAxis {
  std::string title = {};
  Unit unit = Unit::plain;
  std::string suffix = {};   ///< unit of plain numbers: "EUR"
  bool logarithmic = false;  ///< values that are not positive are left out
  bool from_least = false;   ///< begins at the least value instead of zero
};

struct ChartPoint {
  double x = 0;  ///< bars: index of the bar's name
  double y = 0;
  std::optional<double> low = {}, high = {};  ///< interval of y
  std::optional<double> deviation = {};       ///< standard deviation of y over seeds
  std::string words = {};                     ///< name of the point
  std::optional<double> begin = {};           ///< spans: bars run from here to y
};

struct ChartSeries {
  std::string label;
  std::vector<ChartPoint> points = {};
  bool marks_only = false;  ///< marks without a line
  std::string part = {};    ///< colour and filling on pages, a name of kParts (theme.js); empty: the next one
};

/// A dashed line across the chart at a limit or target.
struct ChartLimit {
  double at = 0;
  std::string words;
  bool of_x = false;  ///< a limit of x instead of y
};

struct Chart {
  enum class Kind : std::uint8_t { lines, bars, stacked, spans };  ///< spans need `own_script`
  std::string name;                                                ///< name of its files: "memory"
  std::string title;
  Kind kind = Kind::lines;
  ChartAxis x = {}, y = {};             ///< bars run along y, which is drawn horizontally
  std::vector<std::string> names = {};  ///< bars: a name per row
  std::vector<ChartSeries> series = {};
  std::vector<ChartLimit> limits = {};
  bool own_script = false;  ///< sentences above the chart on a page; empty: its title
  std::string above = {};   ///< sentences above it on a page; empty: its title
  /// Legend of a list on a page, in which the reader chooses one of the charts named "FIGURE-…"; empty: no list.
  std::string choice = {};

  /// Adds a series of bars, one value per name; values that are not finite are left out.
  ChartSeries& add_bars(std::string label, const std::vector<double>& values, std::string part = {});
  /// Makes the axes logarithmic along which positive values differ by a factor of 20 or more. Stacked bars have linear
  /// axes, because their lengths add up.
  void choose_scales();
};

/// Returns the chart as SVG, with the palette of Okabe and Ito (2008) and, for print without colour, dashes, markers
/// and fillings. Equal charts give equal bytes.
std::string to_svg(const Chart& chart);
/// Returns the points as CSV: series, name or x, y, and if some point has them begin, low, high, deviation and the
/// point's name.
std::string to_csv(const Chart& chart);

}  // namespace dadsim::report
