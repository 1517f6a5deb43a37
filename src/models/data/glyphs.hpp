#pragma once

#include <vector>

namespace dadsim::models {

/// A place in the unit square, x to the right, y downwards.
struct Point {
  double x = 0, y = 0;
};

/// One movement of the pen: a polyline, or a smooth curve through its points.
struct Stroke {
  std::vector<Point> points;
  bool smooth = false;
  bool closed = false;  ///< smooth curves only: the last point joins the first
};

/// One way of writing a digit.
struct Glyph {
  std::vector<Stroke> strokes;
};

/// The ways of writing a digit (0 … 9).
const std::vector<Glyph>& glyphs(int digit);

}  // namespace dadsim::models
