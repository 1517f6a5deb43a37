#include "study/layout/rank_trials.hpp"

#include <algorithm>
#include <limits>

#include "estimate/bands.hpp"

namespace dadsim::study {
namespace {

bool is_tied(const report::LayoutTrial& best, const report::LayoutTrial& other) {
  const auto& a = other.simulated->step_band;
  const auto& b = best.simulated->step_band;
  if (!a || !b) return false;
  // Of two by flow the slower one may be less slow, or the quicker one slower, than that has them.
  const double doubt = std::max(report::doubt_of(*other.simulated), report::doubt_of(*best.simulated));
  const double ratio = other.simulated->step_seconds / best.simulated->step_seconds * (1 - doubt);
  return ratio * estimate::ratio_band(a->parts, b->parts).low <= 1;
}

}  // namespace

report::StepParts parts_of(const report::RunResult& run, const report::StepParts& estimate) {
  report::StepParts parts;
  parts.computing = std::min(run.compute_seconds, run.step_seconds);
  const double rest = run.step_seconds - parts.computing;
  const double known = estimate.tensor + estimate.bubble + estimate.exchange;
  if (!(known > 0)) {
    parts.exchange = rest;
    return parts;
  }
  parts.tensor = rest * estimate.tensor / known;
  parts.bubble = rest * estimate.bubble / known;
  parts.exchange = rest * estimate.exchange / known;
  return parts;
}

void rank_trials(report::LayoutReport& report) {
  std::vector<report::LayoutTrial>& trials = report.trials;
  std::ranges::stable_sort(trials, {}, [](const report::LayoutTrial& one) { return one.simulated->step_seconds; });
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].bytes >= least) continue;
    least = trials[i].bytes;
    report.front.push_back(i);
  }
  while (report.tied < trials.size() && is_tied(trials.front(), trials[report.tied])) ++report.tied;
}

}  // namespace dadsim::study
