#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/data/draw.hpp"
#include "models/data/generated.hpp"
#include "models/uniform.hpp"

namespace dadsim::models {
namespace {

/// A point in the unit square, x to the right, y downwards.
struct StrokePoint {
  double x = 0, y = 0;
};

/// One movement of the pen: a polyline, or a smooth curve through its points.
struct Stroke {
  std::vector<StrokePoint> points;
  bool smooth = false;
  bool closed = false;  ///< smooth curves only: the last point joins the first
};

/// Strokes of one way of writing a digit.
struct Glyph {
  std::vector<Stroke> strokes;
};

Stroke line(std::vector<StrokePoint> points) { return {std::move(points), false, false}; }
Stroke curve(std::vector<StrokePoint> points) { return {std::move(points), true, false}; }
Stroke loop(std::vector<StrokePoint> points) { return {std::move(points), true, true}; }

std::array<std::vector<Glyph>, 10> make_glyphs() {
  std::array<std::vector<Glyph>, 10> g;
  g[0] = {
      {{loop({{.50, .10}, {.70, .22}, {.78, .50}, {.70, .78}, {.50, .90}, {.30, .78}, {.22, .50}, {.30, .22}})}},
      {{loop({{.50, .10}, {.63, .24}, {.66, .50}, {.63, .76}, {.50, .90}, {.37, .76}, {.34, .50}, {.37, .24}})}},
      {{curve({{.58, .10},
               {.35, .20},
               {.24, .50},
               {.34, .80},
               {.54, .90},
               {.72, .74},
               {.76, .46},
               {.66, .20},
               {.46, .12}})}},
  };
  g[1] = {
      {{line({{.50, .10}, {.50, .90}})}},
      {{line({{.34, .30}, {.53, .10}, {.53, .90}})}},
      {{line({{.36, .26}, {.52, .10}, {.52, .90}}), line({{.32, .90}, {.72, .90}})}},
  };
  g[2] = {
      {{curve({{.26, .30}, {.34, .15}, {.54, .10}, {.71, .22}, {.69, .42}, {.48, .66}, {.25, .89}}),
        line({{.25, .89}, {.77, .88}})}},
      {{curve({{.26, .24},
               {.44, .11},
               {.66, .16},
               {.72, .33},
               {.60, .56},
               {.38, .80},
               {.26, .86},
               {.25, .74},
               {.38, .71},
               {.56, .84},
               {.78, .86}})}},
      {{line({{.27, .13}, {.58, .12}}), curve({{.58, .12}, {.74, .26}, {.66, .48}, {.26, .88}}),
        line({{.26, .88}, {.76, .86}})}},
  };
  g[3] = {
      {{curve({{.28, .20}, {.46, .10}, {.67, .18}, {.66, .38}, {.46, .47}}),
        curve({{.46, .47}, {.70, .55}, {.74, .74}, {.54, .90}, {.26, .82}})}},
      {{line({{.26, .12}, {.71, .12}, {.46, .43}}),
        curve({{.46, .43}, {.69, .50}, {.75, .70}, {.57, .89}, {.26, .83}})}},
  };
  g[4] = {
      {{line({{.32, .12}, {.25, .54}, {.78, .54}}), line({{.66, .18}, {.62, .90}})}},
      {{line({{.62, .90}, {.62, .10}, {.22, .64}, {.80, .64}})}},
      {{curve({{.30, .12}, {.25, .38}, {.36, .52}, {.66, .48}}), line({{.70, .12}, {.66, .90}})}},
  };
  g[5] = {
      {{line({{.73, .12}, {.35, .12}, {.31, .46}}),
        curve({{.31, .46}, {.50, .40}, {.71, .52}, {.73, .72}, {.55, .89}, {.26, .83}})}},
      {{curve({{.73, .14},
               {.48, .12},
               {.34, .24},
               {.38, .42},
               {.60, .49},
               {.72, .66},
               {.62, .85},
               {.42, .90},
               {.25, .81}})}},
  };
  g[6] = {
      {{curve({{.67, .12},
               {.44, .28},
               {.29, .58},
               {.35, .84},
               {.55, .90},
               {.71, .75},
               {.63, .57},
               {.45, .56},
               {.31, .70}})}},
      {{curve({{.40, .10},
               {.31, .40},
               {.29, .70},
               {.42, .89},
               {.62, .86},
               {.70, .68},
               {.56, .53},
               {.38, .60},
               {.30, .74}})}},
  };
  g[7] = {
      {{line({{.24, .13}, {.76, .13}, {.42, .90}})}},
      {{line({{.24, .13}, {.76, .13}, {.44, .90}}), line({{.34, .52}, {.70, .50}})}},
      {{line({{.25, .26}, {.26, .13}, {.74, .13}}), curve({{.74, .13}, {.60, .38}, {.50, .62}, {.48, .90}})}},
  };
  g[8] = {
      {{loop({{.50, .47},
              {.32, .34},
              {.33, .16},
              {.50, .10},
              {.67, .16},
              {.68, .34},
              {.50, .47},
              {.29, .64},
              {.31, .84},
              {.50, .90},
              {.69, .84},
              {.71, .64}})}},
      {{loop({{.50, .10}, {.66, .18}, {.66, .36}, {.50, .44}, {.34, .36}, {.34, .18}}),
        loop({{.50, .44}, {.71, .56}, {.71, .80}, {.50, .90}, {.29, .80}, {.29, .56}})}},
  };
  g[9] = {
      {{loop({{.69, .30}, {.58, .12}, {.36, .14}, {.28, .32}, {.40, .50}, {.61, .46}}),
        line({{.70, .22}, {.65, .90}})}},
      {{curve({{.70, .30},
               {.60, .12},
               {.38, .12},
               {.29, .30},
               {.40, .48},
               {.60, .46},
               {.70, .28},
               {.72, .56},
               {.62, .82},
               {.36, .88}})}},
  };
  return g;
}

/// Returns the ways of writing a digit (0 … 9).
const std::vector<Glyph>& glyphs(int digit) {
  static const std::array<std::vector<Glyph>, 10> all = make_glyphs();
  return all.at(static_cast<std::size_t>(digit));
}

constexpr int kDigitSide = 28;
constexpr std::size_t kPixels = std::size_t{kDigitSide} * kDigitSide;

// Variation of the samples, chosen so that the set is hard for a linear classifier but not for a small network
// (measured in docs/data.md and tests/models/data/digits_test.cpp). Lengths are shares of the unit square unless in
// pixels.
constexpr double kPointJitter = 0.022;  // standard deviation of each control point
constexpr double kWarp = 0.022;         // amplitude of the smooth warp of the whole glyph
constexpr double kSlant = 0.22;         // standard deviation of the shear dx/dy
constexpr double kRotation = 0.13;      // standard deviation of the rotation, radians
constexpr double kSmallest = 16.0;      // least size, pixels per unit square
constexpr double kLargest = 21.0;
constexpr double kAspect = 0.16;   // half range of log(width ÷ height)
constexpr double kShift = 1.7;     // half range of the shift, pixels
constexpr double kThinnest = 0.8;  // half width of the pen, pixels
constexpr double kThickest = 1.6;
constexpr double kSharpest = 0.45;  // half width of the pen's soft edge, pixels
constexpr double kSoftest = 0.95;
constexpr double kPressure = 0.25;     // relative change of the half width along a stroke
constexpr double kPalest = 0.65;       // least darkness of the ink, share of full ink
constexpr double kDigitNoise = 0.10;   // half range of the (triangular) pixel noise
constexpr double kSmudgeShare = 0.08;  // share of the samples with a stray stroke

struct StrokeSegment {
  StrokePoint a, b;
  double half_a, half_b;  // half width of the pen at the ends, pixels
  double ink;
};

/// Returns a point of the Catmull–Rom spline between p1 and p2.
StrokePoint spline(const StrokePoint& p0, const StrokePoint& p1, const StrokePoint& p2, const StrokePoint& p3,
                   double t) {
  const auto along = [t](double a, double b, double c, double d) {
    return 0.5 * (2 * b + t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a))));
  };
  return {along(p0.x, p1.x, p2.x, p3.x), along(p0.y, p1.y, p2.y, p3.y)};
}

