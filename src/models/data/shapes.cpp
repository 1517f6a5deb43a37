#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "models/data/draw.hpp"
#include "models/data/generated.hpp"

namespace dadsim::models {
namespace {

constexpr int kShapesSide = 32;
constexpr int kSubsamples = 3;  // subsamples per pixel and direction, for soft edges

// Variation of the samples (pixels, radians, shares of full intensity).
constexpr double kSmallestShape = 7.0;  // half extent of the shape
constexpr double kLargestShape = 12.0;
constexpr double kShapeShift = 4.0;
constexpr double kShapeAspect = 0.18;    // half range of log(width ÷ height)
constexpr double kTurn = 0.6;            // half range of the rotation
constexpr double kLeastContrast = 0.15;  // difference in brightness: the shape is brighter than the ground
constexpr double kGradient = 0.25;       // half range of the change of the ground from edge to edge
constexpr double kStripes = 0.10;        // amplitude of the stripes of shape and ground
constexpr double kShapesNoise = 0.12;    // half range of the triangular noise of a value
constexpr std::int64_t kMostSpots = 3;   // disks that distract from the shape
constexpr double kSmallestSpot = 1.2;
constexpr double kLargestSpot = 2.6;

using Colour = std::array<double, 3>;

double squared(double x) { return x * x; }

double brightness(const Colour& colour) { return (colour[0] + colour[1] + colour[2]) / 3; }

/// Returns whether a point lies in a five-pointed star with tips at distance 1.
bool in_star(double u, double v) {
  constexpr double kFifth = 2 * std::numbers::pi / 5;
  constexpr double kInner = 0.45;
  const double angle = std::atan2(v, u) + 2 * std::numbers::pi;
  // kFifth / 2 at a tip, 0 half-way between two tips.
  const double from_tip = std::abs(std::fmod(angle, kFifth) - kFifth / 2);
  const double r = std::hypot(u, v);
  const double x = r * std::cos(kFifth / 2 - from_tip);
  const double y = r * std::sin(kFifth / 2 - from_tip);
  const double inner_x = kInner * std::cos(kFifth / 2);
  const double inner_y = kInner * std::sin(kFifth / 2);
  return (inner_x - 1) * y - inner_y * (x - 1) > 0;
}

/// Returns whether a point lies in the shape, whose extent is about −1 … 1 in each direction.
bool inside(std::int32_t shape, double u, double v) {
  if (std::abs(u) > 1 || std::abs(v) > 1) return false;
  const double r = std::hypot(u, v);
  switch (shape) {
    case 0:  // disk
      return r < 0.9;
    case 1:  // ring
      return r > 0.5 && r < 0.95;
    case 2:  // triangle
      return v < 0.5 && 0.866 * u - 0.5 * v < 0.5 && -0.866 * u - 0.5 * v < 0.5;
    case 3:  // square
      return std::abs(u) < 0.75 && std::abs(v) < 0.75;
    case 4:
      return in_star(u, v);
    case 5:  // cross
      return (std::abs(u) < 0.28 && std::abs(v) < 0.9) || (std::abs(v) < 0.28 && std::abs(u) < 0.9);
    case 6:  // crescent
      return r < 0.95 && std::hypot(u - 0.45, v) > 0.7;
    case 7:  // half disk
      return v > -0.4 && std::hypot(u, v + 0.4) < 1.0;
    case 8:  // L
      return (std::abs(u + 0.35) < 0.25 && std::abs(v) < 0.95) || (std::abs(v - 0.7) < 0.25 && u > -0.6 && u < 0.55);
    default:  // chevron
      return std::abs(u) < 0.85 && std::abs(v + 0.6 - 1.5 * std::abs(u)) < 0.4;
  }
}

struct ShapeSpot {
  double x, y, radius;
  Colour colour;
};

void draw_shape(std::uint32_t index, std::uint64_t seed, float* pixels, std::int32_t& label) {
  RandomStream random(seed, Purpose::shapes, index);
  const auto any_colour = [&] { return Colour{uniform01(random), uniform01(random), uniform01(random)}; };
  label = pick(random, kShapesClasses);
  Colour ground = any_colour();
  Colour ink = any_colour();
  while (std::abs(brightness(ink) - brightness(ground)) < kLeastContrast) ink = any_colour();
  if (brightness(ink) < brightness(ground)) std::swap(ink, ground);
  Colour gradient{};
  for (double& change : gradient) change = uniform(random, -kGradient, kGradient);
  const double gradient_angle = uniform(random, 0, 2 * std::numbers::pi);
  const double stripe_angle = uniform(random, 0, 2 * std::numbers::pi);
  const double stripe_wave = uniform(random, 0.3, 1.2);  // wave number of the stripes, radians per pixel
  const double stripes = uniform(random, 0, kStripes);

  const double size = uniform(random, kSmallestShape, kLargestShape);
  const double aspect = std::exp(uniform(random, -kShapeAspect, kShapeAspect));
  const double angle = uniform(random, -kTurn, kTurn);
  const double cosine = std::cos(angle);
  const double sine = std::sin(angle);
  const double centre_x = 0.5 * kShapesSide + uniform(random, -kShapeShift, kShapeShift);
  const double centre_y = 0.5 * kShapesSide + uniform(random, -kShapeShift, kShapeShift);

  std::array<ShapeSpot, kMostSpots> spots{};
  const auto count = static_cast<std::size_t>(pick(random, kMostSpots + 1));
  for (std::size_t i = 0; i < count; ++i) {
    spots[i] = {uniform(random, 0, kShapesSide), uniform(random, 0, kShapesSide),
                uniform(random, kSmallestSpot, kLargestSpot), any_colour()};
  }

  for (int row = 0; row < kShapesSide; ++row) {
    for (int column = 0; column < kShapesSide; ++column) {
      int covered = 0;
      for (int k = 0; k < kSubsamples * kSubsamples; ++k) {
        const int across = k % kSubsamples;
        const int down = k / kSubsamples;
        const double x = column + (across + 0.5) / kSubsamples - centre_x;
        const double y = row + (down + 0.5) / kSubsamples - centre_y;
        covered += inside(label, (cosine * x + sine * y) / (size * aspect), (cosine * y - sine * x) * aspect / size);
      }
      const double cover = static_cast<double>(covered) / (kSubsamples * kSubsamples);
      const double x = (column + 0.5) / kShapesSide - 0.5;
      const double y = (row + 0.5) / kShapesSide - 0.5;
      const double value_gradient = x * std::cos(gradient_angle) + y * std::sin(gradient_angle);
      const double stripe =
          stripes * std::sin(stripe_wave * kShapesSide * (x * std::cos(stripe_angle) + y * std::sin(stripe_angle)));
      Colour colour{};
      for (std::size_t c = 0; c < 3; ++c) {
        colour[c] = cover * (ink[c] - stripe) + (1 - cover) * (ground[c] + gradient[c] * value_gradient + stripe);
      }
      for (std::size_t i = 0; i < count; ++i) {
        if (squared(column + 0.5 - spots[i].x) + squared(row + 0.5 - spots[i].y) < squared(spots[i].radius)) {
          colour = spots[i].colour;
        }
      }
      for (std::size_t c = 0; c < 3; ++c) {
        const double noise = kShapesNoise * (uniform01(random) + uniform01(random) - 1);
        // 256 levels, as in a stored image.
        *pixels++ = static_cast<float>(std::floor(0.5 + 255.0 * std::clamp(colour[c] + noise, 0.0, 1.0))) / 255.0F;
      }
    }
  }
}

}  // namespace

Samples draw_shapes(std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_samples(
      first, count, kShapesShape.size(), 1,
      [&](std::uint32_t index, float* pixels, std::int32_t* label) { draw_shape(index, seed, pixels, *label); });
}

}  // namespace dadsim::models
