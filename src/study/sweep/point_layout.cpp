#include "study/sweep/point_layout.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "models/uniform.hpp"

namespace dadsim::study {
namespace {

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

}  // namespace

std::vector<const spec::VariedPath*> varied_paths(const spec::SweepSpec& sweep) {
  std::vector<const spec::VariedPath*> paths;
  for (const spec::SweepAxis& axis : sweep.axes) {
    for (const spec::VariedPath& varied : axis) paths.push_back(&varied);
  }
  return paths;
}

PointLayout::PointLayout(spec::SweepSpec sweep) : sweep_(std::move(sweep)) {
  switch (sweep_.method) {
    case spec::SweepSpec::Method::grid:
      count_ = 1;
      for (const spec::SweepAxis& axis : sweep_.axes) count_ *= axis.front().count();
      break;
    case spec::SweepSpec::Method::list:
      count_ = sweep_.axes.front().front().count();
      break;
    case spec::SweepSpec::Method::random:
    case spec::SweepSpec::Method::latin_hypercube:
      count_ = static_cast<std::size_t>(sweep_.points);
      for (std::size_t axis = 0; axis < sweep_.axes.size(); ++axis)
        drawn_.push_back(quantiles(sweep_, static_cast<std::uint32_t>(axis)));
      break;
  }
}

PointValues PointLayout::at(std::size_t point) const {
  PointValues values;
  std::size_t later = count_;  // points of the axes that are still to come
  for (std::size_t axis = 0; axis < sweep_.axes.size(); ++axis) {
    std::size_t index = point;
    if (sweep_.method == spec::SweepSpec::Method::grid) {
      const std::size_t own = sweep_.axes[axis].front().count();
      later /= own;
      index = point / later % own;
    }
    for (const spec::VariedPath& varied : sweep_.axes[axis])
      values.push_back(sweep_.drawn() ? varied.at_quantile(drawn_[axis][point]) : varied.at(index));
  }
  return values;
}

std::vector<PointValues> all_points(const spec::SweepSpec& sweep) {
  const PointLayout layout(sweep);
  std::vector<PointValues> points;
  points.reserve(layout.count());
  for (std::size_t i = 0; i < layout.count(); ++i) points.push_back(layout.at(i));
  return points;
}

}  // namespace dadsim::study