/// Returns the points of a stroke, with smooth ones replaced by short chords.
std::vector<StrokePoint> flatten(const Stroke& stroke, const std::vector<StrokePoint>& p) {
  if (!stroke.smooth || p.size() < 3) return p;
  constexpr int kChords = 5;
  const auto n = static_cast<std::ptrdiff_t>(p.size());
  const auto at = [&](std::ptrdiff_t i) {
    const std::ptrdiff_t index = stroke.closed ? (i % n + n) % n : std::clamp<std::ptrdiff_t>(i, 0, n - 1);
    return p[static_cast<std::size_t>(index)];
  };
  std::vector<StrokePoint> line;
  const std::ptrdiff_t pieces = stroke.closed ? n : n - 1;
  for (std::ptrdiff_t i = 0; i < pieces; ++i) {
    for (int k = 0; k < kChords; ++k) {
      line.push_back(spline(at(i - 1), at(i), at(i + 1), at(i + 2), static_cast<double>(k) / kChords));
    }
  }
  line.push_back(at(pieces));
  return line;
}

/// Adds a line drawn with a pen whose pressure rises and falls along it.
void ink_line(const std::vector<StrokePoint>& line, double half, double pressure, double phase, double ink,
              std::vector<StrokeSegment>& segments) {
  const auto pen = [&](std::size_t i) {
    const double share = static_cast<double>(i) / static_cast<double>(line.size() - 1);
    return half * (1 + pressure * std::cos(phase + 3.0 * share));
  };
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    segments.push_back({line[i], line[i + 1], pen(i), pen(i + 1), ink});
  }
}

