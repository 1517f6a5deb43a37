#include "report/run/retiming.hpp"

#include <cmath>
#include <numeric>

namespace dadsim::report {
namespace {

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

}  // namespace

std::vector<double> stretched(const std::vector<std::vector<double>>& metric, const std::vector<double>& x) {
  std::vector<double> result;
  for (const std::vector<double>& row : metric)
    result.push_back(std::inner_product(row.begin(), row.end(), x.begin(), 0.0));
  return result;
}

double factor_at(const Retiming& retiming, std::size_t run, const std::vector<double>& at) {
  const Retiming::Run& fitted = retiming.runs.at(run);
  const std::vector<double>& weights = fitted.weights;
  const std::vector<double> place = stretched(fitted.metric, at);
  const std::size_t points = retiming.points.size();
  double log = weights.at(points);
  for (std::size_t k = 0; k < at.size(); ++k) log += weights.at(points + 1 + k) * at[k];
  for (std::size_t i = 0; i < points; ++i) {
    const double square = squared_distance(place, stretched(fitted.metric, retiming.points[i]));
    log += weights[i] * square * std::sqrt(square);
  }
  return std::exp(log);
}

}  // namespace dadsim::report
