#include "study/results/arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "compress/registry.hpp"
#include "protocols/registry.hpp"

namespace dadsim::study {
namespace {

double best_of(const std::vector<step::Evaluation>& curve) {
  double best = 0;
  for (const step::Evaluation& at : curve) best = std::max(best, at.accuracy);
  return best;
}

}  // namespace

double seconds_at(const report::RunResult& run, std::int64_t step) {
  const auto after = std::ranges::lower_bound(run.curve, step, {}, &report::CurvePoint::step);
  const auto steps = static_cast<double>(step);
  if (after == run.curve.end()) {
    if (run.curve.empty()) return steps * run.step_seconds;
    const report::CurvePoint& last = run.curve.back();
    return last.seconds + (steps - static_cast<double>(last.step)) * run.step_seconds;
  }
  if (after->step == step) return after->seconds;
  const report::CurvePoint before = after == run.curve.begin() ? report::CurvePoint{} : *std::prev(after);
  const double share = (steps - static_cast<double>(before.step)) / static_cast<double>(after->step - before.step);
  return before.seconds + share * (after->seconds - before.seconds);
}

double seed_scatter_of(const spec::RunSpec& run, bool exact) {
  if (exact) return estimate::seed_scatter("exact");
  const methods::MethodInfo* method = protocols::find_method(run.algorithm);
  const compress::CompressorInfo* compressor = compress::compressors().find(run.compress.method);
  const bool compressed = compressor != nullptr && !compressor->lossless;
  const double scatter = std::max(estimate::seed_scatter(method == nullptr ? "unknown" : method->family),
                                  compressed ? estimate::seed_scatter(compressor->family) : 0);
  // An exact method that is not exact here learns with other weights or without some sites: that was not measured.
  return scatter > 0 ? scatter : estimate::seed_scatter("unknown");
}

void add_arrivals(const Learned& learned, std::size_t i, double target, report::RunResult& run) {
  run.arrivals = {run.arrival()};
  run.best_accuracies = {run.best_accuracy};
  run.final_accuracies = {run.final_accuracy};
  if (run.spec.event_driven) return;
  for (const std::vector<LearnedRunPtr>& seed : learned.other_seeds) {
    const std::vector<step::Evaluation>& curve = seed.at(i)->trajectory.curve;
    run.best_accuracies.push_back(best_of(curve));
    run.final_accuracies.push_back(curve.back().accuracy);
    std::optional<estimate::Arrival>& arrival = run.arrivals.emplace_back();
    if (const auto passage = estimate::passage_of(curve, target))
      arrival = {seconds_at(run, passage->after), seconds_at(run, passage->at), static_cast<double>(passage->at)};
  }
}

}  // namespace dadsim::study