/// Draws one digit: a pixel is as dark as the darkest of the segments that cover it, each falling off softly with the
/// distance to its line.
void draw(std::uint32_t index, std::uint64_t seed, float* pixels, std::int32_t& label) {
  RandomStream random(seed, Purpose::digits, index);
  label = static_cast<std::int32_t>(uniform01(random) * 10.0);
  const auto& styles = glyphs(label);
  const Glyph& glyph = styles[static_cast<std::size_t>(uniform01(random) * static_cast<double>(styles.size()))];

  const double size = uniform(random, kSmallest, kLargest);
  const double aspect = std::exp(uniform(random, -kAspect, kAspect));
  const double width = size * aspect;
  const double height = size / aspect;
  const double slant = kSlant * bell(random);
  const double rotation = kRotation * bell(random);
  const double cosine = std::cos(rotation);
  const double sine = std::sin(rotation);
  const double centre_x = 0.5 * kDigitSide + uniform(random, -kShift, kShift);
  const double centre_y = 0.5 * kDigitSide + uniform(random, -kShift, kShift);
  std::array<double, 4> phases{};
  for (double& phase : phases) phase = uniform(random, 0, 6.283185307179586);
  const double half = uniform(random, kThinnest, kThickest);
  const double edge = uniform(random, kSharpest, kSoftest);
  const double ink = uniform(random, kPalest, 1.0);
  const double pressure = uniform(random, 0, kPressure);

  const auto to_pixels = [&](StrokePoint p) {
    const double u = p.x + kPointJitter * bell(random);
    const double v = p.y + kPointJitter * bell(random);
    const double warped_u = u + kWarp * (std::sin(5 * v + phases[0]) + std::sin(8 * u + phases[1]));
    const double warped_v = v + kWarp * (std::sin(5 * u + phases[2]) + std::sin(8 * v + phases[3]));
    const double y = (warped_v - 0.5) * height;
    const double x = (warped_u - 0.5) * width - slant * y;
    return StrokePoint{centre_x + cosine * x - sine * y, centre_y + sine * x + cosine * y};
  };

  std::vector<StrokeSegment> segments;
  for (const Stroke& stroke : glyph.strokes) {
    std::vector<StrokePoint> points;
    points.reserve(stroke.points.size());
    for (const StrokePoint& point : stroke.points) points.push_back(to_pixels(point));
    ink_line(flatten(stroke, points), half, pressure, uniform(random, 0, 6.283185307179586), ink, segments);
  }
  if (uniform01(random) < kSmudgeShare) {
    const StrokePoint start{uniform(random, 2, kDigitSide - 2), uniform(random, 2, kDigitSide - 2)};
    const double angle = uniform(random, 0, 6.283185307179586);
    const double length = uniform(random, 2, 7);
    const StrokePoint end{start.x + length * std::cos(angle), start.y + length * std::sin(angle)};
    ink_line({start, end}, 0.7 * half, 0, 0, uniform(random, 0.3, 0.9) * ink, segments);
  }

  std::array<double, kPixels> grey{};
  for (const StrokeSegment& s : segments) {
    const double reach = std::max(s.half_a, s.half_b) + edge;
    const int left = std::max(0, static_cast<int>(std::floor(std::min(s.a.x, s.b.x) - reach)));
    const int right = std::min(kDigitSide - 1, static_cast<int>(std::floor(std::max(s.a.x, s.b.x) + reach)));
    const int top = std::max(0, static_cast<int>(std::floor(std::min(s.a.y, s.b.y) - reach)));
    const int bottom = std::min(kDigitSide - 1, static_cast<int>(std::floor(std::max(s.a.y, s.b.y) + reach)));
    const double dx = s.b.x - s.a.x;
    const double dy = s.b.y - s.a.y;
    const double squared = std::max(dx * dx + dy * dy, 1e-12);
    for (int row = top; row <= bottom; ++row) {
      for (int col = left; col <= right; ++col) {
        const double px = col + 0.5 - s.a.x;
        const double py = row + 0.5 - s.a.y;
        const double t = std::clamp((px * dx + py * dy) / squared, 0.0, 1.0);
        const double ex = px - t * dx;
        const double ey = py - t * dy;
        const double distance = std::sqrt(ex * ex + ey * ey);
        const double width_here = s.half_a + t * (s.half_b - s.half_a);
        const double cover = std::clamp((width_here + edge - distance) / (2 * edge), 0.0, 1.0);
        double& pixel = grey[static_cast<std::size_t>(row) * kDigitSide + static_cast<std::size_t>(col)];
        pixel = std::max(pixel, s.ink * cover);
      }
    }
  }

  RandomStream noise(seed, Purpose::digit_noise, index);
  for (std::size_t i = 0; i < grey.size(); ++i) {
    const std::uint32_t bits = noise();
    const double triangular = (static_cast<double>(bits & 0xffffU) + static_cast<double>(bits >> 16U)) / 65535.0 - 1.0;
    // 256 levels, as in a scanned image.
    const double level = std::floor(0.5 + 255.0 * std::clamp(grey[i] + kDigitNoise * triangular, 0.0, 1.0));
    pixels[i] = static_cast<float>(level) / 255.0F;
  }
}

}  // namespace

Samples draw_digits(std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_samples(
      first, count, kDigitsShape.size(), 1,
      [&](std::uint32_t index, float* pixels, std::int32_t* label) { draw(index, seed, pixels, *label); });
}

}  // namespace dadsim::models
