#include "report/run/divergence.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dadsim::report {

std::optional<Divergence> divergence_of(const std::vector<CurvePoint>& curve) {
  constexpr double kFar = 10;
  if (curve.empty()) return std::nullopt;
  const double before = curve.front().loss;
  const double after = curve.back().loss;
  if (std::isfinite(after)) {
    if (curve.size() < 2 || !(after > kFar * before)) return std::nullopt;
    return Divergence{curve.back().step, before, after};
  }
  // Training diverged after the last finite loss; earlier gaps do not count.
  auto first = std::prev(curve.end());
  while (first != curve.begin() && !std::isfinite(std::prev(first)->loss)) --first;
  return Divergence{first->step, before, after};
}

bool ends_at_chance(const RunResult& run, const Guess& guess) {
  constexpr double kDeviations = 2;
  constexpr double kAsMuch = 0.95;
  return !run.divergence && run.steps > 0 && run.curve.size() > 1 && run.curve.back().loss > kAsMuch * guess.loss &&
         run.final_accuracy <= guess.chance + kDeviations * guess.deviation;
}

std::vector<Statement> spoilt_accuracies(const Result& result) {
  Statement diverged{"diverged"}, at_chance{"at-chance"};
  for (const RunResult& run : result.runs) {
    if (run.divergence) diverged.subjects.push_back(run.spec.label);
    if (std::ranges::find(run.notes, at_chance.kind, &Statement::kind) != run.notes.end())
      at_chance.subjects.push_back(run.spec.label);
  }
  std::vector<Statement> spoilt;
  for (Statement* statement : {&diverged, &at_chance}) {
    if (!statement->subjects.empty()) spoilt.push_back(std::move(*statement));
  }
  return spoilt;
}

}  // namespace dadsim::report
