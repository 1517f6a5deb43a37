#include "study/sweep/lay_out.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "models/uniform.hpp"

namespace dadsim::study {
namespace {

void append(PointValues& values, const spec::SweepAxis& axis, std::size_t index) {
  for (const spec::VariedPath& varied : axis) values.push_back(varied.at(index));
}

std::vector<PointValues> grid(const spec::SweepSpec& sweep) {
  std::vector<PointValues> points{{}};
  for (const spec::SweepAxis& axis : sweep.axes) {
    std::vector<PointValues> longer;
    longer.reserve(points.size() * axis.front().count());
    for (const PointValues& point : points) {
      for (std::size_t i = 0; i < axis.front().count(); ++i) {
        longer.push_back(point);
        append(longer.back(), axis, i);
      }
    }
    points = std::move(longer);
  }
  return points;
}

std::vector<PointValues> list(const spec::SweepSpec& sweep) {
  std::vector<PointValues> points(sweep.axes.front().front().count());
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const spec::SweepAxis& axis : sweep.axes) append(points[i], axis, i);
  }
  return points;
}

/// One axis of drawn points: a number in (0, 1) for each.
std::vector<double> quantiles(const spec::SweepSpec& sweep, std::uint32_t axis) {
  RandomStream random(sweep.seed, Purpose::sweep_points, axis);
  std::vector<double> drawn(static_cast<std::size_t>(sweep.points));
  if (sweep.method == spec::SweepSpec::Method::random) {
    std::ranges::generate(drawn, [&] { return models::uniform01(random); });
    return drawn;
  }
  // Each of as many equal parts as there are points has one, in an order of its own.
  std::iota(drawn.begin(), drawn.end(), 0.0);
  models::shuffle(std::span(drawn), random);
  for (double& part : drawn) part = (part + models::uniform01(random)) / static_cast<double>(drawn.size());
  return drawn;
}

std::vector<PointValues> draw(const spec::SweepSpec& sweep) {
  std::vector<PointValues> points(static_cast<std::size_t>(sweep.points));
  for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
    const std::vector<double> drawn = quantiles(sweep, static_cast<std::uint32_t>(axis));
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (const spec::VariedPath& varied : sweep.axes[axis]) points[i].push_back(varied.at_quantile(drawn[i]));
    }
  }
  return points;
}

}  // namespace

std::vector<const spec::VariedPath*> varied_paths(const spec::SweepSpec& sweep) {
  std::vector<const spec::VariedPath*> paths;
  for (const spec::SweepAxis& axis : sweep.axes) {
    for (const spec::VariedPath& varied : axis) paths.push_back(&varied);
  }
  return paths;
}

std::vector<PointValues> lay_out(const spec::SweepSpec& sweep) {
  switch (sweep.method) {
    case spec::SweepSpec::Method::grid:
      return grid(sweep);
    case spec::SweepSpec::Method::list:
      return list(sweep);
    case spec::SweepSpec::Method::random:
    case spec::SweepSpec::Method::latin_hypercube:
      return draw(sweep);
  }
  return {};
}

}  // namespace dadsim::study
