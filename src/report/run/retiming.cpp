#include "report/run/retiming.hpp"

#include <cmath>
#include <numeric>

#include "report/text/json_values.hpp"

namespace dadsim::report {
namespace {

const char* word_of(Retiming::Knob::KnobKind what) {
  switch (what) {
    case Retiming::Knob::KnobKind::bandwidth:
      return "bandwidth";
    case Retiming::Knob::KnobKind::latency:
      return "latency";
    case Retiming::Knob::KnobKind::speed:
      return "speed";
  }
  return "";
}

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

std::string to_json(const Retiming& retiming) {
  // Ten digits of a weight are enough: they change a time by less than a part in a million.
  const auto rounded = [](double value, int digits) {
    if (value == 0) return 0.0;
    const double unit = std::pow(10, digits - 1 - std::floor(std::log10(std::abs(value))));
    return std::round(value * unit) / unit;
  };
  Json json;
  json["reach"] = retiming.reach;
  json["held_out"] = retiming.held_out;
  json["why_not"] = in_json(retiming.why_not);
  json["kinds"] = retiming.kinds;
  json["knobs"] = Json::array();
  for (const Retiming::Knob& knob : retiming.knobs) {
    json["knobs"].push_back(
        {{"what", word_of(knob.what)}, {"name", knob.name}, {"least", knob.least}, {"most", knob.most}});
  }
  json["points"] = Json::array();
  for (const std::vector<double>& point : retiming.points) json["points"].push_back(point);
  json["runs"] = Json::array();
  for (const Retiming::Run& run : retiming.runs) {
    Json weights = Json::array();
    for (const double weight : run.weights) weights.push_back(rounded(weight, 10));
    json["runs"].push_back({{"run", run.run},
                            {"worst_error", number(run.worst_error)},
                            {"median_error", number(run.median_error)},
                            {"metric", run.metric},
                            {"weights", std::move(weights)},
                            {"shares", run.shares}});
  }
  return one_line(json);
}

}  // namespace dadsim::report
