#include "study/retiming/fit_points.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace dadsim::study {
namespace {

/// Number i of the van der Corput sequence in this base, 0…1 (Halton, Numerische Mathematik 2, 1960).
double radical_inverse(std::size_t i, std::size_t base) {
  double result = 0;
  double digit = 1;
  for (; i > 0; i /= base) {
    digit /= static_cast<double>(base);
    result += digit * static_cast<double>(i % base);
  }
  return result;
}

}  // namespace

double rounded(double value) { return std::round(value * 1000) / 1000; }

Point halton(std::size_t i, std::size_t knobs, double reach) {
  constexpr std::array<std::size_t, 4> kBases{2, 3, 5, 7};
  Point point(knobs);
  for (std::size_t k = 0; k < knobs; ++k) point[k] = rounded(reach * (2 * radical_inverse(i, kBases.at(k)) - 1));
  return point;
}

std::vector<Point> skeleton(std::size_t knobs, double reach) {
  std::vector<Point> points{Point(knobs, 0.0)};
  for (std::size_t corner = 0; corner < (std::size_t{1} << knobs); ++corner) {
    Point point(knobs);
    for (std::size_t k = 0; k < knobs; ++k) point[k] = (corner >> k & 1) != 0 ? reach : -reach;
    points.push_back(std::move(point));
  }
  for (std::size_t k = 0; knobs > 1 && k < knobs; ++k) {
    for (const double end : {-reach, reach}) {
      Point point(knobs, 0.0);
      point[k] = end;
      points.push_back(std::move(point));
    }
  }
  return points;
}

std::vector<MetricMatrix> metrics_of(const std::vector<report::Retiming::Knob>& knobs) {
  constexpr std::array kShortened{1.0, 0.3, 0.1};
  const std::size_t size = knobs.size();
  std::vector<double> slower;  // a unit vector
  for (const report::Retiming::Knob& knob : knobs)
    slower.push_back((knob.what == report::Retiming::Knob::What::latency ? 1 : -1) /
                     std::sqrt(static_cast<double>(size)));
  std::vector<MetricMatrix> metrics;
  for (const double along : kShortened) {
    for (const double computing : kShortened) {
      MetricMatrix metric(size, std::vector<double>(size));
      for (std::size_t i = 0; i < size; ++i) {
        const double scale = knobs[i].what == report::Retiming::Knob::What::speed ? computing : 1;
        for (std::size_t k = 0; k < size; ++k)
          metric[i][k] = scale * ((i == k ? 1 : 0) - (1 - along) * slower[i] * slower[k]);
      }
      metrics.push_back(std::move(metric));
      if (size == 1) return metrics;
    }
  }
  return metrics;
}

}  // namespace dadsim::study
