#include "estimate/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "estimate/seed_scatter.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::estimate {
namespace {

double sum(const std::vector<Arrival>& arrivals, double Arrival::*of) {
  double total = 0;
  for (const Arrival& arrival : arrivals) total += arrival.*of;
  return total;
}

std::vector<double> ends(const std::vector<Arrival>& arrivals) {
  std::vector<double> values;
  for (const Arrival& arrival : arrivals) values.push_back(arrival.at);
  return values;
}

/// Returns the distance of the logarithms of `value` and `end`; 0 for values not above 0.
double reach(double value, double end) { return value > 0 ? std::abs(std::log(end / value)) : 0; }

}  // namespace

double seed_scatter(std::string_view kind) {
  static const auto kScatter = [] {
    const FactTable table(tables::kSeedScatter, {"kind", "scatter", "here", "least", "most", "date", "source"});
    std::map<std::string, double, std::less<>> scatter;
    for (const FactTable::Row& row : table.rows()) scatter[row.text("kind")] = row.number("scatter");
    return scatter;
  }();
  const auto found = kScatter.find(kind);
  return found == kScatter.end() ? kScatter.at("unknown") : found->second;
}

Estimate times_as_long(const std::vector<Arrival>& run, const std::vector<Arrival>& of, bool learn_the_same,
                       double scatter) {
  Estimate ratio = ratio_of_means(ends(run), ends(of));
  if (learn_the_same) return ratio;
  const double least = sum(run, &Arrival::after) / sum(of, &Arrival::at);
  const double earliest = sum(of, &Arrival::after);
  const bool bounded = earliest > 0;
  const double most = bounded ? sum(run, &Arrival::at) / earliest : 0;
  if (run.size() == 1) {
    const double chance = chance_of(scatter);
    ratio.low = least > 0 ? ratio.value * std::exp(-std::hypot(reach(ratio.value, least), chance)) : 0;
    if (bounded) ratio.high = ratio.value * std::exp(std::hypot(reach(ratio.value, most), chance));
    return ratio;
  }
  ratio.low = std::min(ratio.low.value_or(0), least);  // if seeds scatter without bounds, the ratio is unbounded
  if (ratio.high && bounded) ratio.high = std::max(*ratio.high, most);
  if (!bounded) ratio.high.reset();
  return ratio;
}

}  // namespace dadsim::estimate
