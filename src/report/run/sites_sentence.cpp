#include "report/run/sites_sentence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/human.hpp"

namespace dadsim::report {

std::string sites_sentence(const RunResult& run) {
  if (run.curve.empty() || !run.curve.back().sites) return "";
  const step::SitesEvaluation& last = *run.curve.back().sites;
  const auto distance = [](const CurvePoint& point) { return point.sites ? point.sites->consensus_distance : 0.0; };
  const auto furthest = std::ranges::max_element(run.curve, {}, distance);
  const auto [worst, best] = std::ranges::minmax(last.accuracies);
  return fmt::format(
      "{}: the average of the sites' weights classifies {} right, the sites themselves {} to {}; their mean squared "
      "distance from it is {:.3g}, and was {:.3g} at most (after {} steps).",
      run.spec.label, human_percent(last.average_accuracy), human_percent(worst), human_percent(best),
      last.consensus_distance, distance(*furthest), furthest->step);
}

}  // namespace dadsim::report
